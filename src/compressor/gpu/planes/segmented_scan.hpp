// Undoes the prediction by a lag: each integer is its residual plus the integer one lag before, a running sum
// (compressor/gpu/simt/column_sums.hpp).
#pragma once

#include "compressor/gpu/planes/seal_frame.hpp"
#include "compressor/gpu/simt/column_sums.hpp"

namespace taut::planes::cuda {

struct ColumnsJob {
  using Word = std::int32_t;
  using Sum = std::uint32_t;

  std::int32_t* words;  // residuals, replaced by integers
  std::uint64_t count;
  std::uint32_t* totals;
  std::uint32_t blocks;
  unsigned lag;  // index of the lag in the frame
  const OpenFrame* frame;

  TAUT_DEVICE std::uint32_t length() const {
    return frame->status != 0 || lag >= frame->prediction.lags.n ? 0 : frame->prediction.lags.of[lag];
  }
};

struct ColumnTotalsKernel : ColumnTotals<ColumnsJob> {};
struct ColumnCarriesKernel : ColumnCarries<ColumnsJob> {};
struct ColumnSumsKernel : ColumnSums<ColumnsJob> {};

}  // namespace taut::planes::cuda
