// Turns rests of a lag into integers: running sums, modulo 2^32, down the columns of a matrix whose rows are
// as long as the lag. A thread processes part of a column; neighbouring threads process neighbouring columns.
// If there are fewer columns than wanted threads, rows are divided into segments. Three kernels are launched
// for each lag: totals of segments, prefix of each segment, sums. The kernels return at once if the frame
// does not have the lag.
#pragma once

#include <algorithm>

#include "gpu/planes/seal_frame.hpp"

namespace taut::planes::cuda {

struct ColumnsJob {
  std::int32_t* integers;
  std::uint64_t count;
  std::uint32_t* totals;  // one word for each thread of the kernels
  std::uint32_t blocks;   // number of blocks of each kernel
  unsigned lag;           // index of the lag in the frame
  const OpenFrame* frame;
};

inline constexpr unsigned columns_threads = 256;
inline constexpr std::uint64_t columns_values = 16;  // least number of values that justifies a thread
inline constexpr std::uint64_t most_columns_blocks = 1024;

inline std::uint32_t columns_blocks(std::uint64_t count) {
  const std::uint64_t blocks = count / (columns_threads * columns_values);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(blocks, 1, most_columns_blocks));
}

// Division of the matrix into units of work: unit w is column w % lag of segment w / lag.
class Columns {
 public:
  TAUT_DEVICE explicit Columns(const ColumnsJob& job) : count_(static_cast<std::uint32_t>(job.count)) {
    if (job.frame->status != 0 || job.lag >= job.frame->prediction.lags.n) return;
    lag_ = job.frame->prediction.lags.of[job.lag];
    const std::uint32_t rows = (count_ + lag_ - 1) / lag_, threads = job.blocks * columns_threads;
    const std::uint32_t wanted = threads < lag_ ? 1 : threads / lag_;
    rows_ = (rows + wanted - 1) / wanted;
    segments_ = (rows + rows_ - 1) / rows_;
  }

  TAUT_DEVICE std::uint32_t lag() const { return lag_; }
  TAUT_DEVICE std::uint32_t segments() const { return segments_; }

  // Calls work(w, first, n) for every unit w of this thread, which has n integers from `first` on, at
  // intervals of a lag.
  template <class Simt, class Work>
  TAUT_DEVICE void share(const Simt& simt, const ColumnsJob& job, const Work& work) const {
    for (std::uint32_t w = simt.block() * columns_threads + simt.thread(); w < segments_ * lag_;
         w += job.blocks * columns_threads) {
      const std::uint32_t first = w / lag_ * rows_ * lag_ + w % lag_;
      const std::uint32_t there = first < count_ ? (count_ - first + lag_ - 1) / lag_ : 0;
      work(w, first, there < rows_ ? there : rows_);
    }
  }

 private:
  std::uint32_t count_, lag_ = 1, rows_ = 0, segments_ = 0;
};

inline constexpr unsigned rows_at_once = 8;

// Calls take(i, integer) for n integers at intervals of a lag. Reads several integers before it passes on the
// first one.
template <class Take>
TAUT_DEVICE void down_column(const std::int32_t* integers, std::uint32_t first, std::uint32_t n,
                             std::uint32_t lag, const Take& take) {
  for (std::uint32_t row = 0; row < n; row += rows_at_once, first += rows_at_once * lag) {
    std::int32_t some[rows_at_once];
    for (unsigned k = 0; k < rows_at_once; ++k) some[k] = row + k < n ? integers[first + k * lag] : 0;
    for (unsigned k = 0; k < rows_at_once; ++k)
      if (row + k < n) take(first + k * lag, static_cast<std::uint32_t>(some[k]));
  }
}

struct ColumnsShared {};

struct ColumnTotalsKernel {
  using Job = ColumnsJob;
  using Shared = ColumnsShared;
  static constexpr BlockShape shape{columns_threads, 6};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    const Columns columns(job);
    if (columns.segments() < 2) return;
    columns.share(simt, job, [&](std::uint32_t w, std::uint32_t first, std::uint32_t n) {
      std::uint32_t total = 0;
      down_column(job.integers, first, n, columns.lag(), [&](std::uint32_t, std::uint32_t q) { total += q; });
      job.totals[w] = total;
    });
  }
};

// Replaces each total by the sum of the totals of the preceding segments. A warp processes a column.
struct ColumnCarriesKernel {
  using Job = ColumnsJob;
  using Shared = ColumnsShared;
  static constexpr BlockShape shape{columns_threads, 6};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    const Columns columns(job);
    if (columns.segments() < 2) return;
    constexpr unsigned warps = columns_threads / warp_lanes;
    for (std::uint32_t column = simt.block() * warps + simt.thread() / warp_lanes; column < columns.lag();
         column += job.blocks * warps)
      add_up(simt, job.totals + column, columns);
  }

 private:
  template <class Simt>
  TAUT_DEVICE static void add_up(const Simt& simt, std::uint32_t* column, const Columns& columns) {
    std::uint32_t before = 0;
    for (std::uint32_t first = 0; first < columns.segments(); first += warp_lanes) {
      const std::uint32_t segment = first + simt.thread() % warp_lanes;
      const bool there = segment < columns.segments();
      std::uint32_t* const at = column + segment * columns.lag();
      const std::uint32_t total = there ? *at : 0, up_to = simt.sum_up(total);
      if (there) *at = before + up_to - total;
      before += simt.shuffle(up_to, warp_lanes - 1);
    }
  }
};

struct ColumnSumsKernel {
  using Job = ColumnsJob;
  using Shared = ColumnsShared;
  static constexpr BlockShape shape{columns_threads, 6};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    const Columns columns(job);
    columns.share(simt, job, [&](std::uint32_t w, std::uint32_t first, std::uint32_t n) {
      std::uint32_t sum = columns.segments() < 2 ? 0 : job.totals[w];
      down_column(job.integers, first, n, columns.lag(), [&](std::uint32_t i, std::uint32_t q) {
        sum += q;
        job.integers[i] = static_cast<std::int32_t>(sum);
      });
    });
  }
};

}  // namespace taut::planes::cuda
