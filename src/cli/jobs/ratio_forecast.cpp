#include "cli/jobs/ratio_forecast.hpp"

#include <algorithm>
#include <cmath>

#include "communication/policy/plan/cost_model.hpp"

namespace taut::cli {
namespace {

constexpr std::size_t lossy = Compressibility::bounds - 1;  // number of sampled bounds that are not exact

bool sums(const SeenCalls& seen) noexcept { return reduces(seen.collective) && seen.op == Reduction::sum; }

// Returns the bound as a fraction of the range of the values; 0 if it is none.
double fraction_of_range(Bound bound, const SeenCalls& seen) noexcept {
  switch (bound.kind) {
    case Bound::Kind::range: return bound.value;
    case Bound::Kind::psnr: return std::pow(10, -bound.value / 20);
    case Bound::Kind::absolute:
    case Bound::Kind::snap: break;
    default: return 0;
  }
  if (seen.least > seen.greatest) return 0;
  const double range = seen.greatest - seen.least;
  return range > 0 ? bound.value / range : 1;
}

double bits_a_number(const SeenCalls& seen) noexcept {
  return 8.0 * info_of(info_of(seen.type).component).bytes;
}

// Returns the ratio under a bound below the sampled ones: a bit more for each halving.
double ratio_below(std::span<const double> ratios, double fraction, double bits) noexcept {
  const double coded = bits / ratios.back() + std::log2(Compressibility::relative[lossy - 1] / fraction);
  return bits / std::min(coded, bits);
}

// Returns the time of encoding at the two sampled bounds beside a share of the range, the longer one.
double seconds_near(std::span<const double> seconds, double share) noexcept {
  std::size_t i = 0;
  while (i + 1 < seconds.size() && share < Compressibility::relative[i]) ++i;
  return i == 0 ? seconds[0] : std::max(seconds[i - 1], seconds[i]);
}

RatioForecast without_loss(const SeenCalls& seen) noexcept {
  if (sums(seen)) return {};
  return {seen.ratios[lossy], seen.seconds_a_byte[lossy]};
}

}  // namespace

RatioForecast forecast_ratio(const SeenCalls& seen, const AskedBound& asked, int ranks) noexcept {
  const Bound bound = asked.bound;
  const std::span seconds(seen.seconds_a_byte.data(), lossy);
  if (bound.exact() || bound.kind == Bound::Kind::pointwise) return without_loss(seen);
  if (bound.kind == Bound::Kind::rate) {
    if (reduces(seen.collective) && !asked.names_codec) return {};
    const double slowest = *std::max_element(seconds.begin(), seconds.end());
    return {std::max(bits_a_number(seen) / bound.value, 1.0), slowest};
  }
  const std::span ratios(seen.ratios.data(), lossy);
  const double share = fraction_of_range(bound, seen) / (sums(seen) && !asked.on_input ? ranks : 1);
  if (share <= 0 || std::ranges::find(ratios, 0.0) != ratios.end()) return {};
  const double known = ratio_between(Compressibility::relative, ratios, share);
  return {known > 0 ? known : ratio_below(ratios, share, bits_a_number(seen)), seconds_near(seconds, share)};
}

}  // namespace taut::cli
