// Integers from what a lag leaves of them: running sums, modulo 2^32, down the columns of a matrix whose rows
// are as long as the lag. A thread takes a stretch of a column, neighbours those beside it. Where columns
// alone are too few threads, rows are cut into segments: their totals are found first, then what comes before
// each, then the sums. Three kernels for each lag; a frame without it makes them leave at once.
#pragma once

#include <algorithm>

#include "gpu/planes/seal_frame.hpp"

namespace taut::planes::cuda {

struct ColumnsJob {
  std::int32_t* integers;
  std::uint64_t count;
  std::uint32_t* totals;  // one for each thread of the kernels
  std::uint32_t blocks;   // of each kernel
  unsigned lag;           // which one of the frame's
  const OpenFrame* frame;
};

inline constexpr unsigned columns_threads = 256;
inline constexpr std::uint64_t columns_values = 16;  // that a thread is worth
inline constexpr std::uint64_t most_columns_blocks = 1024;

inline std::uint32_t columns_blocks(std::uint64_t count) {
  const std::uint64_t blocks = count / (columns_threads * columns_values);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(blocks, 1, most_columns_blocks));
}

// What is worked on at a time: the column w % lag of segment w / lag.
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

  // work(w, first, n) for every w that this thread takes: n integers from `first` on, a lag apart.
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

// take(i, integer) for n integers a lag apart, some of them read before the first is taken.
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

// Makes of each total that of the segments before: a warp a column.
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
