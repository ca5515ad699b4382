// Quality of decoded values: greatest error, PSNR and NRMSE, and the number of values beyond the bound.
#pragma once

#include <optional>

#include "compressor/values/bound.hpp"
#include "compressor/values/value_range.hpp"

namespace taut::cli {

// PSNR and NRMSE as in Tao et al., "Z-checker", IJHPCA 33 (2019), section 3: with the range of the original
// values (greatest - least) and the root of the mean square error, 20 log10(range / rmse) and rmse / range.
// Values that are not finite, and values equal to `fill`, are left out of both figures. Each part of a
// complex value counts as one value.
class Quality {
 public:
  Quality(Bound bound, std::optional<double> fill) : bound_(bound), fill_(fill) {}

  void compare(ConstSlice original, ConstSlice decoded);

  // Greatest error of finite values, including those equal to `fill`.
  double max_error() const noexcept { return max_error_; }
  const ValueRange& range() const noexcept { return range_; }
  double range_width() const noexcept;  // 0 if there is no finite value
  double rmse() const noexcept;
  double nrmse() const noexcept;  // NaN if the range is 0
  double psnr() const noexcept;   // infinite if nothing was lost

  // Number of values beyond the bound, including NaN and infinities that were not restored as such. The
  // comparison uses values rounded to double; as rounding is monotone, no value within the bound is ever
  // counted.
  std::uint64_t beyond() const noexcept { return beyond_; }

 private:
  Bound bound_;
  std::optional<double> fill_;
  ValueRange range_;
  double max_error_ = 0, square_sum_ = 0;
  std::uint64_t counted_ = 0, beyond_ = 0;
};

}  // namespace taut::cli
