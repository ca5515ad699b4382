// How far decoded values are from the original ones, and whether they keep to the bound.
#pragma once

#include <optional>

#include "core/bound.hpp"
#include "core/value_range.hpp"

namespace taut::cli {

// PSNR and NRMSE as in Tao et al., "Z-checker", IJHPCA 33 (2019), section 3: with the range of the original
// values (greatest - least) and the root of the mean square error, 20 log10(range / rmse) and rmse / range.
// Values that are not finite, and those equal to `fill`, count in neither; of complex values each part counts
// as one.
class Quality {
 public:
  Quality(Bound bound, std::optional<double> fill) : bound_(bound), fill_(fill) {}

  void compare(ConstSlice original, ConstSlice decoded);

  double max_error() const noexcept { return max_error_; }  // of finite values, those equal to `fill` too
  const ValueRange& range() const noexcept { return range_; }
  double range_width() const noexcept;  // 0: no finite value
  double rmse() const noexcept;
  double nrmse() const noexcept;  // NaN where the range is 0
  double psnr() const noexcept;   // infinite where nothing was lost

  // Values beyond the bound; NaN and infinities that did not come back as such are. What is compared is
  // rounded to double; as rounding is monotone, no value within the bound is ever counted.
  std::uint64_t beyond() const noexcept { return beyond_; }

 private:
  Bound bound_;
  std::optional<double> fill_;
  ValueRange range_;
  double max_error_ = 0, square_sum_ = 0;
  std::uint64_t counted_ = 0, beyond_ = 0;
};

}  // namespace taut::cli
