// Loops of the blocks codec. The compiler turns them into vector code for each instruction set `Set` of
// compressor/simd. `bits`: the rate.
#pragma once

#include "compressor/base/unaligned.hpp"
#include "compressor/codecs/blocks/kernels.hpp"
#include "compressor/codecs/blocks/numbers.hpp"

namespace taut::blocks {
namespace {  // one copy for each kernel set, compiled with its instructions

template <class Set, unsigned bits>
struct Loops {
  static constexpr int max = max_code(bits);
  // True if the set has instructions that convert T.
  template <class T>
  static constexpr bool converts = std::is_same_v<T, f16>&& requires {
    &Set::load_halves;
  };

  // Packs the low `bits` bits of 64 codes: low halves of bytes, then two bits of four codes a byte.
  static void pack(const std::uint8_t* code, std::byte* to) noexcept {
    auto* out = reinterpret_cast<std::uint8_t*>(to);
    if constexpr (bits == 8) {
      std::memcpy(out, code, block_values);
    } else {
      for (unsigned i = 0; i < 32; ++i)
        out[i] = static_cast<std::uint8_t>((code[i] & 15) | (code[32 + i] << 4));
      for (unsigned i = 0; bits == 6 && i < 16; ++i)
        out[32 + i] = static_cast<std::uint8_t>((code[i] >> 4 & 3) | (code[16 + i] >> 4 & 3) << 2 |
                                                (code[32 + i] >> 4 & 3) << 4 | (code[48 + i] >> 4 & 3) << 6);
    }
  }

  // Unpacks 64 codes with their sign.
  static void unpack(const std::byte* from, std::int8_t* code) noexcept {
    const auto* in = reinterpret_cast<const std::uint8_t*>(from);
    if constexpr (bits == 8) {
      std::memcpy(code, in, block_values);
    } else {
      std::uint8_t raw[block_values];
      for (unsigned i = 0; i < 32; ++i) {
        raw[i] = in[i] & 15;
        raw[32 + i] = in[i] >> 4;
      }
      for (unsigned part = 0; bits == 6 && part < 4; ++part)
        for (unsigned i = 0; i < 16; ++i)
          raw[16 * part + i] |= static_cast<std::uint8_t>((in[32 + i] >> (2 * part) & 3) << 4);
      constexpr std::uint8_t sign = 1 << (bits - 1);
      for (unsigned i = 0; i < block_values; ++i) code[i] = static_cast<std::int8_t>((raw[i] ^ sign) - sign);
    }
  }

  // Encodes a block with NaN or infinities. Returns the block's scale, with the flag.
  [[gnu::noinline]] static std::uint16_t encode_specials(const float* x, std::uint8_t* code) noexcept {
    std::uint32_t magnitude = 0;
    for (unsigned i = 0; i < block_values; ++i)
      if (magnitude_bits(x[i]) < infinity_bits) magnitude = std::max(magnitude, magnitude_bits(x[i]));
    const std::uint16_t scale = scale_of(std::bit_cast<float>(magnitude), max - 1);
    for (unsigned i = 0; i < block_values; ++i) code[i] = code_or_special(x[i], scale, max);
    return scale | has_specials;
  }

  // Converts the values of a block to float.
  template <class T>
  [[gnu::always_inline]] static void widen(const T* values, float* x) noexcept {
    if constexpr (converts<T>) {
      for (unsigned i = 0; i < block_values; i += 16)
        Set::store(reinterpret_cast<std::byte*>(x + i),
                   Set::load_halves(reinterpret_cast<const std::byte*>(values + i)));
    } else {
      for (unsigned i = 0; i < block_values; ++i) x[i] = static_cast<float>(values[i]);
    }
  }

  // Converts floats to the values of a block, rounded to nearest even.
  template <class T>
  [[gnu::always_inline]] static void round(const float* x, T* values) noexcept {
    if constexpr (converts<T>) {
      for (unsigned i = 0; i < block_values; i += 16)
        Set::store_halves(reinterpret_cast<std::byte*>(values + i),
                          Set::load(reinterpret_cast<const std::byte*>(x + i)));
    } else {
      for (unsigned i = 0; i < block_values; ++i) values[i] = rounded_to<T>(x[i]);
    }
  }

  template <class T>
  [[gnu::always_inline]] static std::uint16_t encode_block(const T* values, std::byte* to) noexcept {
    alignas(64) float x[block_values];
    alignas(64) std::uint8_t code[block_values];
    std::uint32_t magnitude = 0;
    widen(values, x);
    for (unsigned i = 0; i < block_values; ++i) magnitude = std::max(magnitude, magnitude_bits(x[i]));
    std::uint16_t scale;
    if (magnitude >= infinity_bits) {
      scale = encode_specials(x, code);
    } else {
      scale = scale_of(std::bit_cast<float>(magnitude), max);
      const float divisor = magnitude == 0 ? 1 : scale_value(scale);
      for (unsigned i = 0; i < block_values; ++i) code[i] = code_of(x[i], divisor);
    }
    pack(code, to);
    return scale;
  }

  template <class T>
  static void encode(const T* values, std::size_t blocks, std::byte* scales, std::byte* codes) noexcept {
    for (std::size_t i = 0; i < blocks; ++i)
      scales = store(scales, encode_block(values + i * block_values, codes + i * code_bytes(bits)));
  }

  // Replaces the values of extreme codes by NaN and infinities.
  [[gnu::noinline]] static void restore_specials(const std::int8_t* code, float* x) noexcept {
    for (unsigned i = 0; i < block_values; ++i) x[i] = value_or_special(code[i], x[i], max);
  }

  template <class T>
  [[gnu::always_inline]] static void decode_block(const std::byte* from, std::uint16_t scale,
                                                  T* values) noexcept {
    alignas(64) std::int8_t code[block_values];
    alignas(64) float x[block_values];
    const float factor = scale_value(scale & ~std::uint32_t{has_specials});
    unpack(from, code);
    for (unsigned i = 0; i < block_values; ++i) x[i] = product_of<T>(code[i], factor);
    if ((scale & has_specials) != 0) restore_specials(code, x);
    round(x, values);
  }

  template <class T>
  static bool decode(const std::byte* scales, const std::byte* codes, std::size_t blocks,
                     T* values) noexcept {
    for (std::size_t i = 0; i < blocks; ++i) {
      const auto scale = load<std::uint16_t>(scales + 2 * i);
      if ((scale & ~std::uint32_t{has_specials}) >= infinite_scale) return false;
      decode_block(codes + i * code_bytes(bits), scale, values + i * block_values);
    }
    return true;
  }
};

template <class Set, class T>
constexpr Kernels<T> kernels_for() noexcept {
  return {
      [](const T* values, std::size_t blocks, unsigned bits, std::byte* scales, std::byte* codes) noexcept {
        bits == 8   ? Loops<Set, 8>::encode(values, blocks, scales, codes)
        : bits == 6 ? Loops<Set, 6>::encode(values, blocks, scales, codes)
                    : Loops<Set, 4>::encode(values, blocks, scales, codes);
      },
      [](const std::byte* scales, const std::byte* codes, std::size_t blocks, unsigned bits,
         T* values) noexcept {
        return bits == 8   ? Loops<Set, 8>::decode(scales, codes, blocks, values)
               : bits == 6 ? Loops<Set, 6>::decode(scales, codes, blocks, values)
                           : Loops<Set, 4>::decode(scales, codes, blocks, values);
      }};
}

}  // namespace

template <class Set>
const KernelSet& KernelSet::with() noexcept {
  static constexpr KernelSet set{
      simd::name_of<Set>,
      simd::supported<Set>,
      {kernels_for<Set, float>(), kernels_for<Set, f16>(), kernels_for<Set, bf16>()}};
  return set;
}

}  // namespace taut::blocks
