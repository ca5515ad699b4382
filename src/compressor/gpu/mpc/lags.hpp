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
  Lags lags;  // in words; at least one
  Word* residuals;
  std::uint32_t blocks;
};

// Computes residuals as Preparation of compressor/codecs/mpc/frame_io.cpp does.
template <class Word>
struct ResidualsKernel {
  using Job = ResidualsJob<Word>;
  using Shared = ColumnsShared;
  static constexpr BlockShape shape{columns_threads, 6};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    const std::uint64_t step = std::uint64_t{job.blocks} * columns_threads;
    for (std::uint64_t i = std::uint64_t{simt.block()} * columns_threads + simt.thread(); i < job.count;
         i += step)
      job.residuals[i] = static_cast<Word>(difference(job, i, 0) - second_difference(job, i));
  }

 private:
  TAUT_DEVICE static Word word(const Job& job, std::uint64_t i, std::uint64_t back) {
    return i < back ? Word{0} : taken(job.values[i - back], job.rounding);
  }
  // Returns the word `back` before word i, minus the word a row before that.
  TAUT_DEVICE static Word difference(const Job& job, std::uint64_t i, std::uint64_t back) {
    return static_cast<Word>(word(job, i, back) - word(job, i, back + job.lags.of[0]));
  }
  TAUT_DEVICE static Word second_difference(const Job& job, std::uint64_t i) {
    return job.lags.n < 2 ? Word{0} : difference(job, i, job.lags.of[1]);
  }
};

// Words of a decoded frame, from which one lag is undone.
template <class W>
struct LagJob {
  using Word = W;
  using Sum = InRegister<W>;

  Word* words;
  std::uint64_t count;
  Sum* totals;
  std::uint32_t blocks;
  unsigned lag;  // index of the lag in the frame
  const std::uint32_t* frame;
  const Scratch* scratch;

  // Checks the lag again: nothing but the result would change if the frame changed meanwhile.
  TAUT_DEVICE std::uint32_t length() const {
    const HeaderView h{frame};
    const GridView grid{h};
    if (scratch->control.failure != 0 || h.has(FrameHeader::stored) || lag >= grid.lags()) return 0;
    const std::uint32_t length = frame[header_words + grid.words() + lag];
    return length >= least_lag && length < count ? length : 0;
  }
};

template <class Word>
struct LagTotalsKernel : ColumnTotals<LagJob<Word>> {};
template <class Word>
struct LagCarriesKernel : ColumnCarries<LagJob<Word>> {};
template <class Word>
struct LagSumsKernel : ColumnSums<LagJob<Word>> {};

}  // namespace taut::mpc::cuda
