// Kernels for frames with lags (prediction across rows and planes of a field): one computes the residuals
// that are encoded, the others turn decoded residuals into words.
#pragma once

#include "compressor/gpu/mpc/frame.hpp"
#include "compressor/gpu/simt/column_sums.hpp"

namespace taut::mpc::cuda {

template <class Word>
struct ResidualsJob {
  const Word* values;
  std::uint64_t count;
  Rounding rounding;
  Lags lags;  // in words
  Word* residuals;
  std::uint32_t blocks;
};

// Returns the residual of word i: word(i) less its prediction from the words at the lags before it. Words
// before the first one are 0.
template <class Word, class WordAt>
TAUT_DEVICE Word residual(const Lags& lags, std::uint64_t i, const WordAt& word) {
  const auto at = [&](std::uint64_t back) { return i < back ? Word{0} : word(i - back); };
  const auto difference = [&](std::uint64_t back) {
    return static_cast<Word>(at(back) - (lags.n < 1 ? Word{0} : at(back + lags.lag[0])));
  };
  return static_cast<Word>(difference(0) - (lags.n < 2 ? Word{0} : difference(lags.lag[1])));
}

// Computes residuals as Preparation of compressor/codecs/mpc/frame_io.cpp does.
template <class Word>
struct ResidualsKernel {
  using Job = ResidualsJob<Word>;
  using Shared = ColumnsShared;
  static constexpr BlockShape shape{columns_threads, 6};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    each_word(simt, job, [&](std::uint64_t i) {
      job.residuals[i] = residual<Word>(
          job.lags, i, [&](std::uint64_t k) { return input_word(job.values[k], job.rounding); });
    });
  }
};

// Words of a decoded frame, from which one lag is undone.
template <class WordType>
struct LagJob {
  using Word = WordType;
  using Sum = InRegister<WordType>;

  Word* words;
  std::uint64_t count;
  Sum* totals;  // one for each thread: column_sums.hpp
  std::uint32_t blocks;
  unsigned lag;  // index of the lag in the frame
  const std::uint32_t* frame;
  const Scratch* scratch;

  // Returns the lag in words; 0: there is none to undo. Checks the lag again, because the frame may have
  // changed: then nothing but the result changes.
  TAUT_DEVICE std::uint32_t length() const {
    const HeaderView h{frame};
    const GridView grid{h};
    if (scratch->control.failure != 0 || h.has(FrameHeader::stored) || lag >= grid.lags()) return 0;
    const std::uint32_t length = frame[header_words + grid.words() + lag];
    return length >= min_lag && length < count ? length : 0;
  }
};

template <class Word>
struct LagTotalsKernel : ColumnTotals<LagJob<Word>> {};
template <class Word>
struct LagCarriesKernel : ColumnCarries<LagJob<Word>> {};
template <class Word>
struct LagSumsKernel : ColumnSums<LagJob<Word>> {};

}  // namespace taut::mpc::cuda
