// Bit patterns of a value type: all patterns if that is feasible, else patterns of every sign and exponent.
#pragma once

#include <cstdint>

#include "compressor/values/dtype.hpp"

namespace taut::exhaustive {

// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): deterministic noise.
constexpr std::uint64_t scramble(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

constexpr std::uint64_t sampled_doubles = 1'000'000'000;

constexpr std::uint64_t patterns_of(DType type) noexcept {
  return size_of(type) == 8 ? sampled_doubles : std::uint64_t{1} << (8 * size_of(type));
}

// Returns pattern number i: i itself for a type of up to 4 bytes. For longer types every sign and exponent
// gets its share, the least and the greatest mantissa first.
constexpr std::uint64_t pattern(DType type, std::uint64_t i) noexcept {
  if (size_of(type) < 8) return i;
  constexpr std::uint64_t strata = 4096, mantissas = (std::uint64_t{1} << 52) - 1;
  const std::uint64_t round = i / strata;
  const std::uint64_t mantissa = round == 0 ? 0 : round == 1 ? mantissas : scramble(i) & mantissas;
  return i % strata << 52 | mantissa;
}

}  // namespace taut::exhaustive
