// Grids: arrays whose values are integers times a step plus an offset, as packed or printed numbers are after
// they are read. In a frame with a grid a value on the grid is coded by its integer, in the place of a word
// that no usual value has: that of a positive signalling NaN. Other values keep their words.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "compressor/values/slice.hpp"

namespace taut::mpc {

struct Grid {
  enum class Form : std::uint8_t { none, product, quotient };

  Form form = Form::none;
  double step = 0;  // quotient: number of steps in 1
  double offset = 0;

  bool any() const noexcept { return form != Form::none; }
};

// Bits of parameters[0] beside the distance, and the bytes of step and offset in the payload.
inline constexpr unsigned product_flag = 16, quotient_flag = 32;
inline constexpr std::size_t grid_bytes = 2 * sizeof(double);

// Numbers of the code for words of 4 and 8 bytes.
template <class Word>
struct GridWords {
  static constexpr bool is_float = sizeof(Word) == 4;
  using Value = std::conditional_t<is_float, float, double>;

  static constexpr Word half = Word{1}
                               << (is_float ? 21 : 50);  // codes are center - half + 1 to center + half - 1
  static constexpr Word center = is_float ? Word{0x7FA00000} : static_cast<Word>(0x7FF4000000000000);
  static constexpr double most = is_float ? 0x1p19 - 1 : 0x1p46;  // greatest integer

  static bool is_code(Word word) noexcept {
    return static_cast<Word>(word - (center - half + 1)) < static_cast<Word>(2 * half - 1);
  }
};

// Returns one of two words without a branch, so that compilers make vectors of loops.
template <class Word>
Word either(bool first, Word one, Word other) noexcept {
  const auto mask = static_cast<Word>(Word{0} - Word{first});
  return (one & mask) | (other & ~mask);
}

// Adding and subtracting this number rounds a double below 2^51 to the nearest integer, ties to even; the
// lowest bits of the sum are the integer.
inline constexpr double integer_maker = 0x1.8p52;

// Returns the word of the value that belongs to an integer.
template <class Word, Grid::Form form>
Word grid_word(double integer, double step, double offset) noexcept {
  const double distance = form == Grid::Form::quotient ? integer / step : integer * step;
  return std::bit_cast<Word>(static_cast<typename GridWords<Word>::Value>(distance + offset));
}

// Returns the code of a value's word, or the word itself if the value is off the grid. A code holds an
// integer, and in its lowest two bits how far the word is from the word of the integer: -2 to 1. `inverse`:
// steps in 1. Sets bits of `clash` if a word would be read as a code.
template <class Word, Grid::Form form>
Word grid_code(Word word, const Grid& grid, double inverse, Word& clash) noexcept {
  using G = GridWords<Word>;
  double steps = (static_cast<double>(std::bit_cast<typename G::Value>(word)) - grid.offset) * inverse;
  const auto bits = std::bit_cast<std::uint64_t>(steps);
  const auto most = std::bit_cast<std::uint64_t>(G::most), sign = std::uint64_t{1} << 63;
  steps = std::bit_cast<double>(either((bits & ~sign) <= most, bits, most | (bits & sign)));  // of NaN too
  const double made = steps + integer_maker, integer = made - integer_maker;
  Word q{};
  if constexpr (G::is_float)
    q = static_cast<Word>(static_cast<std::int32_t>(integer));
  else
    q = std::bit_cast<Word>(made) - std::bit_cast<Word>(integer_maker);
  const Word off = word - grid_word<Word, form>(integer, grid.step, grid.offset);
  const bool on_grid = static_cast<Word>(off + 2) < 4;
  clash |= static_cast<Word>(!on_grid) & static_cast<Word>(G::is_code(word));
  return either(on_grid, static_cast<Word>(G::center + 4 * q + off), word);
}

// Returns the word of a value, from what grid_code() has made of it.
template <class Word, Grid::Form form>
Word word_of_code(Word code, const Grid& grid) noexcept {
  using G = GridWords<Word>;
  const Word number = code - G::center;
  const Word q = static_cast<Word>((number + 2 + 2 * G::half) >> 2) - G::half / 2;
  double integer = 0;
  if constexpr (G::is_float)
    integer = static_cast<double>(static_cast<std::int32_t>(q));
  else
    integer = std::bit_cast<double>(q + std::bit_cast<Word>(integer_maker)) - integer_maker;
  const Word word = grid_word<Word, form>(integer, grid.step, grid.offset) + (number - 4 * q);
  return either(G::is_code(code), word, code);
}

// Finds the grid of most values from a few of them; none if there is none, or if its steps are so small that
// its integers need as many bits as the values. `values`: real or complex, of 32 or 64 bits a part.
Grid find_grid(ConstSlice values) noexcept;

}  // namespace taut::mpc
