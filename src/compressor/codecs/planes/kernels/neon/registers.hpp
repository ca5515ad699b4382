// NEON: registers for bit slices, with the operations that slices.hpp lists. Included by kernel_set.cpp only.
#pragma once

#include "compressor/codecs/planes/kernels/neon/values.hpp"
#include "compressor/codecs/planes/kernels/neon/widths.hpp"

namespace taut::planes {
namespace {

struct NeonRegisters {
  using Register = uint8x16_t;
  using Words = int16x8_t;
  using Ints = EightInts;
  using Widths = NeonWidths;
  static constexpr std::size_t lanes = 1;
  template <class T>
  using Rounder = NeonRounder<T>;

  static Register load(const void* from) { return vld1q_u8(static_cast<const std::uint8_t*>(from)); }
  static void store(void* to, Register v) { vst1q_u8(static_cast<std::uint8_t*>(to), v); }
  static Words load_words(const void* from) { return vreinterpretq_s16_u8(load(from)); }
  static Register load_blocks(const void* from, std::size_t) { return load(from); }
  static Register splat8(unsigned byte) { return vdupq_n_u8(static_cast<std::uint8_t>(byte)); }
  static Register splat16(unsigned word) {
    return vreinterpretq_u8_u16(vdupq_n_u16(static_cast<std::uint16_t>(word)));
  }
  static bool any(Register v) { return vmaxvq_u8(v) != 0; }

  template <class Element>
  [[gnu::always_inline]] static Register zip_low(Register a, Register b) {
    if constexpr (sizeof(Element) == 1) return vzip1q_u8(a, b);
    if constexpr (sizeof(Element) == 2)
      return vreinterpretq_u8_u16(vzip1q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
    return vreinterpretq_u8_u64(vzip1q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)));
  }
  template <class Element>
  [[gnu::always_inline]] static Register zip_high(Register a, Register b) {
    if constexpr (sizeof(Element) == 1) return vzip2q_u8(a, b);
    if constexpr (sizeof(Element) == 2)
      return vreinterpretq_u8_u16(vzip2q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
    return vreinterpretq_u8_u64(vzip2q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b)));
  }
  static Register zip_halves(Register v) { return vzip1q_u8(v, vextq_u8(v, v, 8)); }

  static Register add_bytes(Register a, Register b) { return vaddq_u8(a, b); }
  static Register add_words(Register a, Register b) { return of_words(vaddq_s16(as_words(a), as_words(b))); }
  static Register subtract_words(Register a, Register b) {
    return of_words(vsubq_s16(as_words(a), as_words(b)));
  }
  static Register equal_zero(Register v) { return vceqzq_u8(v); }
  static Register less_than_zero(Register v) { return vcltzq_s8(vreinterpretq_s8_u8(v)); }

  static Register pack_words(Register a, Register b) { return vuzp1q_u8(a, b); }
  static Register even_bytes(Register a, Register b) { return vuzp1q_u8(a, b); }
  static Register odd_bytes(Register a, Register b) { return vuzp2q_u8(a, b); }

  // Hacker's Delight, 2nd ed., section 7-3, by insertions of shifted bits.
  static void transpose8x8(Register* v) {
    const Register odd_pairs = splat8(0x33), odd_bits = splat8(0x55);
    for (unsigned i = 0; i < 8; i += 2) {
      const Register a = v[i], b = v[i + 1];
      v[i] = vbslq_u8(odd_bits, a, vshlq_n_u8(b, 1));
      v[i + 1] = vbslq_u8(odd_bits, vshrq_n_u8(a, 1), b);
    }
    for (const unsigned i : {0, 1, 4, 5}) {
      const Register a = v[i], b = v[i + 2];
      v[i] = vbslq_u8(odd_pairs, a, vshlq_n_u8(b, 2));
      v[i + 2] = vbslq_u8(odd_pairs, vshrq_n_u8(a, 2), b);
    }
    for (unsigned i = 0; i < 4; ++i) {
      const Register a = v[i], b = v[i + 4];
      v[i] = vsliq_n_u8(a, b, 4);
      v[i + 4] = vsriq_n_u8(b, a, 4);
    }
  }

  static void shuffle_bytes(void* to, const void* from, const void* shuffle) {
    store(to, vqtbl1q_u8(load(from), load(shuffle)));
  }
  static void widths_of_pairs(const std::uint8_t* widths, std::uint16_t* offsets, std::uint16_t* sums) {
    const uint8x16x2_t w = vld2q_u8(widths);
    const auto eight = [&](uint8x8_t first, uint8x8_t second, std::size_t at) {
      const uint16x8_t sum = vaddl_u8(first, second);  // 9 first + second = sum + 8 first
      vst1q_u16(offsets + at, vshlq_n_u16(vaddq_u16(sum, vshll_n_u8(first, 3)), 4));
      vst1q_u16(sums + at, sum);
    };
    eight(vget_low_u8(w.val[0]), vget_low_u8(w.val[1]), 0);
    eight(vget_high_u8(w.val[0]), vget_high_u8(w.val[1]), 8);
  }
  static void widths_of_blocks(const std::uint8_t* widths, std::uint16_t* offsets, std::uint16_t* sums) {
    for (std::size_t i = 0; i < 16; i += 8) {
      const uint8x8_t w = vld1_u8(widths + i);
      vst1q_u16(offsets + i, vshll_n_u8(w, 4));
      vst1q_u16(sums + i, vmovl_u8(w));
    }
  }

  static Register prefix_sums(Register v) {
    v = add_words(v, vextq_u8(splat8(0), v, 14));
    v = add_words(v, vextq_u8(splat8(0), v, 12));
    return add_words(v, vextq_u8(splat8(0), v, 8));
  }
  template <std::size_t>
  static Words lane(Register v) {
    return as_words(v);
  }
  template <std::size_t>
  static std::int16_t last(Register v) {
    return vgetq_lane_s16(as_words(v), 7);
  }

  static Ints widen(Words words) { return {{vmovl_s16(vget_low_s16(words)), vmovl_high_s16(words)}}; }
  static Ints plus(Words words, std::int32_t i) {
    const int32x4_t all = vdupq_n_s32(i);
    return {{vaddw_s16(all, vget_low_s16(words)), vaddw_high_s16(all, words)}};
  }
  template <class IntsAt>
  static void store_packed(std::int16_t* to, std::size_t first, const IntsAt& ints_at) {
    const Ints q = ints_at(first);
    vst1q_s16(to, vqmovn_high_s32(vqmovn_s32(q.val[0]), q.val[1]));
  }

  static Ints load_ints(const std::int32_t* from) { return {{vld1q_s32(from), vld1q_s32(from + 4)}}; }
  static void store_ints(std::int32_t* to, const Ints& q) {
    vst1q_s32(to, q.val[0]);
    vst1q_s32(to + 4, q.val[1]);
  }
  static void store_first_two(std::int32_t* to, const Ints& q) { vst1_s32(to, vget_low_s32(q.val[0])); }
  static Ints splat32(std::int32_t i) { return {{vdupq_n_s32(i), vdupq_n_s32(i)}}; }
  static Ints splat_pair(std::int32_t even, std::int32_t odd) {
    const int32x4_t four = vzip1q_s32(vdupq_n_s32(even), vdupq_n_s32(odd));
    return {{four, four}};
  }
  static Ints add(const Ints& a, const Ints& b) {
    return each_register([&](int h) { return vaddq_s32(a.val[h], b.val[h]); });
  }
  static Ints subtract(const Ints& a, const Ints& b) {
    return each_register([&](int h) { return vsubq_s32(a.val[h], b.val[h]); });
  }
  static Ints bit_or(const Ints& a, const Ints& b) {
    return each_register([&](int h) { return vorrq_s32(a.val[h], b.val[h]); });
  }
  static bool all_below_16_bits(const Ints& q) {
    return vmaxvq_u32(vreinterpretq_u32_s32(vorrq_s32(q.val[0], q.val[1]))) >> 16 == 0;
  }

  template <std::size_t lag>
  static Ints prefix_sums_over(const Ints& q) {
    const auto four = [](int32x4_t v) {
      if constexpr (lag == 1) v = vaddq_s32(v, vextq_s32(vdupq_n_s32(0), v, 3));
      return vaddq_s32(v, vextq_s32(vdupq_n_s32(0), v, 2));
    };
    const int32x4_t low = four(q.val[0]);
    return {{low, vaddq_s32(four(q.val[1]), end_of<lag>(low))}};
  }
  template <std::size_t lag>
  static Ints broadcast_last(const Ints& q) {
    const int32x4_t end = end_of<lag>(q.val[1]);
    return {{end, end}};
  }

  template <bool add, class T, class Step>
  static void put(const Ints& q, Step step, T* to) {
    write_values<add>(q, step, to);
  }
  template <class Half>
  static void put_large(const Ints& q, float step, Half* to) {
    write_large(q, step, to);
  }

 private:
  static Words as_words(Register v) { return vreinterpretq_s16_u8(v); }
  static Register of_words(Words v) { return vreinterpretq_u8_s16(v); }

  // Returns, for each position, the last integer at a multiple of the lag from it.
  template <std::size_t lag>
  static int32x4_t end_of(int32x4_t v) {
    if constexpr (lag == 1) return vdupq_laneq_s32(v, 3);
    return vreinterpretq_s32_s64(vdupq_laneq_s64(vreinterpretq_s64_s32(v), 1));
  }
};

}  // namespace
}  // namespace taut::planes
