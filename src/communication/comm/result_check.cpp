#include "communication/comm/result_check.hpp"

#include <cmath>
#include <limits>

#include "compressor/base/float_environment.hpp"

namespace taut {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The difference of two numbers is rounded to a double.
constexpr double rounding_of_difference = 1 + 0x1p-50;

template <class Number>
double as_double(Number x) noexcept {
  if constexpr (std::is_integral_v<Number>)
    return static_cast<double>(x);
  else
    return static_cast<double>(static_cast<ComputedIn<Number>>(x));
}

// Returns |b - a|, 0 for two NaN or equal infinities, and infinity if one of the two alone is finite.
template <class Number>
double difference(Number a, Number b) noexcept {
  const double x = as_double(a), y = as_double(b);
  if constexpr (std::is_integral_v<Number>) return a == b ? 0 : std::max(1.0, std::fabs(x - y));
  if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
  return std::isfinite(x) && std::isfinite(y) ? std::fabs(x - y) : infinity;
}

// Returns half an ulp of 1.
double unit_roundoff(DType type) noexcept {
  switch (component_of(type)) {
    case DType::f32: return 0x1p-24;
    case DType::f64: return 0x1p-53;
    case DType::f16: return 0x1p-11;
    case DType::bf16: return 0x1p-8;
    default: return 0;
  }
}

// Returns the number of a bound; infinity for a rate, which bounds nothing.
double limit_of(const Bound& bound) noexcept {
  return bound.kind == Bound::Kind::rate ? infinity : bound.value;
}

}  // namespace

double GreatestError::share() const noexcept {
  if (error == 0 || bound == infinity) return 0;
  return bound == 0 ? infinity : error / bound;
}

void GreatestError::merge(const GreatestError& other) noexcept {
  const double mine = share(), theirs = other.share();
  if (theirs > mine || (theirs == mine && other.error > error) || (error == 0 && bound == 0)) *this = other;
}

ResultChecks& ResultChecks::operator+=(const ResultChecks& other) noexcept {
  if (other.calls != 0) greatest.merge(other.greatest);
  calls += other.calls;
  calls_over_bound += other.calls_over_bound;
  nanoseconds += other.nanoseconds;
  return *this;
}

ResultComparison::ResultComparison(const Promise& promise, double rounding) noexcept
    : promise_(promise), rounding_(rounding) {
  if (promise.bound.kind != Bound::Kind::pointwise) greatest_.bound = limit_of(promise.bound);
}

// The parts of a complex value have a bound each. Sums have no pointwise bound, so roundings count under
// absolute bounds alone.
template <class Number>
void ResultComparison::add_numbers(const void* plain, const void* served, std::size_t n,
                                   std::size_t parts) noexcept {
  const auto* const a = static_cast<const Number*>(plain);
  const auto* const b = static_cast<const Number*>(served);
  const bool pointwise = promise_.bound.kind == Bound::Kind::pointwise;
  const double value = limit_of(promise_.bound);
  for (std::size_t i = 0; i < n; ++i) {
    const double error = difference(a[i], b[i]);
    if (error == 0) continue;
    const double bound = pointwise ? value * std::fabs(as_double(a[i])) : value;
    greatest_.merge({error, bound, elements_ + i / parts});
    over_bound_ |= error > (bound + rounding_) * rounding_of_difference;
  }
}

void ResultComparison::add(ConstSlice plain, ConstSlice served) noexcept {
  const FloatEnvironment environment;  // differences must not trap
  const std::size_t parts = components_of(plain.type), n = plain.count * parts;
  with_component(plain.type, [&]<class T>() { add_numbers<T>(plain.data, served.data, n, parts); });
  elements_ += plain.count;
}

void ResultComparison::count(ResultChecks& sums, std::uint64_t nanoseconds) const noexcept {
  sums += {1, over_bound_ && promise_.certain, nanoseconds, greatest_};
}

// The draw is the upper half of a product, as in Fibonacci hashing.
bool is_checked(std::uint64_t number, int one_in) noexcept {
  if (one_in == 0) return false;
  const std::uint64_t drawn = number * 0x9E3779B97F4A7C15 >> 32;
  return number == 0 || drawn % static_cast<std::uint64_t>(one_in) == 0;
}

double rounding_of_sums(DType type, int ranks, double magnitude) noexcept {
  return 2 * ranks * unit_roundoff(type) * magnitude;
}

double greatest_magnitude(ConstSlice values) noexcept {
  const ValueRange range = range_of(values, {});
  return range.least > range.greatest ? 0 : std::max(std::fabs(range.least), std::fabs(range.greatest));
}

}  // namespace taut
