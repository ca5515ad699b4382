// Grid of values: integers times a step plus an offset. Numbers that were stored as scaled integers or
// printed with a few digits lie on a grid. In a frame with a grid, the word of a value on the grid is
// replaced by a code that holds the value's integer. Codes have the bit patterns of positive signalling NaN,
// which are rare in data. Other values keep their words.
#pragma once

#include <cstdint>
#include <type_traits>

#include "compressor/values/slice.hpp"

namespace taut::mpc {

struct Kernels;

struct Grid {
  // Form in which values follow from integers: integer * step + offset, or integer / step + offset.
  enum class Form : std::uint8_t { none, product, quotient };

  Form form = Form::none;
  double step = 0;  // under Form::quotient the distance of two values is 1 / step
  double offset = 0;
  double unit = 0;  // differences between small values and the grid are counted in units; 0: in ulps
  bool integers_alone = false;  // codes hold no differences: only values exactly on the grid have codes
  std::uint64_t base = 0;       // subtracted from all codes and other words, so that the commonest code is 0

  constexpr bool any() const noexcept { return form != Form::none; }
  constexpr bool has_unit() const noexcept { return unit != 0; }
  constexpr bool has_base() const noexcept { return base != 0; }
  // Returns the same grid with codes that hold differences too, of values whose words have `word_bytes`.
  constexpr Grid with_differences(std::size_t word_bytes) const noexcept;
  // Returns the bytes of step, offset, unit and base in the payload.
  constexpr std::size_t bytes() const noexcept {
    return any() ? (std::size_t{2} + has_unit() + has_base()) * sizeof(double) : 0;
  }
  // Return the grid's flags of parameters[0], which also holds the predictor's distance, and of
  // parameters[1], which also holds the number of lags.
  constexpr unsigned distance_flags() const noexcept;
  constexpr unsigned lag_flags() const noexcept;
};

// Flags in parameters[0] of a frame (spec.md), which also holds the predictor's distance.
inline constexpr unsigned product_flag = 16, quotient_flag = 32, unit_flag = 64, base_flag = 128;
// Flag in parameters[1], which also holds the number of lags: codes are integers alone.
inline constexpr unsigned integers_flag = 128;
// difference_bits() returns the number of bits of a code that hold the difference between a word and the word
// of its integer, and negative_differences() the number of these differences that are below 0.
constexpr unsigned difference_bits(bool integers_alone) noexcept { return integers_alone ? 0 : 2; }
constexpr unsigned negative_differences(bool integers_alone) noexcept {
  return (1u << difference_bits(integers_alone)) / 2;
}

constexpr unsigned Grid::distance_flags() const noexcept {
  const unsigned kind = !any() ? 0 : form == Form::product ? product_flag : quotient_flag;
  return kind | (has_unit() ? unit_flag : 0) | (has_base() ? base_flag : 0);
}
constexpr unsigned Grid::lag_flags() const noexcept { return integers_alone ? integers_flag : 0; }

// Constants of the code for words of 4 and 8 bytes. Word is an unsigned integer, Value the float of its size.
template <class Word>
struct GridWords {
  static constexpr bool is_float = sizeof(Word) == 4;
  using Value = std::conditional_t<is_float, float, double>;

  // Codes are the words from center - code_reach + 1 to center + code_reach - 1.
  static constexpr Word code_reach = Word{1} << (is_float ? 21 : 50);
  static constexpr Word center = is_float ? Word{0x7FA00000} : static_cast<Word>(0x7FF4000000000000);
  static constexpr Word max_integer =
      is_float ? (Word{1} << 19) - 1 : static_cast<Word>(std::uint64_t{1} << 46);

  // Constant whose addition rounds a value of at most 2^22 (float64: 2^51) to the nearest integer, ties to
  // even. The lowest bits of the sum are the integer.
  static constexpr Value rounding_constant = is_float ? Value(0x1.8p23F) : Value(0x1.8p52);

  // Below limit(), value + shift() has the unit as its ulp; there differences of words count units.
  static constexpr double shift(double unit) noexcept {
    return unit * static_cast<double>(rounding_constant);
  }
  static constexpr double limit(double unit) noexcept { return unit * (is_float ? 0x1p22 : 0x1p51); }

  // Limits of the exponent of a unit.
  static constexpr int min_unit_exponent = is_float ? -126 : -1022, max_unit_exponent = is_float ? 100 : 900;
};

constexpr Grid Grid::with_differences(std::size_t word_bytes) const noexcept {
  Grid with = *this;
  with.integers_alone = false;
  const auto base_of = [this]<class Word>(Word center, Word reach) {
    const auto number = static_cast<Word>(static_cast<Word>(base) - center);
    const bool is_code = static_cast<Word>(number + reach - 1) < 2 * reach - 1;
    return is_code ? static_cast<Word>(center + (number << difference_bits(false))) : static_cast<Word>(base);
  };
  using Single = GridWords<std::uint32_t>;
  using Double = GridWords<std::uint64_t>;
  if (has_base() && integers_alone)
    with.base = word_bytes == 4 ? base_of(Single::center, Single::code_reach)
                                : base_of(Double::center, Double::code_reach);
  return with;
}

// Returns true if a frame may have the unit: a power of two from 2^min_unit_exponent to 2^max_unit_exponent.
template <class Word>
bool is_unit(double unit) noexcept;

// Finds the grid of most values from a few of them. Returns no grid if there is none, or if its step is so
// small that its integers need as many bits as the values. `values`: real or complex, of 32 or 64 bits a
// part; `kernels`: for their words.
Grid find_grid(ConstSlice values, const Kernels& kernels) noexcept;

}  // namespace taut::mpc
