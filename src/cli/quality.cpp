#include "cli/quality.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace taut::cli {
namespace {

// Sums over a run of values, in several lanes, so that compilers generate vector code.
constexpr std::size_t lanes = 8;
struct Sums {
  double max_error[lanes] = {}, square_sum[lanes] = {};
  std::uint64_t counted[lanes] = {}, beyond[lanes] = {};
};

// Returns |x - y| as a double. 64-bit integers are subtracted as integers, because doubles cannot represent
// them all.
template <class T>
double distance(T x, T y) noexcept {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    const auto difference = static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y);
    return static_cast<double>(x < y ? 0 - difference : difference);
  } else {
    return std::fabs(static_cast<double>(x) - static_cast<double>(y));
  }
}

// Compares real values. The allowed error is `absolute` plus `relative` times the value; one of the two is 0.
template <class T>
void compare_reals(const T* original, const T* decoded, std::size_t n, double absolute, double relative,
                   std::optional<double> fill, Sums& sums) noexcept {
  double excluded = fill.value_or(0);
  if constexpr (!std::is_integral_v<T>) excluded = static_cast<double>(static_cast<T>(excluded));
  const bool has_fill = fill.has_value();
  const auto take = [&](std::size_t i, std::size_t lane) {
    const double x = static_cast<double>(original[i]), y = static_cast<double>(decoded[i]);
    const bool finite = x - x == 0;
    const double error = finite ? distance(original[i], decoded[i]) : 0;
    const bool same = (x == y) | ((x != x) & (y != y));
    const bool kept = finite ? error <= absolute + relative * std::fabs(x) : same;
    const bool counts = finite & !(has_fill & (x == excluded));
    sums.beyond[lane] += kept ? 0 : 1;
    sums.max_error[lane] = error > sums.max_error[lane] ? error : sums.max_error[lane];
    sums.square_sum[lane] += counts ? error * error : 0;
    sums.counted[lane] += counts ? 1 : 0;
  };
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) take(i + lane, lane);
  for (; i < n; ++i) take(i, i % lanes);
}

// Returns the number of values that differ in a bit.
std::uint64_t differing(ConstSlice original, ConstSlice decoded) noexcept {
  const ConstBytes x = original.as_bytes(), y = decoded.as_bytes();
  if (std::ranges::equal(x, y)) return 0;
  const std::size_t size = size_of(original.type);
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < x.size(); i += size)
    n += std::memcmp(x.data() + i, y.data() + i, size) == 0 ? 0 : 1;
  return n;
}

}  // namespace

void Quality::compare(ConstSlice original, ConstSlice decoded) {
  range_.merge(range_of(original, fill_));
  const bool pointwise = bound_.kind == Bound::Kind::pointwise, free = bound_.kind == Bound::Kind::rate;
  const double absolute = pointwise ? 0 : free ? std::numeric_limits<double>::infinity() : bound_.value;
  Sums sums;
  with_component(original.type, [&]<class T>() {
    compare_reals(static_cast<const T*>(original.data), static_cast<const T*>(decoded.data),
                  original.count * components_of(original.type), absolute, pointwise ? bound_.value : 0,
                  fill_, sums);
  });
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    max_error_ = std::max(max_error_, sums.max_error[lane]);
    square_sum_ += sums.square_sum[lane];
    counted_ += sums.counted[lane];
    if (!bound_.exact()) beyond_ += sums.beyond[lane];
  }
  if (bound_.exact()) beyond_ += differing(original, decoded);
}

double Quality::range_width() const noexcept {
  return range_.least < range_.greatest ? range_.greatest - range_.least : 0;
}

double Quality::rmse() const noexcept {
  return counted_ == 0 ? 0 : std::sqrt(square_sum_ / static_cast<double>(counted_));
}

double Quality::nrmse() const noexcept { return rmse() / range_width(); }

double Quality::psnr() const noexcept {
  const double error = rmse();
  return error == 0 ? std::numeric_limits<double>::infinity() : 20 * std::log10(range_width() / error);
}

}  // namespace taut::cli
