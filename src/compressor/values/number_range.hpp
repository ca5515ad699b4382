// Range of the magnitudes that count as numbers. A nonzero value outside of this range counts as a packed
// integer: an integer that a program stored, bit by bit, in a floating-point value. The limits are those of
// docs/adr/0020-packed-integers.md.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace taut {

// Magnitudes that count as numbers, as bit patterns: zero, and from `least` up to, but not including, `end`.
// Small positive integers read as magnitudes below `least`, negative integers as magnitudes from `end` up to
// NaN. In 16-bit types the range has no limits: small numbers are common there, packed integers are not.
template <class T>
struct NumberRange {
  static constexpr bool has_limits = false;
};
template <>
struct NumberRange<float> {
  static constexpr bool has_limits = true;
  using Word = std::uint32_t;
  static constexpr int fraction_bits = 23;
  static constexpr Word least = 0x0800'0000, end = 0x7800'0000;  // 2^-111, 2^113: |int32| < 2^27
};
template <>
struct NumberRange<double> {
  static constexpr bool has_limits = true;
  using Word = std::uint64_t;
  static constexpr int fraction_bits = 52;
  // 2^-255, 2^257: |int64| < 3 * 2^60, and two int32 of which the second is within 3 * 2^28
  static constexpr Word least = 0x3000'0000'0000'0000, end = 0x5000'0000'0000'0000;
};

// Returns the bit pattern of |x|.
template <class T>
constexpr typename NumberRange<T>::Word magnitude_bits(T x) noexcept {
  using Word = typename NumberRange<T>::Word;
  return std::bit_cast<Word>(x) & static_cast<Word>(~Word{0}) >> 1;
}

// Returns true if x counts as a packed integer. PackedBits::exact preserves the bits of such a value, which
// then does not count in the range of a message.
template <class T>
constexpr bool is_packed(T x) noexcept {
  if constexpr (NumberRange<T>::has_limits) {
    using Numbers = NumberRange<T>;
    const auto m = magnitude_bits(x);
    return (m - Numbers::least >= Numbers::end - Numbers::least) & (m != 0);
  } else {
    return false;
  }
}

// Limit of the quantiser's step. Below it no codec has a quantised integer for a value from NumberRange::end
// on, so that packed integers of great magnitude travel exactly without a test. From this limit on, each
// value has to be compared with the range.
template <class T>
inline constexpr double safe_step_limit = sizeof(T) == 8 ? 0x1p210 : 0x1p90;

// Returns true if x counts as a packed integer because its magnitude is below the range of numbers.
template <class T>
constexpr bool is_below_numbers(T x) noexcept {
  if constexpr (NumberRange<T>::has_limits) {
    return magnitude_bits(x) - 1 < NumberRange<T>::least - 1;
  } else {
    return false;
  }
}

// Returns true if some x is below the range of numbers. The loop computes the minimum of 2 |x| - 1, as bit
// patterns; 0, which is a number, wraps to the greatest pattern. Compilers vectorize a loop of minima. The
// function is always inline, because it is compiled for several instruction sets.
template <class T>
[[gnu::always_inline]] inline bool any_below_numbers(const T* x, std::size_t n) noexcept {
  if constexpr (NumberRange<T>::has_limits) {
    using Word = typename NumberRange<T>::Word;
    constexpr std::size_t width = 256 / sizeof(T);
    Word least[width];
    for (Word& word : least) word = ~Word{0};
    std::size_t i = 0;
    for (; i + width <= n; i += width)
      for (std::size_t k = 0; k < width; ++k) {
        const Word twice = std::bit_cast<Word>(x[i + k]) * 2 - 1;
        least[k] = twice < least[k] ? twice : least[k];
      }
    bool found = false;
    for (const Word word : least) found |= word < 2 * NumberRange<T>::least - 1;
    for (; i < n; ++i) found |= is_below_numbers(x[i]);
    return found;
  } else {
    return false;
  }
}

}  // namespace taut
