// Grid: the integers times a step plus an offset, on which packed or printed numbers lie after they are read.
// In a frame with a grid, the word of a value on the grid is replaced by a code that holds its integer. Codes
// are words of positive signalling NaN, which values seldom have. Other values keep their words.
#pragma once

#include <cstdint>
#include <type_traits>

#include "compressor/values/slice.hpp"

namespace taut::mpc {

struct Kernels;

struct Grid {
  enum class Form : std::uint8_t { none, product, quotient };

  Form form = Form::none;
  double step = 0;  // quotient: number of steps in 1
  double offset = 0;
  double unit = 0;  // distances between small values and the grid are counted in it; 0: in their last places
  bool integers = false;   // codes are the integers alone: values next to the grid keep their words
  std::uint64_t base = 0;  // subtracted from all codes and other words, so that the commonest one is 0

  constexpr bool any() const noexcept { return form != Form::none; }
  constexpr bool has_unit() const noexcept { return unit != 0; }
  constexpr bool has_base() const noexcept { return base != 0; }
  // Returns the same grid with codes that hold differences too, of values whose words have `word_bytes`.
  constexpr Grid with_differences(std::size_t word_bytes) const noexcept;
  // Bytes of step, offset, unit and base in the payload.
  constexpr std::size_t bytes() const noexcept {
    return any() ? (std::size_t{2} + has_unit() + has_base()) * sizeof(double) : 0;
  }
  // Flags of the grid in parameters[0], and in parameters[1].
  constexpr unsigned flags() const noexcept;
  constexpr unsigned more_flags() const noexcept;
};

// Bits of parameters[0] beside the distance.
inline constexpr unsigned product_flag = 16, quotient_flag = 32, unit_flag = 64, base_flag = 128;
// Bit of parameters[1] beside the number of lags: codes are integers alone.
inline constexpr unsigned integers_flag = 128;
// Bits of a code that hold the difference between a word and the word of its integer, and the number of
// differences below 0.
constexpr unsigned difference_bits(bool integers) noexcept { return integers ? 0 : 2; }
constexpr unsigned negative_differences(bool integers) noexcept {
  return (1u << difference_bits(integers)) / 2;
}

constexpr unsigned Grid::flags() const noexcept {
  const unsigned kind = !any() ? 0 : form == Form::product ? product_flag : quotient_flag;
  return kind | (has_unit() ? unit_flag : 0) | (has_base() ? base_flag : 0);
}
constexpr unsigned Grid::more_flags() const noexcept { return integers ? integers_flag : 0; }

// Numbers of the code for words of 4 and 8 bytes.
template <class Word>
struct GridWords {
  static constexpr bool is_float = sizeof(Word) == 4;
  using Value = std::conditional_t<is_float, float, double>;

  static constexpr Word half = Word{1}
                               << (is_float ? 21 : 50);  // codes are center - half + 1 to center + half - 1
  static constexpr Word center = is_float ? Word{0x7FA00000} : static_cast<Word>(0x7FF4000000000000);
  static constexpr Word greatest_integer =
      is_float ? (Word{1} << 19) - 1 : static_cast<Word>(std::uint64_t{1} << 46);

  // Adding this number rounds a value to the nearest integer, ties to even, up to half of the precision; the
  // lowest bits of the sum are the integer.
  static constexpr Value integer_maker = is_float ? Value(0x1.8p23F) : Value(0x1.8p52);

  // Values below limit() have spacings of at most a unit after shift() is added.
  static constexpr double shift(double unit) noexcept { return unit * static_cast<double>(integer_maker); }
  static constexpr double limit(double unit) noexcept { return unit * (is_float ? 0x1p22 : 0x1p51); }

  // Exponents of the units.
  static constexpr int least_unit = is_float ? -126 : -1022, greatest_unit = is_float ? 100 : 900;
};

constexpr Grid Grid::with_differences(std::size_t word_bytes) const noexcept {
  Grid with = *this;
  with.integers = false;
  const auto base_of = [this]<class Word>(Word center, Word half) {
    const auto number = static_cast<Word>(static_cast<Word>(base) - center);
    const bool is_code = static_cast<Word>(number + half - 1) < 2 * half - 1;
    return is_code ? static_cast<Word>(center + (number << difference_bits(false))) : static_cast<Word>(base);
  };
  using Single = GridWords<std::uint32_t>;
  using Double = GridWords<std::uint64_t>;
  if (has_base() && integers)
    with.base =
        word_bytes == 4 ? base_of(Single::center, Single::half) : base_of(Double::center, Double::half);
  return with;
}

// Returns true if a frame may have the unit: a power of two.
template <class Word>
bool is_unit(double unit) noexcept;

// Part of a message in which a search looks for other values if most are the same one: all of it, or the
// pieces of a sample (compressor/frame/sample.hpp), as kernels on GPUs do.
enum class GridReach : std::uint8_t { message, pieces };

// Finds the grid of most values from a few of them; none if there is none, or if its steps are so small that
// its integers need as many bits as the values. `values`: real or complex, of 32 or 64 bits a part;
// `kernels`: for their words.
Grid find_grid(ConstSlice values, const Kernels& kernels) noexcept;

}  // namespace taut::mpc
