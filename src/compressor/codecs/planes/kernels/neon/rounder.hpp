// NEON: quantisation of eight values to 16-bit integers. Included by registers.hpp only.
#pragma once

#include "compressor/codecs/planes/kernels/neon/values.hpp"

namespace taut::planes {
namespace {

// Quantiser of eight values at a time to 16-bit integers. The least and the greatest scaled value show
// whether all integers are in the small range. They show NaN too, because the minimum and the maximum of NaN
// and a number are NaN.
template <class T>
class NeonRounder {
 public:
  explicit NeonRounder(float inverse) : inverse_(inverse) {}

  uint8x16_t operator()(const T* x) {
    const EightFloats values = eight(x);
    const int32x4_t low = rounded(values.val[0]), high = rounded(values.val[1]);
    return vreinterpretq_u8_s16(vuzp1q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high)));
  }

  bool small() const {  // ties are rounded to even
    return vminvq_f32(least_) >= -0x1p14F - 0.5F && vmaxvq_f32(greatest_) < 0x1p14F - 0.5F;
  }

 private:
  int32x4_t rounded(float32x4_t x) {
    const float32x4_t scaled = vmulq_n_f32(x, inverse_);
    least_ = vminq_f32(least_, scaled);
    greatest_ = vmaxq_f32(greatest_, scaled);
    return vcvtnq_s32_f32(scaled);
  }

  float inverse_;
  float32x4_t least_ = vdupq_n_f32(0), greatest_ = vdupq_n_f32(0);
};

template <>
class NeonRounder<double> {
 public:
  explicit NeonRounder(double inverse) : inverse_(inverse) {}

  uint8x16_t operator()(const double* x) {
    const int32x4_t low = rounded(x), high = rounded(x + 4);
    return vreinterpretq_u8_s16(vuzp1q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high)));
  }

  bool small() const { return vminvq_f64(least_) >= -0x1p14 - 0.5 && vmaxvq_f64(greatest_) < 0x1p14 - 0.5; }

 private:
  int32x4_t rounded(const double* x) {
    const int64x2_t low = two(x), high = two(x + 2);
    return vuzp1q_s32(vreinterpretq_s32_s64(low), vreinterpretq_s32_s64(high));
  }
  int64x2_t two(const double* x) {
    const float64x2_t scaled = vmulq_n_f64(vld1q_f64(x), inverse_);
    least_ = vminq_f64(least_, scaled);
    greatest_ = vmaxq_f64(greatest_, scaled);
    return vcvtnq_s64_f64(scaled);
  }

  double inverse_;
  float64x2_t least_ = vdupq_n_f64(0), greatest_ = vdupq_n_f64(0);
};

}  // namespace
}  // namespace taut::planes
