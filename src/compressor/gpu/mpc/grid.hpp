// Codes of values on a grid, and the kernel that turns decoded codes into words.
#pragma once

#include "compressor/codecs/mpc/grid.hpp"
#include "compressor/gpu/mpc/frame.hpp"
#include "compressor/gpu/simt/column_sums.hpp"

namespace taut::mpc::cuda {

// A message's grid, for words of one size. The formulas are those of codecs/mpc/grid_kernel.hpp.
template <class Word>
class GridCode {
  using Numbers = GridWords<Word>;
  using Value = typename Numbers::Value;
  using Signed = std::make_signed_t<Word>;

 public:
  TAUT_DEVICE explicit GridCode(const Grid& grid)
      : step_(grid.step),
        offset_(grid.offset),
        origin_(static_cast<Value>(grid.offset)),
        inverse_(static_cast<Value>(grid.form == Grid::Form::product ? 1 / grid.step : grid.step)),
        shift_(static_cast<Value>(Numbers::shift(grid.unit))),
        limit_(static_cast<Value>(Numbers::limit(grid.unit))),
        base_(static_cast<Word>(grid.base)),
        bits_(difference_bits(grid.integers_alone)),
        negative_differences_(negative_differences(grid.integers_alone)),
        is_product_(grid.form == Grid::Form::product) {}

  // Returns the code of a word, less the base. A word on the grid has a code of its integer and difference;
  // another word is its own code.
  TAUT_DEVICE Word code(Word word) const {
    const auto x = std::bit_cast<Value>(word);
    const Value made = (x - origin_) * inverse_ + Numbers::rounding_constant;
    const Word integer = std::bit_cast<Word>(made) - std::bit_cast<Word>(Numbers::rounding_constant);
    if (integer + Numbers::max_integer > 2 * Numbers::max_integer) return word - base_;
    const Value grid_value = value(integer), place = is_near(x) ? x + shift_ : x;
    const Word difference = std::bit_cast<Word>(place) -
                            std::bit_cast<Word>(is_near(grid_value) ? grid_value + shift_ : grid_value);
    const bool kept = !is_near(x) || std::bit_cast<Word>(place - shift_) == word;
    const bool on_grid = difference + negative_differences_ < Word{1} << bits_ && kept;
    return (on_grid ? Numbers::center + (integer << bits_) + difference : word) - base_;
  }

  // Returns the word of a code from which the base was subtracted.
  TAUT_DEVICE Word word(Word code) const {
    code += base_;
    const Word number = code - Numbers::center;
    if (number + (Numbers::code_reach - 1) >= 2 * Numbers::code_reach - 1) return code;
    const Word integer = ((number + (negative_differences_ + 2 * Numbers::code_reach)) >> bits_) -
                         (2 * Numbers::code_reach >> bits_);
    const Word difference = number - (integer << bits_);
    const Value grid_value = value(integer);
    if (!is_near(grid_value)) return std::bit_cast<Word>(grid_value) + difference;
    return std::bit_cast<Word>(std::bit_cast<Value>(std::bit_cast<Word>(grid_value + shift_) + difference) -
                               shift_);
  }

 private:
  // Returns the value of an integer on the grid.
  TAUT_DEVICE Value value(Word integer) const {
    const auto q = static_cast<double>(static_cast<Signed>(integer));
    return static_cast<Value>((is_product_ ? q * step_ : q / step_) + offset_);
  }
  // Returns true for values below the limit, whose differences from the grid are counted in units
  // (Grid::unit).
  TAUT_DEVICE bool is_near(Value x) const { return x < limit_ && -x < limit_; }

  double step_, offset_;
  Value origin_, inverse_;  // integer = (value - origin) * inverse, rounded
  Value shift_, limit_;     // GridWords::shift() and limit()
  Word base_;
  unsigned bits_;  // bits of a code that hold the difference
  Word negative_differences_;
  bool is_product_;
};

template <class Word>
struct GridJob {
  Word* words;  // codes, which the kernel replaces
  std::uint64_t count;
  std::uint32_t blocks;
  const std::uint32_t* frame;
  const Scratch* scratch;
};

template <class Word>
struct GridKernel {
  using Job = GridJob<Word>;
  using Shared = ColumnsShared;
  static constexpr BlockShape shape{columns_threads, 6};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    const GridView view{{job.frame}};
    if (job.scratch->control.failure != 0 || view.header.has(FrameHeader::stored) || !view.any()) return;
    const GridCode<Word> grid(view.grid());
    each_word(simt, job, [&](std::uint64_t i) { job.words[i] = grid.word(job.words[i]); });
  }
};

}  // namespace taut::mpc::cuda
