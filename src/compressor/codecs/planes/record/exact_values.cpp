// Exact values of a record, added to its decoded integers.
#include "compressor/codecs/planes/record/record.hpp"

#include "compressor/codecs/planes/record/exact_sum.hpp"
#include "compressor/codecs/planes/record/run_edges.hpp"

namespace taut::planes {
namespace {

// Rounded sum of the exact values at a range of positions, to which each position adds a rest: its integer
// less the holds, in steps.
template <class T>
struct RangeSum {
  T without_rest{};                 // the sum where the rest is 0
  T with_small_rest{};              // the sum where |rest| is at most max_small_rest steps
  std::int64_t max_small_rest = 0;  // in steps: too small to change the rounded sum
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

// Returns the greatest number of steps that is certain to be shorter than `distance`.
inline std::int64_t max_rest_within(double distance, double step) noexcept {
  if (!(distance > 0)) return 0;
  return static_cast<std::int64_t>(std::min(distance * (1 - 0x1p-40) / step, double{0x1p62}));
}

// Returns the sum of a single exact value, which stays the same bit for bit where the rest is 0.
template <class T>
RangeSum<T> sum_of_one_value(T value, double step) noexcept {
  const double x = static_cast<double>(value);
  if (std::isfinite(x)) return {value, value, max_rest_within(half_spacing(value), step)};
  const T special = std::isnan(x) ? static_cast<T>(std::numeric_limits<double>::quiet_NaN()) : value;
  return {value, special, std::numeric_limits<std::int64_t>::max()};
}

// Returns the sum of the exact values of a range. `error`: distance of the rounded sum from the exact one,
// rounded up. A rest must be smaller than what is left of half the spacing.
template <class T>
RangeSum<T> sum_of_values(const RunCursor<T>& range, double step) noexcept {
  ExactSum sum;
  sum.add(0);
  bool special = false, huge = false;
  range.each_value([&](T value) {
    const double x = static_cast<double>(value);
    special |= !std::isfinite(x);
    huge |= std::abs(x) >= 0x1p900;
    sum.add(x);
  });
  const T all = sum.rounded<T>();
  if (special) return {all, all, std::numeric_limits<std::int64_t>::max()};
  if (huge || !std::isfinite(static_cast<double>(all))) return {all, all, 0};
  sum.add(-static_cast<double>(all));
  const double error = std::abs(sum.rounded<double>()) * (1 + 0x1p-50);
  return {all, all, max_rest_within(half_spacing(all) - error, step)};
}

// Computes sums and caches the last one, because the same fill value often stands in many ranges.
template <class T>
class RangeSumCache {
 public:
  explicit RangeSumCache(double step) noexcept : step_(step) {}

  const RangeSum<T>& sum_of(const RunCursor<T>& range) noexcept {
    bool same = true;
    T value{};
    std::size_t seen = 0;
    range.each_value([&](T x) { same &= seen++ == 0 || same_bits(x, value), value = x; });
    if (same && seen == count_ && same_bits(value, value_)) return sum_;
    sum_ = seen == 1 ? sum_of_one_value(value, step_) : sum_of_values(range, step_);
    count_ = same ? seen : 0;
    value_ = value;
    return sum_;
  }

 private:
  double step_;
  T value_{};
  std::size_t count_ = 0;
  RangeSum<T> sum_;
};

// Writes the values of ranges with exact values. Each put_if_ function serves an easy case.
template <class T, class Int>
class ExactValueWriter {
 public:
  ExactValueWriter(const Record<T>& record, const Int* q, double step, const GeneralKernels& kernels,
                   T* values) noexcept
      : record_(record), q_(q), step_(step), kernels_(kernels), values_(values), sums_(step) {}

  void put(const RunCursor<T>& range) {
    if (record_.layer_count == 0 && (put_if_only_integers(range) || put_if_rests_are_small(range))) return;
    for (std::size_t first = range.from(); first < range.to(); first += CompensatedSums::positions)
      put_sums(range, first, std::min(CompensatedSums::positions, range.to() - first));
  }

 private:
  // Returns the rest at position i, in steps.
  std::int64_t rest(const RunCursor<T>& range, std::size_t i) const noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(std::int64_t{q_[i]}) -
                                     static_cast<std::uint64_t>(range.holds()));
  }

  // Writes the values if there are no exact ones; else returns false.
  bool put_if_only_integers(const RunCursor<T>& range) noexcept {
    if (range.exact_count() > 0) return false;
    for (std::size_t i = range.from(); i < range.to(); ++i) values_[i] = dequantise<T>(rest(range, i), step_);
    return true;
  }

  // Writes the values if no rest changes the rounded sum; else returns false.
  bool put_if_rests_are_small(const RunCursor<T>& range) noexcept {
    const RangeSum<T>& sum = sums_.sum_of(range);
    Int min_q = q_[range.from()], max_q = min_q;
    for (std::size_t i = range.from(); i < range.to(); ++i) {
      min_q = std::min(min_q, q_[i]);
      max_q = std::max(max_q, q_[i]);
    }
    std::int64_t low, high;
    if (__builtin_sub_overflow(std::int64_t{min_q}, range.holds(), &low) ||
        __builtin_sub_overflow(std::int64_t{max_q}, range.holds(), &high) || low < -sum.max_small_rest ||
        high > sum.max_small_rest)
      return false;
    const bool all_equal = (low == 0 && high == 0) || same_bits(sum.without_rest, sum.with_small_rest);
    if (all_equal) {
      fill(values_ + range.from(), range.to() - range.from(), sum.without_rest);
    } else {
      for (std::size_t i = range.from(); i < range.to(); ++i)
        values_[i] = rest(range, i) == 0 ? sum.without_rest : sum.with_small_rest;
    }
    return true;
  }

  // Reads layer k at the positions [first, first + n). Exact values go to `exact`. Values that count as
  // integers are added to `rests`, with zeros in `exact`. `exact_values` counts the exact values of each
  // position.
  void read_layer(std::size_t k, std::size_t first, std::size_t n, T* exact, std::int64_t* rests,
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

  // Writes the sums at the positions [first, first + n), at most CompensatedSums::positions.
  void put_sums(const RunCursor<T>& range, std::size_t first, std::size_t n) noexcept {
    const std::size_t padded = blocks_of(n) * block_values;
    T exact[CompensatedSums::positions] = {}, last[CompensatedSums::positions] = {},
      sums[CompensatedSums::positions];
    std::int64_t rests[CompensatedSums::positions], unused[CompensatedSums::positions] = {};
    std::size_t exact_values[CompensatedSums::positions];
    for (std::size_t i = 0; i < n; ++i) rests[i] = rest(range, first + i);
    std::fill_n(exact_values, n, range.exact_count());
    for (std::size_t k = 0; k < record_.layer_count; ++k) read_layer(k, first, n, exact, rests, exact_values);

    double multiples[CompensatedSums::positions] = {};
    std::copy_n(rests, n, multiples);
    CompensatedSums compensated;
    const auto add = [&] { kernels_.for_type<T>().add_compensated(compensated, exact, padded); };
    kernels_.multiply(compensated, multiples, step_, padded);
    range.each_value([&](T value) {
      fill(exact, n, value);
      fill(last, n, value);
      add();
    });
    for (std::size_t k = 0; k < record_.layer_count; ++k) {
      std::size_t in_layer[CompensatedSums::positions] = {};
      read_layer(k, first, n, exact, unused, in_layer);
      for (std::size_t i = 0; i < n; ++i) last[i] = in_layer[i] > 0 ? exact[i] : last[i];
      add();
    }
    const bool all_certain = kernels_.for_type<T>().round(compensated, padded, sums);
    for (std::size_t i = 0; i < n; ++i) {
      if (exact_values[i] == 0) {
        sums[i] = dequantise<T>(rests[i], step_);
      } else if (exact_values[i] == 1 && rests[i] == 0) {
        sums[i] = last[i];  // one exact value and nothing else: unchanged bit for bit
      } else if (!all_certain && compensated.certain[i] == 0) {
        sums[i] = slow_sum(range, first + i, rests[i]);
      }
    }
    std::copy_n(sums, n, values_ + first);
  }

  // Returns the sum at position i by ExactSum, which is slow.
  T slow_sum(const RunCursor<T>& range, std::size_t i, std::int64_t integer) const noexcept {
    ExactSum sum;
    sum.add_product(static_cast<double>(integer), step_);
    range.each_value([&](T value) { sum.add(static_cast<double>(value)); });
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
  RangeSumCache<T> sums_;
};

// Returns true if the integers do not change inside runs. `covered`: positions in runs; `starts`: their first
// positions.
template <class Int>
bool repeats_inside(const Int* q, std::size_t count, const ChunkMask& covered, const ChunkMask& starts,
                    const GeneralKernels& kernels) noexcept {
  ChunkMask repeats;
  if constexpr (sizeof(Int) == 8) {
    kernels.mark_wide_repeats(q, count, repeats);
  } else {
    kernels.mark_narrow_repeats(q, count, repeats);
  }
  std::uint64_t moving = 0;
  for (std::size_t w = 0; w < std::size(covered.words); ++w)
    moving |= covered.words[w] & ~starts.words[w] & ~repeats.words[w];
  return moving == 0;
}

// Writes the values in the common case: one fill value, as of missing data, in runs that overlap only where
// they are equal, at positions whose integers repeat the holds, so that the rest is 0. Returns false and
// changes nothing in any other case.
template <class T, class Int>
bool put_fill_value(const Record<T>& record, const Int* q, double step, const GeneralKernels& kernels,
                    T* values) {
  const Runs<T> runs = record.run_list();
  if (record.layer_count > 0 || runs.size() == 0) return false;
  const T value = runs[0].value;
  std::int64_t integer;
  if (on_grid(value, step, integer)) return false;
  ChunkMask covered = {}, starts = {};
  std::size_t equal_runs = 1, end = 0;  // equal_runs: in each place, one for each addend
  while (equal_runs < runs.size() && runs[equal_runs].start_and_length == runs[0].start_and_length)
    ++equal_runs;

  // The runs: equal values that cover the same positions, and holds that the integers repeat.
  bool common_case = runs.size() % equal_runs == 0;
  for (std::size_t i = 0; common_case && i < runs.size(); i += equal_runs) {
    const Run<T> run = runs[i];
    std::uint64_t holds = static_cast<std::uint64_t>(run.hold);
    common_case &= same_bits(run.value, value) && run.start() >= end;
    for (std::size_t k = 1; k < equal_runs; ++k) {
      const Run<T> other = runs[i + k];
      common_case &= same_bits(other.value, value) && other.start_and_length == run.start_and_length;
      holds += static_cast<std::uint64_t>(other.hold);
    }
    end = run.end();
    common_case &= static_cast<std::uint64_t>(std::int64_t{q[run.start()]}) == holds;
    starts.words[run.start() / 64] |= std::uint64_t{1} << (run.start() % 64);
    covered.words[run.start() / 64] ^= std::uint64_t{1} << (run.start() % 64);
    if (end < chunk_values) covered.words[end / 64] ^= std::uint64_t{1} << (end % 64);
  }
  if (!common_case) return false;

  // From the boundaries of runs to the positions in runs.
  std::uint64_t inside = 0, continued = 0;  // inside: all ones if a run continues from the word before
  for (std::size_t w = 0; w < std::size(covered.words); ++w) {
    std::uint64_t bits = covered.words[w];  // each bit: parity of the number of run boundaries up to it
    for (unsigned by = 1; bits != 0 && by < 64; by *= 2) bits ^= bits << by;
    covered.words[w] = bits ^= inside;
    inside = ~((bits >> 63) - 1);
    continued |= bits & ~starts.words[w];
  }
  if (continued != 0 && !repeats_inside(q, record.count, covered, starts, kernels)) return false;
  T fill = value;
  if (equal_runs > 1) {
    RunCursor<T> first(runs, record.count, step);
    while (first.next() && first.exact_count() == 0) {
    }
    fill = sum_of_values(first, step).without_rest;
  }
  kernels.for_type<T>().put(values, record.count, covered, fill);
  return true;
}

}  // namespace

template <class T, class Int>
void put_exact_values(const Record<T>& record, const Int* q, double step, const GeneralKernels& kernels,
                      T* values) {
  if (put_fill_value(record, q, step, kernels, values)) return;
  if (runs_overlap_much(record)) return put_by_edges(record, q, step, values);
  ExactValueWriter<T, Int> writer(record, q, step, kernels, values);
  for (RunCursor<T> range(record.run_list(), record.count, step); range.next();)
    if (range.has_runs() || record.layer_count > 0) writer.put(range);
}

#define INSTANTIATE(T)                                                                                      \
  template void put_exact_values(const Record<T>&, const std::int32_t*, double, const GeneralKernels&, T*); \
  template void put_exact_values(const Record<T>&, const std::int64_t*, double, const GeneralKernels&, T*);
TAUT_PLANES_TYPES(INSTANTIATE)

}  // namespace taut::planes
