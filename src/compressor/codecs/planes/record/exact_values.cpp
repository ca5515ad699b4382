#include "compressor/codecs/planes/record/record.hpp"

#include "compressor/codecs/planes/record/exact_sum.hpp"
#include "compressor/codecs/planes/record/run_edges.hpp"

namespace taut::planes {
namespace {

// Rounded sum of the exact values at a range of positions.
template <class T>
struct Total {
  T alone{};                 // if the integers add nothing
  T settled{};               // if the integers add a rest too small to change the rounded sum
  std::int64_t settles = 0;  // greatest |rest| that is too small
};

// Returns half the distance to the next smaller magnitude. Any number below it can be added to x without
// changing the rounded result.
template <class T>
double half_spacing(T x) noexcept {
  const double magnitude = std::abs(static_cast<double>(x));
  if (magnitude == 0) return 0;
  const T below =
      std::bit_cast<T>(static_cast<BitsOf<T>>(std::bit_cast<BitsOf<T>>(static_cast<T>(magnitude)) - 1));
  return (magnitude - static_cast<double>(below)) / 2;
}

// Returns the greatest |rest| for which |rest| * step < distance is certain.
inline std::int64_t rests_within(double distance, double step) noexcept {
  if (!(distance > 0)) return 0;
  return static_cast<std::int64_t>(std::min(distance * (1 - 0x1p-40) / step, double{0x1p62}));
}

template <class T>
Total<T> total_of_one(T value, double step) noexcept {
  const double x = static_cast<double>(value);
  if (std::isfinite(x)) return {value, value, rests_within(half_spacing(value), step)};
  const T special = std::isnan(x) ? static_cast<T>(std::numeric_limits<double>::quiet_NaN()) : value;
  return {value, special, std::numeric_limits<std::int64_t>::max()};
}

template <class T>
Total<T> total_of(const RunCursor<T>& places, double step) noexcept {
  ExactSum sum;
  sum.add(0);
  bool special = false, huge = false;
  places.each_value([&](T value) {
    const double x = static_cast<double>(value);
    special |= !std::isfinite(x);
    huge |= std::abs(x) >= 0x1p900;
    sum.add(x);
  });
  const T all = sum.rounded<T>();
  if (special) return {all, all, std::numeric_limits<std::int64_t>::max()};
  if (huge || !std::isfinite(static_cast<double>(all))) return {all, all, 0};
  sum.add(-static_cast<double>(all));
  const double away = std::abs(sum.rounded<double>()) * (1 + 0x1p-50);
  return {all, all, rests_within(half_spacing(all) - away, step)};
}

// Computes totals and caches the last one: a fill value is the same everywhere.
template <class T>
class Totals {
 public:
  explicit Totals(double step) noexcept : step_(step) {}

  const Total<T>& of(const RunCursor<T>& places) noexcept {
    bool same = true;
    T value{};
    std::size_t seen = 0;
    places.each_value([&](T x) { same &= seen++ == 0 || same_bits(x, value), value = x; });
    if (same && seen == count_ && same_bits(value, value_)) return total_;
    total_ = seen == 1 ? total_of_one(value, step_) : total_of(places, step_);
    count_ = same ? seen : 0;
    value_ = value;
    return total_;
  }

 private:
  double step_;
  T value_{};
  std::size_t count_ = 0;
  Total<T> total_;
};

template <class T, class Int>
class Places {
 public:
  Places(const Record<T>& record, const Int* q, double step, const GeneralKernels& kernels,
         T* values) noexcept
      : record_(record), q_(q), step_(step), kernels_(kernels), values_(values), totals_(step) {}

  void put(const RunCursor<T>& places) {
    if (record_.layer_count == 0 && (put_integers(places) || put_settled(places))) return;
    for (std::size_t first = places.from(); first < places.to(); first += CompensatedSums::places)
      put_sums(places, first, std::min(CompensatedSums::places, places.to() - first));
  }

 private:
  std::int64_t rest(const RunCursor<T>& places, std::size_t i) const noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(std::int64_t{q_[i]}) -
                                     static_cast<std::uint64_t>(places.holds()));
  }

  // Returns false if there are exact values.
  bool put_integers(const RunCursor<T>& places) noexcept {
    if (places.exact() > 0) return false;
    for (std::size_t i = places.from(); i < places.to(); ++i)
      values_[i] = dequantise<T>(rest(places, i), step_);
    return true;
  }

  // Returns false if the integers may change the sums.
  bool put_settled(const RunCursor<T>& places) noexcept {
    const Total<T>& total = totals_.of(places);
    Int least = q_[places.from()], greatest = least;
    for (std::size_t i = places.from(); i < places.to(); ++i) {
      least = std::min(least, q_[i]);
      greatest = std::max(greatest, q_[i]);
    }
    std::int64_t low, high;
    if (__builtin_sub_overflow(std::int64_t{least}, places.holds(), &low) ||
        __builtin_sub_overflow(std::int64_t{greatest}, places.holds(), &high) || low < -total.settles ||
        high > total.settles)
      return false;
    const bool plain = (low == 0 && high == 0) || same_bits(total.alone, total.settled);
    if (plain) {
      fill(values_ + places.from(), places.to() - places.from(), total.alone);
    } else {
      for (std::size_t i = places.from(); i < places.to(); ++i)
        values_[i] = rest(places, i) == 0 ? total.alone : total.settled;
    }
    return true;
  }

  // Reads layer k at the positions [first, first + n). Exact values go to `exact`. Values that count as
  // integers are added to `rests`, with zeros in `exact`.
  void take_layer(std::size_t k, std::size_t first, std::size_t n, T* exact, std::int64_t* rests,
                  std::size_t* exact_values) const noexcept {
    std::memcpy(exact, layer_values(k, first), n * sizeof(T));
    for (std::size_t i = 0; i < n; ++i) {
      std::int64_t q = 0;
      const bool is_integer = on_grid(exact[i], step_, q);
      rests[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(rests[i]) +
                                           (is_integer ? static_cast<std::uint64_t>(q) : 0));
      exact_values[i] += !is_integer;
      if (is_integer) exact[i] = T{};
    }
  }

  // Sums the positions [first, first + n), at most CompensatedSums::places.
  void put_sums(const RunCursor<T>& places, std::size_t first, std::size_t n) noexcept {
    const std::size_t padded = blocks_of(n) * block_values;
    T exact[CompensatedSums::places] = {}, last[CompensatedSums::places] = {}, sums[CompensatedSums::places];
    std::int64_t rests[CompensatedSums::places], unused[CompensatedSums::places] = {};
    std::size_t exact_values[CompensatedSums::places];
    for (std::size_t i = 0; i < n; ++i) rests[i] = rest(places, first + i);
    std::fill_n(exact_values, n, places.exact());
    for (std::size_t k = 0; k < record_.layer_count; ++k) take_layer(k, first, n, exact, rests, exact_values);

    double multiples[CompensatedSums::places] = {};
    std::copy_n(rests, n, multiples);
    CompensatedSums compensated;
    const auto add = [&] { kernels_.of<T>().add_compensated(compensated, exact, padded); };
    kernels_.multiply(compensated, multiples, step_, padded);
    places.each_value([&](T value) {
      fill(exact, n, value);
      fill(last, n, value);
      add();
    });
    for (std::size_t k = 0; k < record_.layer_count; ++k) {
      std::size_t before[CompensatedSums::places] = {};
      take_layer(k, first, n, exact, unused, before);
      for (std::size_t i = 0; i < n; ++i) last[i] = before[i] > 0 ? exact[i] : last[i];
      add();
    }
    const bool all_certain = kernels_.of<T>().round(compensated, padded, sums);
    for (std::size_t i = 0; i < n; ++i) {
      if (exact_values[i] == 0) {
        sums[i] = dequantise<T>(rests[i], step_);
      } else if (exact_values[i] == 1 && rests[i] == 0) {
        sums[i] = last[i];  // one exact value and nothing else: unchanged bit for bit
      } else if (!all_certain && compensated.certain[i] == 0) {
        sums[i] = slow_sum(places, first + i, rests[i]);
      }
    }
    std::copy_n(sums, n, values_ + first);
  }

  T slow_sum(const RunCursor<T>& places, std::size_t i, std::int64_t integer) const noexcept {
    ExactSum sum;
    sum.add_product(static_cast<double>(integer), step_);
    places.each_value([&](T value) { sum.add(static_cast<double>(value)); });
    for (std::size_t k = 0; k < record_.layer_count; ++k) {
      const T value = load<T>(layer_values(k, i));
      std::int64_t q;
      if (!on_grid(value, step_, q)) sum.add(static_cast<double>(value));
    }
    return sum.rounded<T>();
  }

  const std::byte* layer_values(std::size_t layer, std::size_t first) const noexcept {
    return record_.layers + (layer * record_.count + first) * sizeof(T);
  }

  const Record<T>& record_;
  const Int* q_;
  double step_;
  const GeneralKernels& kernels_;
  T* values_;
  Totals<T> totals_;
};

// Returns true if every covered integer that starts no run equals the integer before.
template <class Int>
bool repeats_inside(const Int* q, std::size_t count, const Marks& covered, const Marks& starts,
                    const GeneralKernels& kernels) noexcept {
  Marks repeats;
  if constexpr (sizeof(Int) == 8) {
    kernels.mark_wide_repeats(q, count, repeats);
  } else {
    kernels.mark_narrow_repeats(q, count, repeats);
  }
  std::uint64_t moving = 0;
  for (std::size_t w = 0; w < std::size(covered.of); ++w)
    moving |= covered.of[w] & ~starts.of[w] & ~repeats.of[w];
  return moving == 0;
}

// Handles the common case: one fill value, in runs that do not overlap, at whose positions the integers
// repeat the hold and add nothing. Returns false and changes nothing in any other case.
template <class T, class Int>
bool put_fill_value(const Record<T>& record, const Int* q, double step, const GeneralKernels& kernels,
                    T* values) {
  const Runs<T> runs = record.run_list();
  if (record.layer_count > 0 || runs.size() == 0) return false;
  const T value = runs[0].value;
  std::int64_t integer;
  if (on_grid(value, step, integer)) return false;
  Marks covered = {}, starts = {};
  std::size_t depth = 1, end = 0;
  while (depth < runs.size() && runs[depth].place == runs[0].place) ++depth;
  bool plain = runs.size() % depth == 0;
  for (std::size_t i = 0; plain && i < runs.size(); i += depth) {
    const Run<T> run = runs[i];
    std::uint64_t holds = static_cast<std::uint64_t>(run.hold);
    plain &= same_bits(run.value, value) && run.start() >= end;
    for (std::size_t k = 1; k < depth; ++k) {
      const Run<T> other = runs[i + k];
      plain &= same_bits(other.value, value) && other.place == run.place;
      holds += static_cast<std::uint64_t>(other.hold);
    }
    end = run.end();
    plain &= static_cast<std::uint64_t>(std::int64_t{q[run.start()]}) == holds;
    starts.of[run.start() / 64] |= std::uint64_t{1} << (run.start() % 64);
    covered.of[run.start() / 64] ^= std::uint64_t{1} << (run.start() % 64);
    if (end < chunk_values) covered.of[end / 64] ^= std::uint64_t{1} << (end % 64);
  }
  if (!plain) return false;

  std::uint64_t inside = 0, continued = 0;  // inside: all ones if a run continues from the word before
  for (std::size_t w = 0; w < std::size(covered.of); ++w) {
    std::uint64_t bits = covered.of[w];  // each bit: parity of the number of run boundaries up to it
    for (unsigned by = 1; bits != 0 && by < 64; by *= 2) bits ^= bits << by;
    covered.of[w] = bits ^= inside;
    inside = ~((bits >> 63) - 1);
    continued |= bits & ~starts.of[w];
  }
  if (continued != 0 && !repeats_inside(q, record.count, covered, starts, kernels)) return false;
  T fill = value;
  if (depth > 1) {
    RunCursor<T> first(runs, record.count, step);
    while (first.next() && first.exact() == 0) {
    }
    fill = total_of(first, step).alone;
  }
  kernels.of<T>().put(values, record.count, covered, fill);
  return true;
}

}  // namespace

template <class T, class Int>
void put_exact_values(const Record<T>& record, const Int* q, double step, const GeneralKernels& kernels,
                      T* values) {
  if (put_fill_value(record, q, step, kernels, values)) return;
  if (overlap_much(record)) return put_by_edges(record, q, step, values);
  Places<T, Int> places(record, q, step, kernels, values);
  for (RunCursor<T> sweep(record.run_list(), record.count, step); sweep.next();)
    if (sweep.covered() || record.layer_count > 0) places.put(sweep);
}

#define INSTANTIATE(T)                                                                                      \
  template void put_exact_values(const Record<T>&, const std::int32_t*, double, const GeneralKernels&, T*); \
  template void put_exact_values(const Record<T>&, const std::int64_t*, double, const GeneralKernels&, T*);
TAUT_PLANES_TYPES(INSTANTIATE)

}  // namespace taut::planes
