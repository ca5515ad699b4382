// Packing of numbers of a fixed width in bits, for the sparse form of records (sparse_kernel.hpp).
#pragma once

#include <algorithm>
#include <type_traits>

#include "compressor/codecs/mpc/format.hpp"

namespace taut::mpc {

namespace {  // one copy for each kernel set, compiled with its instructions

// Maximum number of numbers that pack() takes: the words of a chunk, of one byte each.
inline constexpr std::uint32_t max_packed_numbers = chunk_bytes;

// Moves the numbers in the lanes of a quadword, each below 2^width, next to each other, from bit 0 on.
template <class Set, class Lane>
std::uint64_t joined(std::uint64_t x, unsigned width) noexcept {
  if constexpr (requires { Set::extract_bits(x, x); })
    return Set::extract_bits(
        x, ~std::uint64_t{0} / static_cast<Lane>(~Lane{0}) * ((std::uint64_t{1} << width) - 1));
  if constexpr (sizeof(Lane) == 1)
    x = (x & 0x00FF00FF00FF00FF) | (x >> 8 & 0x00FF00FF00FF00FF) << width, width *= 2;
  x = (x & 0x0000FFFF0000FFFF) | (x >> 16 & 0x0000FFFF0000FFFF) << width;
  return (x & 0x00000000FFFFFFFF) | x >> 32 << (2 * width);
}

// Packs the n numbers number(i), each below 2^width, without gaps, from the lowest bit on. Returns the end;
// up to 16 bytes beyond it are overwritten.
template <class Set, class Number>
std::byte* pack(std::uint32_t n, unsigned width, std::byte* to, const Number& number) noexcept {
  std::byte* const end = to + (n * width + 7) / 8;
  if (width == 0) return end;
  if (width > 16) {  // one by one
    std::uint64_t bits = 0;
    unsigned filled = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint64_t x = number(i);
      bits |= x << filled;
      filled += width;
      if (filled < 64) continue;
      to = store(to, bits);
      filled -= 64;
      bits = filled == 0 ? 0 : x >> (width - filled);
    }
    store(to, bits);
    return end;
  }
  // Numbers of up to 16 bits are packed eight at a time, which fill `width` bytes.
  if (width > 8) {
    alignas(64) std::uint16_t lanes[max_packed_numbers / 2 + 8];
    for (std::uint32_t i = 0; i < n; ++i) lanes[i] = static_cast<std::uint16_t>(number(i));
    std::fill(lanes + n, lanes + n + 8, std::uint16_t{0});
    for (std::uint32_t i = 0; i < n; i += 8, to += width) {
      const auto four = [&](unsigned k) {
        return joined<Set, std::uint16_t>(load<std::uint64_t>(reinterpret_cast<std::byte*>(lanes + i + k)),
                                          width);
      };
      const std::uint64_t first = four(0), last = four(4);
      store(to, first);
      store(to + width / 2, width % 2 == 0 ? last : last << 4 | first >> 4 * (width - 1));
    }
    return end;
  }
  alignas(64) std::byte lanes[max_packed_numbers + 8];
  for (std::uint32_t i = 0; i < n; ++i) lanes[i] = static_cast<std::byte>(number(i));
  std::fill(lanes + n, lanes + n + 8, std::byte{0});
  for (std::uint32_t i = 0; i < n; i += 8, to += width)
    store(to, joined<Set, std::uint8_t>(load<std::uint64_t>(lanes + i), width));
  return end;
}

// Returns number i of those that pack() has written. Reads up to 16 bytes from the number on.
template <class Number>
Number packed(const std::byte* from, unsigned width, std::uint32_t i) noexcept {
  const std::uint32_t bit = i * width;
  const unsigned shift = bit % 8;
  std::uint64_t x = load<std::uint64_t>(from + bit / 8) >> shift;
  if constexpr (sizeof(Number) == 8) x |= load<std::uint64_t>(from + bit / 8 + 8) << 1 << (63 - shift);
  return static_cast<Number>(width == 0 ? 0 : x & ~std::uint64_t{0} >> (64 - width));
}

// Returns true if the bits from bit `bits` to the end of its byte are 0.
inline bool ends_in_zeros(const std::byte* from, std::uint32_t bits) noexcept {
  return bits % 8 == 0 || static_cast<unsigned>(from[bits / 8]) >> bits % 8 == 0;
}

}  // namespace
}  // namespace taut::mpc
