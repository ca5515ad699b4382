#include "compressor/codecs/mpc/grid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "compressor/base/unaligned.hpp"
#include "compressor/codecs/mpc/kernels.hpp"
#include "compressor/frame/sample.hpp"

namespace taut::mpc {
namespace {

constexpr std::size_t piece_values = 32, most_sampled = 8 * piece_values;
constexpr std::size_t least_distinct = 12;
constexpr double least_ulps = 8;  // a step of fewer units in the last place saves no bits

// Distance of two neighbouring values, and the unit in the last place of the greater one.
struct Gap {
  double size, ulp;
};

// Step, and how far it may be off.
struct Step {
  double size = 0, error = 0;
};

template <class T>
struct Commonest {
  T value{};
  std::size_t count = 0;
};

// Returns the commonest of n numbers in ascending order.
template <class T, class Sorted>
Commonest<T> commonest_of(const Sorted* sorted, std::size_t n) noexcept {
  Commonest<T> commonest;
  for (std::size_t first = 0, next = 0; first < n; first = next) {
    while (next < n && sorted[next] == sorted[first]) ++next;
    if (next - first > commonest.count) commonest = {static_cast<T>(sorted[first]), next - first};
  }
  return commonest;
}

// Search for the grid of a few values of one type.
template <class Word>
class Search {
 public:
  using G = GridWords<Word>;
  using Value = typename G::Value;

  Search(const std::byte* words, std::size_t count, const Kernels& kernels) noexcept : kernels_(kernels) {
    const Pieces pieces(count);
    for (std::size_t i = 0; i < pieces.count; ++i)
      for (std::size_t k = 0; k < std::min(piece_values, pieces.values); ++k)
        take(load<Value>(words + (pieces.first(i) + k) * sizeof(Word)));
    const std::size_t all = n_ + others_;
    const Commonest<Value> finite = sort();
    if (4 * std::max(finite.count, others_) <= all) return;
    take_rare(words, count, others_ > finite.count ? sampled_[most_sampled - 1] : finite.value);
    sort();
  }

  Grid find() noexcept {
    if (distinct_ < least_distinct) return {};
    // An offset gives small values the error of greater ones, or its own if it is greater than all values:
    // then they are multiples of its last place.
    const std::size_t few = distinct_ / 16;
    const double usual = std::max(std::abs(sorted_[few]), std::abs(sorted_[distinct_ - 1 - few]));
    const double last_place = ulp_of(usual), unit = common_unit();
    Grid grid = find(last_place, unit);
    if (!grid.any() && unit > last_place) grid = find(unit, unit);
    if (grid.any()) grid.base = commonest_code(grid);
    return grid;
  }

 private:
  // `least_ulp`: of the values' errors.
  Grid find(double least_ulp, double unit) noexcept {
    for (std::size_t i = 1; i < distinct_; ++i)
      gaps_[i - 1] = {sorted_[i] - sorted_[i - 1],
                      std::max(ulp_of(std::max(std::abs(sorted_[i]), std::abs(sorted_[i - 1]))), least_ulp)};
    const std::span<Gap> gaps(gaps_, distinct_ - 1);
    std::ranges::sort(gaps, {}, &Gap::size);
    // The smallest gaps may be those of values off the grid.
    for (const std::size_t skipped : {std::size_t{0}, gaps.size() / 16})
      if (const Step step = common_step(gaps.subspan(skipped)); step.size > 0)
        return fitted(step, least_ulp, unit);
    return {};
  }

  static double ulp_of(double value) noexcept {
    const auto bits = std::bit_cast<Word>(static_cast<Value>(value));
    return static_cast<double>(std::bit_cast<Value>(bits + 1)) - value;
  }

  // Euclid's algorithm on numbers that are known up to a few units in the last place, from the smallest gap
  // on. Each gap that agrees makes the step better known, as roundings are independent; gaps that are too
  // great to be judged are left out.
  static Step common_step(std::span<const Gap> gaps) noexcept {
    Step step{gaps[0].size, 2 * gaps[0].ulp};
    if (step.size < least_ulps * gaps[0].ulp) return {};
    double distance = step.size, steps = 1, judged = 1;
    for (std::size_t i = 1; i < gaps.size(); ++i) {
      const double multiple = std::nearbyint(gaps[i].size / step.size);
      const double error = 2 * gaps[i].ulp + multiple * step.error;
      if (error > step.size / 4) continue;
      const double rest = std::abs(gaps[i].size - multiple * step.size);
      if (rest > error) {
        if (rest < least_ulps * gaps[i].ulp) return {};
        step = {rest, error};
        distance = rest, steps = judged = 1, i = 0;
        continue;
      }
      distance += gaps[i].size, steps += multiple, judged += 1;
      const double better = 2 * gaps[i].ulp * std::sqrt(judged) / steps;
      if (better < step.error) step = {distance / steps, better};
    }
    return judged * 8 >= static_cast<double>(gaps.size()) ? step : Step{};
  }

  // Fits step and offset to the values, and takes the form that gives most values exactly.
  Grid fitted(Step step, double least_ulp, double unit) const noexcept {
    const double middle = sorted_[distinct_ / 2];
    double correction = 0;
    for (int round = 0; round < 16; ++round) step = regressed(step, middle, least_ulp, correction);
    const double inverse = std::nearbyint(1 / step.size), rounded = static_cast<float>(step.size);
    // Small offsets are rounded the least.
    const double integer = std::nearbyint(middle / step.size);
    const bool has_room = std::abs(integer) < static_cast<double>(G::most) / 2;
    const double origin = has_room ? 0 : middle;
    const auto offset_of = [&](double size) {
      return (has_room ? std::fma(-integer, size, middle) : middle) + correction;
    };
    const Grid forms[] = {{Grid::Form::quotient, inverse, 0},
                          {Grid::Form::product, rounded, origin},
                          {Grid::Form::product, step.size, origin},
                          {Grid::Form::product, rounded, offset_of(rounded)},
                          {Grid::Form::product, step.size, offset_of(step.size)}};
    Grid best;
    std::size_t most = n_ / 2;  // of the values, or there is no grid
    for (const double counted_in : {0.0, unit}) {
      for (Grid grid : forms) {
        grid.unit = counted_in;
        const std::size_t exact = on_grid(grid);
        if (exact > most) best = grid;
        most = std::max(most, exact);
      }
      if (most == 2 * n_) break;
    }
    best.integers = most == 2 * n_;
    return best;
  }

  // Returns the greatest power of two that most values are multiples of; 0 if no frame may have it as its
  // unit.
  double common_unit() const noexcept {
    int exponents[most_sampled];
    for (std::size_t i = 0; i < n_; ++i) {
      int exponent = 0;
      const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(sampled_[i], &exponent), 53));
      exponents[i] = digits == 0 ? std::numeric_limits<int>::max()
                                 : exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(digits));
    }
    const std::size_t few = n_ / 16;
    std::nth_element(exponents, exponents + few, exponents + n_);
    const double unit = std::ldexp(1.0, std::min(exponents[few], 1024));
    return is_unit<Word>(unit) ? unit : 0;
  }

  // Fits a line to those values whose integers are certain.
  Step regressed(Step step, double middle, double least_ulp, double& correction) const noexcept {
    double n = 0, k = 0, r = 0, kk = 0, kr = 0, most = 0;
    for (std::size_t i = 0; i < distinct_; ++i) {
      const double distance = sorted_[i] - middle, integer = std::nearbyint(distance / step.size);
      const double rest = distance - integer * step.size;
      if (std::abs(integer) * step.error > step.size / 4 || std::abs(rest) > step.size / 4) continue;
      n += 1, k += integer, r += rest, kk += integer * integer, kr += integer * rest;
      most = std::max(most, std::abs(integer));
    }
    const double spread = n * kk - k * k;
    if (spread <= 0) return step;
    const double change = (n * kr - k * r) / spread;
    correction = (r - change * k) / n;
    return {step.size + change,
            std::min(step.error, 4 * std::max(ulp_of(std::abs(middle)), least_ulp) / (most * std::sqrt(n)))};
  }

  void take(Value value) noexcept {
    if (std::isfinite(value))
      sampled_[n_++] = value;
    else
      sampled_[most_sampled - ++others_] = value;
  }

  // Sorts the finite values, and returns the commonest one.
  Commonest<Value> sort() noexcept {
    std::copy_n(sampled_, n_, sorted_);
    std::sort(sorted_, sorted_ + n_);
    const Commonest<Value> commonest = commonest_of<Value>(sorted_, n_);
    distinct_ = static_cast<std::size_t>(std::unique(sorted_, sorted_ + n_) - sorted_);
    return commonest;
  }

  // Samples a message anew of which many values are the same one: finite values other than that one, a few
  // from each chunk. The usual value stays in more than half of the places.
  void take_rare(const std::byte* words, std::size_t count, Value usual) noexcept {
    n_ = 0;
    others_ = most_sampled - most_rare;
    std::fill(sampled_ + most_rare, sampled_ + most_sampled, usual);
    for (const std::size_t first : {0, 4, 8, 12})  // a quarter of the chunks, spread over the message
      for (std::size_t chunk = first; chunk * chunk_words < count && n_ < most_rare; chunk += 16)
        take_rare_of_chunk(words + chunk * chunk_bytes, std::min(chunk_words, count - chunk * chunk_words),
                           usual);
  }

  void take_rare_of_chunk(const std::byte* words, std::size_t count, Value usual) noexcept {
    constexpr std::size_t most_of_chunk = 4;
    if (std::memcmp(words, words + sizeof(Word), (count - 1) * sizeof(Word)) == 0) return;
    for (std::size_t k = 0, taken = 0; k < count && taken < most_of_chunk && n_ < most_rare; ++k)
      if (const auto value = load<Value>(words + k * sizeof(Word)); std::isfinite(value) && value != usual) {
        sampled_[n_++] = value;
        ++taken;
      }
  }

  // Returns a count of the values on a grid, in which those that it gives exactly count twice.
  std::size_t on_grid(const Grid& grid) const noexcept {
    if (!(grid.step > 0) || !std::isfinite(grid.step)) return 0;
    Codes codes(*this, grid);
    std::size_t points = 0;
    for (std::size_t i = 0; i < n_; ++i)
      if (codes.of[i] != std::bit_cast<Word>(sampled_[i]))
        points += (codes.of[i] - G::center) % 4 == 0 ? 2 : 1;
    return points;
  }

  std::uint64_t commonest_code(const Grid& grid) const noexcept {
    Codes codes(*this, grid);
    std::copy_n(codes.of + most_sampled - others_, others_, codes.of + n_);
    std::sort(codes.of, codes.of + n_ + others_);
    return commonest_of<Word>(codes.of, n_ + others_).value;
  }

  // Codes of the sampled values.
  struct Codes {
    Codes(const Search& search, const Grid& grid) noexcept {
      search.kernels_.to_codes(reinterpret_cast<const std::byte*>(search.sampled_),
                               vectors_of(sizeof search.sampled_), grid, reinterpret_cast<std::byte*>(of));
    }
    alignas(64) Word of[most_sampled];
  };

  static constexpr std::size_t most_rare = most_sampled / 2 - 1;
  static constexpr std::size_t chunk_words = chunk_bytes / sizeof(Word);

  const Kernels& kernels_;
  alignas(64) Value sampled_[most_sampled] = {};  // finite ones first, others last
  double sorted_[most_sampled];
  std::size_t n_ = 0, others_ = 0, distinct_ = 0;
  Gap gaps_[most_sampled];
};

}  // namespace

template <class Word>
bool is_unit(double unit) noexcept {
  int exponent = 0;
  return std::frexp(unit, &exponent) == 0.5 && exponent - 1 >= GridWords<Word>::least_unit &&
         exponent - 1 <= GridWords<Word>::greatest_unit;
}
template bool is_unit<std::uint32_t>(double) noexcept;
template bool is_unit<std::uint64_t>(double) noexcept;

Grid Grid::with_differences(std::size_t word_bytes) const noexcept {
  Grid with = *this;
  with.integers = false;
  const auto base_of = [this]<class Word>(Word center, Word half) {
    const auto number = static_cast<Word>(static_cast<Word>(base) - center);
    const bool is_code = static_cast<Word>(number + half - 1) < 2 * half - 1;
    return is_code ? static_cast<Word>(center + (number << difference_bits(false))) : static_cast<Word>(base);
  };
  using Single = GridWords<std::uint32_t>;
  using Double = GridWords<std::uint64_t>;
  if (has_base() && integers)
    with.base =
        word_bytes == 4 ? base_of(Single::center, Single::half) : base_of(Double::center, Double::half);
  return with;
}

Grid find_grid(ConstSlice values, const Kernels& kernels) noexcept {
  const ConstSlice parts{values.components()};
  const auto* const words = static_cast<const std::byte*>(parts.data);
  if (parts.type == DType::f32) return Search<std::uint32_t>(words, parts.count, kernels).find();
  if (parts.type == DType::f64) return Search<std::uint64_t>(words, parts.count, kernels).find();
  return {};
}

}  // namespace taut::mpc
