// Search for the grid of a message in a few of its values. The code is the same for the host and for a warp
// of a GPU, which find the same grid. `Threads` is the interface to the threads that search:
//
//   word(i)                       returns word i of the message
//   is_constant(first, n)         returns true if n words, from `first` on, are the same
//   each(n, f)                    calls f(i) for i below n, in any order
//   once(f)                       calls f() once
//   sort(x, n, less, memory)      sorts n numbers, equal ones in their order; `memory`: room for as many
//   take_least(n, gap, gaps)      writes the least of the gaps gap(i), i below n, in any order; returns their
//                                 number
//   nth(x, n, k, memory)          returns number k of n numbers in ascending order, which it may move
//   first_few(n, limit, is, take) calls take(rank, i) for the first `limit` i below n with is(i); returns
//                                 their number
//   codes(values, grid, codes)    writes the codes of max_grid_values values
//
// All threads call the same members in the same order. Between two calls they only read the memory.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>

#include "compressor/codecs/mpc/format.hpp"
#include "compressor/codecs/mpc/grid.hpp"
#include "compressor/frame/sample.hpp"

namespace taut::mpc {

inline constexpr std::uint32_t max_grid_values = 256;

// Part of a message in which a search looks for values other than the commonest one: all of it, or, on GPUs,
// the pieces of a sample (compressor/frame/sample.hpp).
enum class GridReach : std::uint8_t { message, pieces };

// Distance of two values that are neighbours in sorted order, and the greater one of their magnitudes.
struct GridGap {
  double size, magnitude;
};

// Points to which a line is fitted: the integer of each value, and the value less its multiple of the step.
struct GridLine {
  double integers[max_grid_values], rests[max_grid_values];
};

template <class Word>
struct GridSearchMemory {
  alignas(64) typename GridWords<Word>::Value sampled[max_grid_values];  // finite ones first, others last
  alignas(64) Word codes[max_grid_values];
  double sorted[max_grid_values];
  union {
    GridGap gaps[max_grid_values];
    GridLine line;
    int exponents[max_grid_values];
  };
  union {  // memory of Threads::sort()
    GridGap sorting_gaps[max_grid_values];
    double sorting_values[max_grid_values];
    Word sorting_codes[max_grid_values];
    int sorting_exponents[max_grid_values];
  };
  std::uint32_t n, others, distinct;  // number of finite values, of others, of different finite ones
  std::uint32_t commonest_count;
  typename GridWords<Word>::Value commonest;  // of finite values
};

template <class Word, class Threads>
class GridSearch {
  using G = GridWords<Word>;
  using Value = typename G::Value;
  using Memory = GridSearchMemory<Word>;

 public:
  // `count`: words of the message.
  constexpr GridSearch(const Threads& threads, std::size_t count, GridReach reach, Memory& memory) noexcept
      : threads_(threads), count_(count), reach_(reach), m_(memory) {}

  // Returns the grid of most values, with a base for its codes. The steps are: sample the values
  // (take_pieces), find the step as a common divisor of the gaps between them (find, common_step), fit step
  // and offset to the values and choose the form (fitted), and take the commonest code as the base
  // (set_base).
  constexpr Grid find() noexcept {
    take_pieces();
    if (m_.distinct < min_distinct) return {};
    // Values to which an offset was added have an error of at least the ulp of great values. If the offset
    // was greater than all values, their error is the ulp of the offset, and they are multiples of it
    // (common_unit).
    const std::uint32_t few = m_.distinct / 16;
    const double low = magnitude(m_.sorted[few]), high = magnitude(m_.sorted[m_.distinct - 1 - few]);
    const double last_place = ulp_of(greater(low, high));
    Grid grid = find(last_place);
    if (!grid.any() && may_have_unit_above(last_place))
      if (const double unit = common_unit(); unit > last_place) grid = find(unit);
    if (grid.any()) set_base(grid);
    return grid;
  }

 private:
  static constexpr std::uint32_t piece_values = 32, min_distinct = 12;
  static constexpr std::uint32_t max_rare = max_grid_values / 2 - 1;
  static constexpr double min_step_ulps = 8;  // a step of fewer ulps saves no bits

  // Step, and its greatest error.
  struct Step {
    double size = 0, error = 0;

    static constexpr Step unknown() noexcept { return {0, -1}; }
    constexpr bool known() const noexcept { return error >= 0; }
  };

  static constexpr double magnitude(double x) noexcept { return x < 0 ? -x : x; }
  static constexpr double greater(double a, double b) noexcept { return a < b ? b : a; }
  static constexpr double lesser(double a, double b) noexcept { return b < a ? b : a; }
  static constexpr bool is_finite(double x) noexcept { return x - x == 0; }
  static constexpr bool is_less(double a, double b) noexcept { return a < b; }
  constexpr Value value(std::size_t i) const noexcept { return std::bit_cast<Value>(threads_.word(i)); }

  // ---- The sample

  // Samples pieces of the message. Samples again if a value, or one kind of values that are not finite, is
  // more than a quarter of them.
  constexpr void take_pieces() noexcept {
    const Pieces pieces(count_);
    const auto values =
        static_cast<std::uint32_t>(pieces.values < piece_values ? pieces.values : piece_values);
    const std::uint32_t all = values * static_cast<std::uint32_t>(pieces.count);
    if (all < max_grid_values) threads_.each(max_grid_values, [&](std::uint32_t i) { m_.sampled[i] = 0; });
    for (std::uint32_t piece = 0; piece < pieces.count; ++piece) {
      const std::size_t first = pieces.first(piece);
      threads_.each(values,
                    [&](std::uint32_t i) { m_.codes[piece * values + i] = threads_.word(first + i); });
    }
    threads_.once([&] {
      m_.n = m_.others = 0;
      for (std::uint32_t i = 0; i < all; ++i) take(std::bit_cast<Value>(m_.codes[i]));
    });
    sort();
    const std::uint32_t others = m_.others, equal = m_.commonest_count;
    if (4 * (equal < others ? others : equal) <= all) return;
    take_rare(others > equal ? m_.sampled[max_grid_values - 1] : m_.commonest);
    sort();
  }

  // Appends a value to the sample: finite ones from its start, others from its end.
  constexpr void take(Value value) noexcept {
    if (is_finite(value))
      m_.sampled[m_.n++] = value;
    else
      m_.sampled[max_grid_values - ++m_.others] = value;
  }

  // Sorts the finite values of the sample without duplicates to m_.sorted, and finds the commonest one.
  constexpr void sort() noexcept {
    threads_.each(m_.n, [&](std::uint32_t i) { m_.sorted[i] = m_.sampled[i]; });
    threads_.sort(m_.sorted, m_.n, is_less, m_.sorting_values);
    threads_.once([&] {
      std::uint32_t distinct = 0, equal = 0, max_equal = 0;
      Value commonest{};
      double before = not_finite;
      for (std::uint32_t i = 0; i < m_.n; ++i) {
        const double own = m_.sorted[i];
        const bool is_new = own != before;
        m_.sorted[distinct] = before = own;
        distinct += is_new;
        equal = is_new ? 1 : equal + 1;
        if (equal > max_equal) max_equal = equal, commonest = static_cast<Value>(m_.sorted[distinct - 1]);
      }
      m_.distinct = distinct;
      m_.commonest_count = max_equal;
      m_.commonest = commonest;
    });
  }

  // Samples the message again, without the commonest value: takes up to max_rare other finite values, a few
  // from each of some chunks, or from each piece. The commonest value fills the rest of the sample, more than
  // half.
  constexpr void take_rare(Value commonest) noexcept {
    threads_.each(max_grid_values - max_rare, [&](std::uint32_t i) { m_.sampled[max_rare + i] = commonest; });
    threads_.once([&] {
      m_.n = 0;
      m_.others = max_grid_values - max_rare;
    });
    if (reach_ == GridReach::pieces) {
      const Pieces pieces(count_);
      const auto limit = static_cast<std::uint32_t>(1 + max_rare / pieces.count);
      for (std::size_t i = 0; i < pieces.count; ++i)
        take_rare_of(pieces.first(i), pieces.values, commonest, limit);
      return;
    }
    constexpr std::size_t chunk_words = chunk_bytes / sizeof(Word);
    for (const std::size_t first : {0, 4, 8, 12})  // a quarter of the chunks, spread over the message
      for (std::size_t at = first * chunk_words; at < count_ && m_.n < max_rare; at += 16 * chunk_words)
        take_rare_of(at, count_ - at < chunk_words ? count_ - at : chunk_words, commonest, 4);
  }

  // Takes up to `limit` finite values other than the commonest from `values` values of the message.
  constexpr void take_rare_of(std::size_t first, std::size_t values, Value commonest,
                              std::uint32_t limit) noexcept {
    const auto n = static_cast<std::uint32_t>(values);
    if (threads_.is_constant(first, n)) return;
    const std::uint32_t left = max_rare - m_.n, before = m_.n;
    const std::uint32_t taken = threads_.first_few(
        n, left < limit ? left : limit,
        [&](std::uint32_t k) { return is_finite(value(first + k)) && value(first + k) != commonest; },
        [&](std::uint32_t rank, std::uint32_t k) { m_.sampled[before + rank] = value(first + k); });
    threads_.once([&] { m_.n = before + taken; });
  }

  // ---- The step

  // Finds the grid of the sample. `min_ulp`: lower limit of the error of each value.
  constexpr Grid find(double min_ulp) noexcept {
    const std::uint32_t n = m_.distinct - 1;
    const auto is_smaller = [](const GridGap& a, const GridGap& b) {
      return a.size < b.size || (a.size == b.size && a.magnitude < b.magnitude);
    };
    const auto gap = [this](std::uint32_t i) {
      const double low = m_.sorted[i], high = m_.sorted[i + 1];
      return GridGap{high - low, greater(magnitude(high), magnitude(low))};
    };
    const auto step_of_first = [&](std::uint32_t taken) {
      threads_.sort(m_.gaps, taken, is_smaller, m_.sorting_gaps);
      return step_of(taken, n, min_ulp);
    };
    Step step = step_of_first(threads_.take_least(n, gap, m_.gaps));
    if (!step.known()) {
      threads_.each(n, [&](std::uint32_t i) { m_.gaps[i] = gap(i); });
      step = step_of_first(n);
    }
    return step.size == 0 ? Grid{} : fitted(step, min_ulp);
  }

  // Returns the step of n gaps. m_.gaps has the `sorted` least of them; the result is unknown if others
  // decide it.
  constexpr Step step_of(std::uint32_t sorted, std::uint32_t n, double min_ulp) const noexcept {
    // The smallest gaps may be those of values off the grid.
    const std::uint32_t few = n / 16;
    const Step step = common_step(m_.gaps, sorted, n, min_ulp);
    if (step.size != 0 || !step.known()) return step;
    return few < sorted ? common_step(m_.gaps + few, sorted - few, n - few, min_ulp) : Step::unknown();
  }

  // Returns the distance from a value, of at least 0, to the next greater number of its type.
  static constexpr double ulp_of(double value) noexcept {
    const auto bits = std::bit_cast<Word>(static_cast<Value>(value));
    return static_cast<double>(std::bit_cast<Value>(static_cast<Word>(bits + 1))) - value;
  }

  // Returns rint(x) for x >= 0, without a call of the C library.
  static constexpr double nearest_integer(double x) noexcept {
    return x < 0x1p52 ? (x + 0x1p52) - 0x1p52 : x;
  }

  // Returns the common divisor of the gaps by Euclid's algorithm, on numbers with an error of a few ulps,
  // from the smallest gap on. Each gap that is a multiple of the step lowers the error of the step, as the
  // roundings of gaps are independent. Gaps of so many steps that the error hides the remainder are left out.
  static constexpr Step common_step(const GridGap* gaps, std::uint32_t sorted, std::uint32_t n,
                                    double min_ulp) noexcept {
    const double first_ulp = greater(ulp_of(gaps[0].magnitude), min_ulp);
    Step step{gaps[0].size, 2 * first_ulp};
    if (step.size < min_step_ulps * first_ulp) return {};
    double distance = step.size, steps = 1, judged = 1;
    for (std::uint32_t i = 1; i < n; ++i) {
      if (i == sorted) return Step::unknown();
      const GridGap gap = gaps[i];
      const double multiple = nearest_integer(gap.size / step.size), own_error = multiple * step.error;
      if (own_error > step.size / 4) break;  // the errors of greater gaps are greater
      const double ulp = greater(ulp_of(gap.magnitude), min_ulp), error = 2 * ulp + own_error;
      if (error > step.size / 4) continue;
      const double rest = magnitude(gap.size - multiple * step.size);
      if (rest > error) {
        if (rest < min_step_ulps * ulp) return {};
        step = {rest, error};
        distance = rest, steps = judged = 1, i = 0;
        continue;
      }
      distance += gap.size, steps += multiple, judged += 1;
      const double better = 2 * ulp * sqrt(judged) / steps;
      if (better < step.error) step = {distance / steps, better};
    }
    return judged * 8 >= static_cast<double>(n) ? step : Step{};
  }

  // ---- Step and offset

  // Fits step and offset to the values, and chooses among ten forms: without and with a unit, a quotient, and
  // products with the step as a float or a double, without and with an offset between the multiples. Takes
  // the form that gives most values exactly.
  constexpr Grid fitted(Step step, double min_ulp) noexcept {
    const double middle = m_.sorted[m_.distinct / 2], unit = common_unit();
    double correction = 0;
    Step before;
    for (int round = 0; round < 16 && (before.size != step.size || before.error != step.error); ++round)
      step = regressed(before = step, middle, min_ulp, correction);
    const double inverse = rint(1 / step.size), rounded = static_cast<float>(step.size);
    // The value `middle` may be the offset. An offset of a few steps, or 0, is rounded less.
    const double integer = rint(middle / step.size);
    const bool has_room = magnitude(integer) < static_cast<double>(G::max_integer) / 2;
    Grid best;
    std::uint32_t best_count = m_.n / 2;  // minimum; on_grid() counts exact values twice
    for (unsigned form = 0; form < 10 && (form != 5 || best_count != 2 * m_.n); ++form) {
      Grid grid{.form = form % 5 == 0 ? Grid::Form::quotient : Grid::Form::product};
      grid.step = form % 5 == 0 ? inverse : form % 2 == 1 ? rounded : step.size;
      if (form % 5 != 0) grid.offset = has_room ? 0 : middle;
      if (form % 5 > 2) grid.offset = (has_room ? fma(-integer, grid.step, middle) : middle) + correction;
      grid.unit = form < 5 ? 0 : unit;
      const std::uint32_t exact = on_grid(grid);
      if (exact > best_count) best = grid;
      best_count = best_count < exact ? exact : best_count;
    }
    best.integers_alone = best_count == 2 * m_.n;
    return best;
  }

  // Fits a line to the values whose integers are certain, and returns the corrected step. `correction`: of
  // the offset.
  constexpr Step regressed(Step step, double middle, double min_ulp, double& correction) noexcept {
    threads_.each(m_.distinct, [&](std::uint32_t i) {
      const double distance = m_.sorted[i] - middle, integer = rint(distance / step.size);
      const double rest = distance - integer * step.size;
      const bool uncertain =
          magnitude(integer) * step.error > step.size / 4 || magnitude(rest) > step.size / 4;
      m_.line.integers[i] = integer;
      m_.line.rests[i] = uncertain ? not_finite : rest;
    });
    double n = 0, k = 0, r = 0, kk = 0, kr = 0, max_integer = 0;
    for (std::uint32_t i = 0; i < m_.distinct; ++i) {
      const double integer = m_.line.integers[i], rest = m_.line.rests[i];
      if (rest == not_finite) continue;
      n += 1, k += integer, r += rest, kk += integer * integer, kr += integer * rest;
      max_integer = greater(max_integer, magnitude(integer));
    }
    const double spread = n * kk - k * k;
    if (spread <= 0) return step;
    const double change = (n * kr - k * r) / spread;
    correction = (r - change * k) / n;
    return {step.size + change,
            lesser(step.error, 4 * greater(ulp_of(magnitude(middle)), min_ulp) / (max_integer * sqrt(n)))};
  }

  // Returns the greatest power of two that most values are multiples of; 0 if no frame may have it as its
  // unit.
  constexpr double common_unit() noexcept {
    threads_.each(m_.n, [&](std::uint32_t i) { m_.exponents[i] = last_exponent(m_.sampled[i]); });
    const int exponent = threads_.nth(m_.exponents, m_.n, m_.n / 16, m_.sorting_exponents);
    return exponent >= G::min_unit_exponent && exponent <= G::max_unit_exponent ? power_of_2(exponent) : 0;
  }

  // Returns true if common_unit() may be above a power of two. It is not if more than a sixteenth of the
  // values have a 1 in that binary digit or a lower one. For usual floating-point numbers the loop ends after
  // few values.
  constexpr bool may_have_unit_above(double power) const noexcept {
    const int exponent = last_exponent(power);
    std::uint32_t not_above = 0;
    for (std::uint32_t i = 0; i < m_.n && not_above <= m_.n / 16; ++i)
      not_above += last_exponent(m_.sampled[i]) <= exponent;
    return not_above <= m_.n / 16;
  }

  // Returns the exponent of the lowest 1 of a value: the greatest power of two that the value is a multiple
  // of. For 0 returns 2000, above all exponents.
  static constexpr int last_exponent(double value) noexcept {
    const auto bits = std::bit_cast<std::uint64_t>(value) << 1;
    if (bits == 0) return 2000;
    const int biased = static_cast<int>(bits >> 53);
    const std::uint64_t digits = (bits << 11 >> 12) | (biased == 0 ? 0 : std::uint64_t{1} << 52);
    const std::uint64_t lowest = digits & (~digits + 1);
    const int place =
        static_cast<int>(std::bit_cast<std::uint64_t>(static_cast<double>(lowest)) >> 52) - 1023;
    return (biased == 0 ? 1 : biased) - 1075 + place;
  }

  static constexpr double power_of_2(int exponent) noexcept {  // of a normal number
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  }

  // ---- Codes of the sampled values

  constexpr void code(const Grid& grid) noexcept { threads_.codes(m_.sampled, grid, m_.codes); }

  // Returns the number of sampled values on a grid, plus the number of those that the grid gives exactly.
  constexpr std::uint32_t on_grid(const Grid& grid) noexcept {
    if (!(grid.step > 0) || !is_finite(grid.step)) return 0;
    code(grid);
    std::uint32_t points = 0;
    for (std::uint32_t i = 0; i < m_.n; ++i)
      if (m_.codes[i] != std::bit_cast<Word>(m_.sampled[i]))
        points += (m_.codes[i] - G::center) % 4 == 0 ? 2 : 1;
    return points;
  }

  // Sets the base of a grid to the commonest code of the sample, values without a code included.
  constexpr void set_base(Grid& grid) noexcept {
    code(grid);
    const std::uint32_t n = m_.n, all = n + m_.others;
    threads_.once([&] {
      for (std::uint32_t i = n; i < all; ++i) m_.codes[i] = m_.codes[max_grid_values - all + i];
    });
    threads_.sort(
        m_.codes, all, [](Word a, Word b) { return a < b; }, m_.sorting_codes);
    std::uint32_t max_equal = 0;
    for (std::uint32_t first = 0, next = 0; first < all; first = next) {
      while (next < all && m_.codes[next] == m_.codes[first]) ++next;
      if (next - first > max_equal) max_equal = next - first, grid.base = m_.codes[first];
    }
  }

  static constexpr double not_finite = std::bit_cast<double>(std::uint64_t{0x7FF} << 52);

  const Threads& threads_;
  std::size_t count_;
  GridReach reach_;
  Memory& m_;
};

}  // namespace taut::mpc
