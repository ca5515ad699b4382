// NEON: operations of width_loops.hpp on the widths of 16 blocks, which are in one register.
#pragma once

#include "compressor/codecs/planes/kernels/width_loops.hpp"
#include "compressor/simd/neon.hpp"

namespace taut::planes {
namespace {

struct Widths16 {
  using Type = uint8x16_t;

  static Type zero() { return vdupq_n_u8(0); }
  static Type load(const void* from) { return vld1q_u8(static_cast<const std::uint8_t*>(from)); }
  static void store(void* to, Type v) { vst1q_u8(static_cast<std::uint8_t*>(to), v); }
  static Type max(Type a, Type b) { return vmaxq_u8(a, b); }

  // Sums as 16-bit numbers: a lane adds 64 widths of at most 255.
  static Type partial_sums(Type v) { return vreinterpretq_u8_u16(vpaddlq_u8(v)); }
  static Type add(Type a, Type b) {
    return vreinterpretq_u8_u16(vaddq_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
  }
  static std::size_t reduce_add(Type v) { return vaddlvq_u16(vreinterpretq_u16_u8(v)); }

  static unsigned reduce_max(Type v) { return vmaxvq_u8(v); }
  static Type bit_xor(Type a, Type b) { return veorq_u8(a, b); }
  static Type splat(unsigned width) { return vdupq_n_u8(static_cast<std::uint8_t>(width)); }
  static std::size_t count_nonzero(Type v) { return vaddvq_u8(vminq_u8(v, vdupq_n_u8(1))); }

  static Type load_nibbles(const std::byte* from) {
    const uint8x8_t pairs = vld1_u8(reinterpret_cast<const std::uint8_t*>(from));
    const uint8x8_t even = vand_u8(pairs, vdup_n_u8(15)), odd = vshr_n_u8(pairs, 4);
    return vcombine_u8(vzip1_u8(even, odd), vzip2_u8(even, odd));
  }
  static void store_nibbles(std::byte* to, Type v) {
    const uint16x8_t pairs = vreinterpretq_u16_u8(v);
    vst1_u8(reinterpret_cast<std::uint8_t*>(to), vmovn_u16(vsraq_n_u16(pairs, pairs, 4)));  // even + 16 * odd
  }
};

struct NeonWidths : RegisterLoops<Widths16>, BitmapLoops {
  static std::uint64_t mask(const std::uint8_t* widths) {
    return simd::Neon::nonzero_mask(simd::Neon::load(reinterpret_cast<const std::byte*>(widths)));
  }
};

}  // namespace
}  // namespace taut::planes
