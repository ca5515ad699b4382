// NEON: conversion between values of each type and integers. Halves, which are 16-bit floats, are computed in
// float; an unnamed pointer parameter says which type a half has. Integers are rounded to nearest even and
// saturate; NaN becomes 0, unlike on x86, so that callers look for NaN themselves.
#pragma once

#include "compressor/codecs/planes/kernels/kernels.hpp"
#include "compressor/simd/neon.hpp"

namespace taut::planes {
namespace {

using EightInts = int32x4x2_t;
using EightFloats = float32x4x2_t;

// Returns the registers made by of(0) and of(1).
template <class Of>
EightInts each_register(Of of) {
  return {{of(0), of(1)}};
}

inline EightFloats load_floats(const float* x) { return {{vld1q_f32(x), vld1q_f32(x + 4)}}; }
inline EightFloats load_floats(const f16* x) {
  const float16x8_t halves = vreinterpretq_f16_u16(vld1q_u16(reinterpret_cast<const std::uint16_t*>(x)));
  return {{vcvt_f32_f16(vget_low_f16(halves)), vcvt_high_f32_f16(halves)}};
}
inline EightFloats load_floats(const bf16* x) {
  const uint16x8_t upper = vld1q_u16(reinterpret_cast<const std::uint16_t*>(x));
  return {{vreinterpretq_f32_u32(vshll_n_u16(vget_low_u16(upper), 16)),
           vreinterpretq_f32_u32(vshll_high_n_u16(upper, 16))}};
}

// Returns in the upper 16 bits of each lane the bfloat16 nearest to the float; the caller drops the lower 16
// bits. The lower 16 bits of a NaN must be 0; the NaN then stays as it is. A NaN that is a sum of halves is
// quiet and has 0 there; products of integers are no NaN.
inline uint32x4_t rounded_upper(float32x4_t x) {
  const uint32x4_t bits = vreinterpretq_u32_f32(x);
  const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
  return vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7FFF)), odd);
}

// Converts floats to halves, rounded to nearest even.
inline uint16x8_t narrowed(const EightFloats& x, const f16*) {
  return vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(x.val[0]), x.val[1]));
}
inline uint16x8_t narrowed(const EightFloats& x, const bf16*) {
  return vuzp2q_u16(vreinterpretq_u16_u32(rounded_upper(x.val[0])),
                    vreinterpretq_u16_u32(rounded_upper(x.val[1])));
}

// Returns, as a float, the half nearest to each float.
inline float32x4_t rounded(float32x4_t x, const f16*) { return vcvt_f32_f16(vcvt_f16_f32(x)); }
inline float32x4_t rounded(float32x4_t x, const bf16*) {
  return vreinterpretq_f32_u32(vandq_u32(rounded_upper(x), vdupq_n_u32(0xFFFF'0000)));
}

inline EightFloats products(const EightInts& q, float step) {
  return {{vmulq_n_f32(vcvtq_f32_s32(q.val[0]), step), vmulq_n_f32(vcvtq_f32_s32(q.val[1]), step)}};
}

template <bool Add>
void write_values(const EightInts& q, float step, float* to) {
  EightFloats x = products(q, step);
  if constexpr (Add) {
    const EightFloats before = load_floats(to);
    x = {{vaddq_f32(before.val[0], x.val[0]), vaddq_f32(before.val[1], x.val[1])}};
  }
  vst1q_f32(to, x.val[0]);
  vst1q_f32(to + 4, x.val[1]);
}

template <bool Add>
void write_values(const EightInts& q, double step, double* to) {
  for (int h = 0; h < 2; ++h) {
    const int64x2_t wide[] = {vmovl_s32(vget_low_s32(q.val[h])), vmovl_high_s32(q.val[h])};
    for (int k = 0; k < 2; ++k, to += 2) {
      float64x2_t x = vmulq_n_f64(vcvtq_f64_s64(wide[k]), step);
      if constexpr (Add) x = vaddq_f64(vld1q_f64(to), x);
      vst1q_f64(to, x);
    }
  }
}

// Returns y + x with NaN as combine() in values/reduction.hpp defines it: infinity - infinity gives
// indefinite_nan, and a NaN in y stays. x is no NaN.
inline float32x4_t sum_with_number(float32x4_t y, float32x4_t x) {
  const float32x4_t sum = vaddq_f32(y, x), nan = vdupq_n_f32(indefinite_nan<float>);
  const uint32x4_t of_infinities = vbicq_u32(vceqq_f32(y, y), vceqq_f32(sum, sum));
  return vbslq_f32(of_infinities, nan, sum);
}

// Writes the values of integers. With Add, the product is rounded to the half type before the addition, like
// a value that is decoded first.
template <bool Add, class Half>
void write_values(const EightInts& q, float step, Half* to) {
  EightFloats x = products(q, step);
  if constexpr (Add) {
    const EightFloats before = load_floats(to);
    x = {{sum_with_number(before.val[0], rounded(x.val[0], to)),
          sum_with_number(before.val[1], rounded(x.val[1], to))}};
  }
  vst1q_u16(reinterpret_cast<std::uint16_t*>(to), narrowed(x, to));
}

// Writes the values of large integers as halves. One sticky bit replaces the bits far below the last bit of a
// half, so that the float of an integer rounds to the same half as the integer.
template <class Half>
void write_large(const EightInts& q, float step, Half* to) {
  const EightInts jammed = each_register([&](int h) {
    const uint32x4_t v = vreinterpretq_u32_s32(q.val[h]), low = vdupq_n_u32(0xFF);
    const uint32x4_t rest = vandq_u32(vtstq_u32(v, low), vdupq_n_u32(0x80));
    const uint32x4_t big = vcgeq_u32(vreinterpretq_u32_s32(vabsq_s32(q.val[h])), vdupq_n_u32(1 << 24));
    return vreinterpretq_s32_u32(vbslq_u32(big, vorrq_u32(vbicq_u32(v, low), rest), v));
  });
  vst1q_u16(reinterpret_cast<std::uint16_t*>(to), narrowed(products(jammed, step), to));
}

// Quantiser of eight values at a time to 16-bit integers. The minimum and the maximum of the scaled
// values show whether all integers are in the small range. Both are NaN if a value is NaN.
template <class T>
class NeonRounder {
 public:
  explicit NeonRounder(float inverse) : inverse_(inverse) {}

  uint8x16_t operator()(const T* x) {
    const EightFloats values = load_floats(x);
    const int32x4_t low = to_integers(values.val[0]), high = to_integers(values.val[1]);
    return vreinterpretq_u8_s16(vuzp1q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high)));
  }

  bool small() const {  // ties are rounded to even
    return vminvq_f32(min_) >= -0x1p14F - 0.5F && vmaxvq_f32(max_) < 0x1p14F - 0.5F;
  }

 private:
  int32x4_t to_integers(float32x4_t x) {
    const float32x4_t scaled = vmulq_n_f32(x, inverse_);
    min_ = vminq_f32(min_, scaled);
    max_ = vmaxq_f32(max_, scaled);
    return vcvtnq_s32_f32(scaled);
  }

  float inverse_;
  float32x4_t min_ = vdupq_n_f32(0), max_ = vdupq_n_f32(0);
};

template <>
class NeonRounder<double> {
 public:
  explicit NeonRounder(double inverse) : inverse_(inverse) {}

  uint8x16_t operator()(const double* x) {
    const int32x4_t low = to_integers(x), high = to_integers(x + 4);
    return vreinterpretq_u8_s16(vuzp1q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high)));
  }

  bool small() const { return vminvq_f64(min_) >= -0x1p14 - 0.5 && vmaxvq_f64(max_) < 0x1p14 - 0.5; }

 private:
  int32x4_t to_integers(const double* x) {
    const int64x2_t low = two(x), high = two(x + 2);
    return vuzp1q_s32(vreinterpretq_s32_s64(low), vreinterpretq_s32_s64(high));
  }
  int64x2_t two(const double* x) {
    const float64x2_t scaled = vmulq_n_f64(vld1q_f64(x), inverse_);
    min_ = vminq_f64(min_, scaled);
    max_ = vmaxq_f64(max_, scaled);
    return vcvtnq_s64_f64(scaled);
  }

  double inverse_;
  float64x2_t min_ = vdupq_n_f64(0), max_ = vdupq_n_f64(0);
};

}  // namespace
}  // namespace taut::planes
