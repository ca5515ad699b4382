// The loops of the blocks codec. The compiler turns them into vector code for each instruction set.
#pragma once

#include <limits>

#include "compressor/base/unaligned.hpp"
#include "compressor/codecs/blocks/kernels.hpp"

namespace taut::blocks {
namespace {  // one copy for each kernel set, compiled with its instructions

// Returns the greatest finite number of a type.
template <class T>
constexpr float greatest_of() noexcept {
  if constexpr (std::is_same_v<T, f16>)
    return 65504;
  else if constexpr (std::is_same_v<T, bf16>)
    return std::bit_cast<float>(0x7F7F0000u);
  else
    return std::numeric_limits<float>::max();
}

// Returns the number of T next to x, which is at most the greatest one, infinite, or a NaN without low bits.
template <class T>
T rounded_to(float x) noexcept {
  if constexpr (std::is_same_v<T, bf16>) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return bf16::of_bits(static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16));
  } else {
    return static_cast<T>(x);
  }
}

inline float scale_value(std::uint32_t scale) noexcept { return std::bit_cast<float>(scale << 16); }

// Returns the scale of a block whose greatest magnitude is `most`: the least scale of 8 significant bits by
// which `greatest` times the scale reaches `most`, and above 0 if `most` is.
inline std::uint16_t scale_of(float most, int greatest) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(most / static_cast<float>(greatest));
  const std::uint32_t scale = (bits + 0xFFFF) >> 16;
  return static_cast<std::uint16_t>(scale == 0 && most > 0 ? 1 : scale);
}

// Number whose addition rounds a number of at most 2^22 to an integer, which the low bits then are.
inline constexpr float rounding = 0x1.8p23F;

template <class Set, unsigned bits>
struct Loops {
  static constexpr int greatest = greatest_code(bits);

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

  static std::uint8_t code_of(float x, float scale) noexcept {
    return static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(x / scale + rounding));
  }

  // Encodes a block with NaN or infinities. Returns its scale.
  [[gnu::noinline]] static std::uint16_t encode_specials(const float* x, std::uint8_t* code) noexcept {
    constexpr std::uint32_t infinity = 0x7F800000;
    std::uint32_t most = 0;
    for (unsigned i = 0; i < block_values; ++i) {
      const std::uint32_t size = std::bit_cast<std::uint32_t>(x[i]) & ~0u >> 1;
      if (size < infinity) most = std::max(most, size);
    }
    const std::uint16_t scale = scale_of(std::bit_cast<float>(most), greatest - 1);
    for (unsigned i = 0; i < block_values; ++i) {
      const std::uint32_t size = std::bit_cast<std::uint32_t>(x[i]) & ~0u >> 1;
      const int special = size > infinity ? -greatest - 1 : x[i] < 0 ? -greatest : greatest;
      code[i] = size >= infinity ? static_cast<std::uint8_t>(special)
                : scale == 0     ? std::uint8_t{0}
                                 : code_of(x[i], scale_value(scale));
    }
    return scale | has_specials;
  }

  template <class T>
  [[gnu::always_inline]] static std::uint16_t encode_block(const T* values, std::byte* to) noexcept {
    alignas(64) float x[block_values];
    alignas(64) std::uint8_t code[block_values];
    std::uint32_t most = 0;
    for (unsigned i = 0; i < block_values; ++i) x[i] = static_cast<float>(values[i]);
    for (unsigned i = 0; i < block_values; ++i)
      most = std::max(most, std::bit_cast<std::uint32_t>(x[i]) & ~0u >> 1);
    std::uint16_t scale;
    if (most >= 0x7F800000) {
      scale = encode_specials(x, code);
    } else {
      scale = scale_of(std::bit_cast<float>(most), greatest);
      const float divisor = most == 0 ? 1 : scale_value(scale);
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

  [[gnu::noinline]] static void restore_specials(const std::int8_t* code, float* x) noexcept {
    for (unsigned i = 0; i < block_values; ++i) {
      if (code[i] == -greatest - 1) x[i] = std::numeric_limits<float>::quiet_NaN();
      if (code[i] == greatest) x[i] = std::numeric_limits<float>::infinity();
      if (code[i] == -greatest) x[i] = -std::numeric_limits<float>::infinity();
    }
  }

  // A product beyond the greatest number of the type becomes this number.
  template <class T>
  [[gnu::always_inline]] static void decode_block(const std::byte* from, std::uint16_t scale,
                                                  T* values) noexcept {
    alignas(64) std::int8_t code[block_values];
    alignas(64) float x[block_values];
    constexpr float most = greatest_of<T>();
    const float by = scale_value(scale & ~std::uint32_t{has_specials});
    unpack(from, code);
    for (unsigned i = 0; i < block_values; ++i) {
      const float product = static_cast<float>(code[i]) * by, low = product < -most ? -most : product;
      x[i] = low > most ? most : low;
    }
    if ((scale & has_specials) != 0) restore_specials(code, x);
    for (unsigned i = 0; i < block_values; ++i) values[i] = rounded_to<T>(x[i]);
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
  static constexpr KernelSet set{simd::name_of<Set>, simd::supported<Set>, kernels_for<Set, float>(),
                                 kernels_for<Set, f16>(), kernels_for<Set, bf16>()};
  return set;
}

}  // namespace taut::blocks
