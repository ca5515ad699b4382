#include "compressor/frame/common_unit.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compressor/base/float_environment.hpp"
#include "compressor/frame/sample.hpp"

namespace taut {
namespace {

// Limits of units and of the integers, values over unit, for a type. `coded`: planes codes integers below it
// without its general path. `exact`: all integers up to it are values of the type. Units from `least` to
// `greatest` are far inside the range of steps of planes.
template <class T>
struct UnitLimits;
template <>
struct UnitLimits<float> {
  static constexpr double coded = 0x1p22, exact = 0x1p24, least = 0x1p-100, greatest = 0x1p90;
};
template <>
struct UnitLimits<double> {
  static constexpr double coded = 0x1p43, exact = 0x1p53, least = 0x1p-900, greatest = 0x1p900;
};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr ValueRange units_of_zeros{infinity, 0};

// Returns the unit that frames use. Values whose unit is above the greatest unit are multiples of that one
// too.
template <class T>
double used_unit(const ValueRange& units) noexcept {
  return std::min(units.least, UnitLimits<T>::greatest);
}

template <class T>
bool fits(const ValueRange& units) noexcept {
  using Limits = UnitLimits<T>;
  return units.least >= Limits::least && units.greatest < used_unit<T>(units) * Limits::coded;
}

// Returns the greatest power of two that a finite value other than 0 is a multiple of.
double unit_of(double value) noexcept {
  int exponent = 0;
  const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(digits)));
}

// Returns the common unit of values and their greatest magnitude. Stops at a value that does not fit.
template <class T>
ValueRange units_of(const T* x, std::size_t n) noexcept {
  ValueRange units = units_of_zeros;
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i]) || (x[i] == 0 && std::signbit(x[i])) || !fits<T>(units)) return no_common_unit;
    if (x[i] != 0) units.merge({unit_of(x[i]), std::abs(static_cast<double>(x[i]))});
  }
  return units;
}

// Sets `greatest` to the greatest magnitude of values and returns true if they are multiples of the unit and
// none is -0.0. Several results are kept side by side, so that compilers vectorise the loop.
template <class T>
bool are_multiples(const T* x, std::size_t n, double common, double& greatest) noexcept {
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr std::size_t lanes = 64 / sizeof(T);
  // Constant whose addition rounds to the nearest integer.
  constexpr T rounding_constant = sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52);
  const T unit = static_cast<T>(common), inverse = static_cast<T>(1 / common);
  T max[lanes] = {}, rests[lanes] = {};
  Word signed_zeros[lanes] = {};
  const auto take = [&](T value, std::size_t lane) {
    const T size = std::abs(value), integer = (value * inverse + rounding_constant) - rounding_constant;
    max[lane] = size > max[lane] ? size : max[lane];
    rests[lane] += std::abs(value - integer * unit);  // becomes NaN if the value is not finite
    signed_zeros[lane] |= std::bit_cast<Word>(value) ^ std::bit_cast<Word>(value + T{0});  // -0.0 + 0 is 0
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) take(x[i + lane], lane);
  for (; i < n; ++i) take(x[i], i % lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (!(rests[lane] == 0) || signed_zeros[lane] != 0) return false;
    greatest = std::max(greatest, static_cast<double>(max[lane]));
  }
  return true;
}

// Finds the unit of a few values, and checks that all values are multiples of it. A chunk that fails the
// check is examined value by value, and lowers the unit.
template <class T>
ValueRange common_unit(const T* x, std::size_t n) noexcept {
  constexpr std::size_t piece_values = 32, chunk = 4096;
  ValueRange units = units_of_zeros;
  const Pieces pieces(n);
  for (std::size_t i = 0; i < pieces.count && fits<T>(units); ++i)
    units.merge(units_of(x + pieces.first(i), std::min(piece_values, pieces.values)));
  for (std::size_t i = 0; i < n && fits<T>(units); i += chunk) {
    const std::size_t values = std::min(chunk, n - i);
    if (!are_multiples(x + i, values, used_unit<T>(units), units.greatest))
      units.merge(units_of(x + i, values));
  }
  return fits<T>(units) ? units : no_common_unit;
}

template <class T>
Bound bound_for(const ValueRange& units, int addends) noexcept {
  const double unit = used_unit<T>(units);
  if (!fits<T>(units) || addends * units.greatest > unit * UnitLimits<T>::exact) return {};
  return {Bound::Kind::snap, unit / 2};
}

}  // namespace

ValueRange common_unit_of(ConstSlice values) noexcept {
  const FloatEnvironment environment;
  const ConstSlice parts{values.components()};
  if (parts.type == DType::f32) return common_unit(static_cast<const float*>(parts.data), parts.count);
  if (parts.type == DType::f64) return common_unit(static_cast<const double*>(parts.data), parts.count);
  return no_common_unit;
}

Bound bound_of_exact_sums(DType type, const ValueRange& units, int addends) noexcept {
  const FloatEnvironment environment;  // the bound must be the same on every rank
  const DType part = component_of(type);
  if (part == DType::f32) return bound_for<float>(units, addends);
  return part == DType::f64 ? bound_for<double>(units, addends) : Bound{};
}

}  // namespace taut
