// Packed integers: integers that a program packed, bit by bit, into floating-point values. This file defines
// the bit patterns that count as packed integers; docs/adr/0020-packed-integers.md gives the reasons.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace taut {

// Magnitudes that count as numbers, as bit patterns: zero, and from `least` up to, but not including,
// `beyond`. Small positive integers read as magnitudes below `least`, negative integers as magnitudes from
// `beyond` up to NaN.
template <class T>
struct NumberZone {  // 16-bit types: all magnitudes are numbers; small numbers are common there, packed
                     // integers are not
  static constexpr bool limited = false;
};
template <>
struct NumberZone<float> {
  static constexpr bool limited = true;
  using Word = std::uint32_t;
  static constexpr int fraction_bits = 23;
  static constexpr Word least = 0x0800'0000, beyond = 0x7800'0000;  // 2^-111, 2^113: |int32| < 2^27
};
template <>
struct NumberZone<double> {
  static constexpr bool limited = true;
  using Word = std::uint64_t;
  static constexpr int fraction_bits = 52;
  // 2^-255, 2^257: |int64| < 3 * 2^60, and two int32 of which the second is within 3 * 2^28
  static constexpr Word least = 0x3000'0000'0000'0000, beyond = 0x5000'0000'0000'0000;
};

template <class T>
constexpr typename NumberZone<T>::Word magnitude_of(T x) noexcept {
  using Word = typename NumberZone<T>::Word;
  return std::bit_cast<Word>(x) & static_cast<Word>(~Word{0}) >> 1;
}

// Returns true if x counts as a packed integer. Under PackedBits::exact such a value travels bit for bit, and
// does not count in the range of a message.
template <class T>
constexpr bool is_packed(T x) noexcept {
  if constexpr (NumberZone<T>::limited) {
    using Zone = NumberZone<T>;
    const auto m = magnitude_of(x);
    return (m - Zone::least >= Zone::beyond - Zone::least) & (m != 0);
  } else {
    return false;
  }
}

// Upper limit of the step: with a smaller step, values from `beyond` on have no integer in any codec, and are
// exact for that reason.
template <class T>
inline constexpr double coarse_step = sizeof(T) == 8 ? 0x1p210 : 0x1p90;

// Returns true if x is packed and its magnitude is below that of numbers.
template <class T>
constexpr bool is_tiny(T x) noexcept {
  if constexpr (NumberZone<T>::limited) {
    return magnitude_of(x) - 1 < NumberZone<T>::least - 1;
  } else {
    return false;
  }
}

// Returns true if some x is tiny. The test uses the least of 2 |x| - 1 as bit patterns, among which that of
// zero is the greatest, so that compilers vectorize the loop. Always inline, as it is compiled for several
// instruction sets.
template <class T>
[[gnu::always_inline]] inline bool any_tiny(const T* x, std::size_t n) noexcept {
  if constexpr (NumberZone<T>::limited) {
    using Word = typename NumberZone<T>::Word;
    constexpr std::size_t lanes = 256 / sizeof(T);
    Word least[lanes];
    for (Word& word : least) word = ~Word{0};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
      for (std::size_t k = 0; k < lanes; ++k) {
        const Word twice = std::bit_cast<Word>(x[i + k]) * 2 - 1;
        least[k] = twice < least[k] ? twice : least[k];
      }
    bool found = false;
    for (const Word word : least) found |= word < 2 * NumberZone<T>::least - 1;
    for (; i < n; ++i) found |= is_tiny(x[i]);
    return found;
  } else {
    return false;
  }
}

}  // namespace taut
