#include "compressor/values/value_range.hpp"

#include <algorithm>
#include <cmath>

#include "compressor/base/float_environment.hpp"
#include "compressor/values/number_range.hpp"

namespace taut {
namespace {

// Returns the range of real values. Several extremes are kept side by side, so that compilers vectorize the
// loop. Infinities and NaN do not count; the test for them is that x - x is not 0.
template <class Number>
ValueRange range_of_reals(const void* data, std::size_t n, std::optional<double> excluded,
                          PackedBits bits) noexcept {
  using T = ComputedIn<Number>;
  const Number* const x = static_cast<const Number*>(data);
  const bool has_fill = excluded.has_value();
  const T fill = static_cast<T>(static_cast<Number>(excluded.value_or(0)));
  constexpr std::size_t lanes = 64 / sizeof(T);
  constexpr T infinity = std::numeric_limits<T>::infinity();
  T least[lanes], greatest[lanes];
  std::fill_n(least, lanes, infinity);
  std::fill_n(greatest, lanes, -infinity);
  const bool exact = bits == PackedBits::exact && NumberRange<Number>::has_limits;
  const auto take = [&](T value, std::size_t lane) {
    const bool counts = (value - value == T{0}) & !(has_fill & (value == fill)) &
                        !(exact & is_packed(static_cast<Number>(value)));
    const T low = counts ? value : infinity, high = counts ? value : -infinity;
    least[lane] = low < least[lane] ? low : least[lane];
    greatest[lane] = high > greatest[lane] ? high : greatest[lane];
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) take(static_cast<T>(x[i + lane]), lane);
  for (; i < n; ++i) take(static_cast<T>(x[i]), i % lanes);
  ValueRange range;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    range.merge({static_cast<double>(least[lane]), static_cast<double>(greatest[lane])});
  return range;
}

}  // namespace

void ValueRange::merge(const ValueRange& other) noexcept {
  least = std::min(least, other.least);
  greatest = std::max(greatest, other.greatest);
}

ValueRange range_of(ConstSlice values, std::optional<double> fill, PackedBits bits) noexcept {
  const FloatEnvironment environment;  // differences of infinities must not trap
  const std::size_t n = values.count * components_of(values.type);
  return with_component(values.type, [&]<class T>() {
    if constexpr (is_real<T>) return range_of_reals<T>(values.data, n, fill, bits);
    return ValueRange{};
  });
}

Bound resolved(Bound bound, const ValueRange& range) noexcept {
  if (!is_relative(bound)) return bound;
  if (!(range.least < range.greatest)) return {};
  const FloatEnvironment environment;  // the result must be the same on every rank
  // Half the range, as the difference of the extremes of float64 may overflow.
  const double half = range.greatest / 2 - range.least / 2;
  // Rounded more coarsely than mathematical libraries may differ, so that ranks on different machines get the
  // same factor.
  const double factor = bound.kind == Bound::Kind::range
                            ? bound.value
                            : static_cast<double>(static_cast<float>(std::pow(10.0, -bound.value / 20)));
  const double absolute = half * factor * 2 * (1 - 0x1p-20);
  if (!(absolute > 0)) return {};
  return {Bound::Kind::absolute, std::min(absolute, std::numeric_limits<double>::max())};
}

Bound rounded_for_equal_steps(Bound bound) noexcept {
  constexpr double powers[] = {// 2^(-1/4), 2^(-1/2), 2^(-3/4), 2^-1
                               0x1.ae89f995ad3adp-1, 0x1.6a09e667f3bcdp-1, 0x1.306fe0a31b715p-1, 0.5};
  if (bound.kind != Bound::Kind::absolute || !std::isnormal(bound.value)) return bound;
  int exponent = 0;
  const double mantissa = std::frexp(bound.value, &exponent);  // at least 0.5
  const double* const power = std::ranges::find_if(powers, [&](double one) { return one <= mantissa; });
  return {bound.kind, std::ldexp(*power, exponent)};
}

}  // namespace taut
