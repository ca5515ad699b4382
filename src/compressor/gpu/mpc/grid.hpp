// The kernel for frames with a grid: turns decoded codes into words.
#pragma once

#include "compressor/codecs/mpc/grid.hpp"
#include "compressor/gpu/mpc/frame.hpp"
#include "compressor/gpu/simt/column_sums.hpp"

namespace taut::mpc::cuda {

template <class W>
struct GridJob {
  W* words;  // codes, which the kernel replaces
  std::uint64_t count;
  std::uint32_t blocks;
  const std::uint32_t* frame;
  const Scratch* scratch;
};

// A frame's grid, for words of one size. The formula is that of codecs/mpc/grid_kernel.hpp.
template <class Word>
class GridWordsOf {
  using G = GridWords<Word>;
  using Value = typename G::Value;
  using Signed = std::make_signed_t<Word>;

 public:
  TAUT_DEVICE explicit GridWordsOf(const GridView& grid)
      : step_(grid.step()),
        offset_(grid.offset()),
        shift_(static_cast<Value>(G::shift(grid.unit()))),
        limit_(static_cast<Value>(G::limit(grid.unit()))),
        base_(static_cast<Word>(grid.base())),
        bits_(difference_bits(grid.integers())),
        below_(most_below(grid.integers())),
        products_(grid.products()) {}

  // Returns the word of a code from which the base was subtracted.
  TAUT_DEVICE Word word(Word code) const {
    code += base_;
    const Word number = code - G::center;
    if (number + (G::half - 1) >= 2 * G::half - 1) return code;
    const Word integer = ((number + (below_ + 2 * G::half)) >> bits_) - (2 * G::half >> bits_);
    const Word difference = number - (integer << bits_);
    const auto q = static_cast<double>(static_cast<Signed>(integer));
    const auto z = static_cast<Value>((products_ ? q * step_ : q / step_) + offset_);
    if (!(z < limit_ && -z < limit_)) return std::bit_cast<Word>(z) + difference;
    return std::bit_cast<Word>(std::bit_cast<Value>(std::bit_cast<Word>(z + shift_) + difference) - shift_);
  }

 private:
  double step_, offset_;
  Value shift_, limit_;
  Word base_;
  unsigned bits_;
  Word below_;
  bool products_;
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
    const GridWordsOf<Word> grid(view);
    const std::uint64_t step = std::uint64_t{job.blocks} * columns_threads;
    for (std::uint64_t i = std::uint64_t{simt.block()} * columns_threads + simt.thread(); i < job.count;
         i += step)
      job.words[i] = grid.word(job.words[i]);
  }
};

}  // namespace taut::mpc::cuda
