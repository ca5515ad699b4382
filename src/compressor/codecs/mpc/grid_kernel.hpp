// Codes words by their integers on a grid, once for all instruction sets. The loops are left to the compiler,
// which makes vectors of them.
#pragma once

#include "compressor/codecs/mpc/format.hpp"
#include "compressor/codecs/mpc/grid.hpp"

namespace taut::mpc {

namespace {  // one copy for each kernel set, compiled with its instructions

template <class Word>
struct GridLoops {
  static bool to_codes(const std::byte* words, std::size_t vectors, const Grid& grid,
                       std::byte* codes) noexcept {
    return grid.form == Grid::Form::product
               ? each_code<Grid::Form::product>(words, vectors, grid, 1 / grid.step, codes)
               : each_code<Grid::Form::quotient>(words, vectors, grid, grid.step, codes);
  }
  static void from_codes(const std::byte* codes, std::size_t vectors, const Grid& grid,
                         std::byte* words) noexcept {
    return grid.form == Grid::Form::product ? each_word<Grid::Form::product>(codes, vectors, grid, words)
                                            : each_word<Grid::Form::quotient>(codes, vectors, grid, words);
  }

 private:
  template <Grid::Form form>
  static bool each_code(const std::byte* words, std::size_t vectors, const Grid& of, double inverse,
                        std::byte* codes) noexcept {
    const Grid grid = of;  // the stores cannot change a copy
    Word clash = 0;
    for (std::size_t i = 0; i < vectors * vector_bytes; i += sizeof(Word))
      store(codes + i, grid_code<Word, form>(load<Word>(words + i), grid, inverse, clash));
    return clash == 0;
  }
  template <Grid::Form form>
  static void each_word(const std::byte* codes, std::size_t vectors, const Grid& of,
                        std::byte* words) noexcept {
    const Grid grid = of;
    for (std::size_t i = 0; i < vectors * vector_bytes; i += sizeof(Word))
      store(words + i, word_of_code<Word, form>(load<Word>(codes + i), grid));
  }
};

}  // namespace

}  // namespace taut::mpc
