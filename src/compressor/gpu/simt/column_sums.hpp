// Undoes the prediction from one lag: running sums down the columns of a matrix whose rows are as long as the
// lag, modulo 2^(bits of a word). A thread processes part of a column; neighbouring threads process
// neighbouring columns. If there are fewer columns than wanted threads, rows are divided into segments. Three
// kernels are launched for each lag: totals of segments, prefix of each segment, sums. The kernels return at
// once if the frame does not have the lag.
//
// Job is the argument of the kernels. A codec defines it, with these members:
//   Word                   type of the words; Sum: unsigned type that holds sums modulo 2^(bits of a word)
//   words, count           the words; at most 2^31
//   totals                 one Sum for each thread of the kernels
//   blocks                 number of blocks of each kernel
//   length()               the lag, below `count`; 0: the frame does not have it
#pragma once

#include <algorithm>

#include "compressor/frame/lags.hpp"
#include "compressor/gpu/simt/simt.hpp"

namespace taut::cuda {

inline constexpr unsigned columns_threads = 256;            // threads of a block
inline constexpr std::uint64_t min_values_per_thread = 16;  // with fewer values, fewer threads are started
inline constexpr std::uint64_t max_columns_blocks = 1024;

// Returns the number of blocks of each kernel for `count` words.
inline std::uint32_t columns_blocks(std::uint64_t count) {
  const std::uint64_t blocks = count / (columns_threads * min_values_per_thread);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(blocks, 1, max_columns_blocks));
}

// Calls work(i) for every word i of the job, on the job.blocks blocks of a kernel.
template <class Simt, class Job, class Work>
TAUT_DEVICE void each_word(const Simt& simt, const Job& job, const Work& work) {
  const std::uint64_t step = std::uint64_t{job.blocks} * columns_threads;
  for (std::uint64_t i = std::uint64_t{simt.block()} * columns_threads + simt.thread(); i < job.count;
       i += step)
    work(i);
}

// Division of the matrix into units of work: unit w is column w % lag of segment w / lag.
template <class Job>
class Columns {
 public:
  TAUT_DEVICE explicit Columns(const Job& job) : count_(static_cast<std::uint32_t>(job.count)) {
    const std::uint32_t length = job.length();
    if (length == 0) return;
    lag_ = length;
    const std::uint32_t rows = (count_ + lag_ - 1) / lag_, threads = job.blocks * columns_threads;
    const std::uint32_t wanted = threads < lag_ ? 1 : threads / lag_;
    rows_ = (rows + wanted - 1) / wanted;
    segments_ = (rows + rows_ - 1) / rows_;
  }

  TAUT_DEVICE std::uint32_t lag() const { return lag_; }
  TAUT_DEVICE std::uint32_t segments() const { return segments_; }

  // Calls work(w, first, n) for every unit w of this thread, which has n words from `first` on, at intervals
  // of a lag.
  template <class Simt, class Work>
  TAUT_DEVICE void each_unit(const Simt& simt, const Job& job, const Work& work) const {
    for (std::uint32_t w = simt.block() * columns_threads + simt.thread(); w < segments_ * lag_;
         w += job.blocks * columns_threads) {
      const std::uint32_t first = w / lag_ * rows_ * lag_ + w % lag_;
      const std::uint32_t there = first < count_ ? (count_ - first + lag_ - 1) / lag_ : 0;
      work(w, first, there < rows_ ? there : rows_);
    }
  }

 private:
  std::uint32_t count_, lag_ = 1, rows_ = 0, segments_ = 0;  // rows_: rows of a segment
};

inline constexpr unsigned rows_at_once = 8;

// Calls take(i, word) for n words at intervals of a lag. Loads rows_at_once words first, so that the loads
// overlap.
template <class Job, class Take>
TAUT_DEVICE void down_column(const typename Job::Word* words, std::uint32_t first, std::uint32_t n,
                             std::uint32_t lag, const Take& take) {
  for (std::uint32_t row = 0; row < n; row += rows_at_once, first += rows_at_once * lag) {
    typename Job::Word some[rows_at_once];
    for (unsigned k = 0; k < rows_at_once; ++k) some[k] = row + k < n ? words[first + k * lag] : 0;
    for (unsigned k = 0; k < rows_at_once; ++k)
      if (row + k < n) take(first + k * lag, static_cast<typename Job::Sum>(some[k]));
  }
}

struct ColumnsShared {};

// Kernel 1: writes the total of each unit, if there are several segments.
template <class JobType>
struct ColumnTotals {
  using Job = JobType;
  using Shared = ColumnsShared;
  static constexpr BlockShape shape{columns_threads, 6};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    const Columns<Job> columns(job);
    if (columns.segments() < 2) return;
    columns.each_unit(simt, job, [&](std::uint32_t w, std::uint32_t first, std::uint32_t n) {
      typename Job::Sum total = 0;
      down_column<Job>(job.words, first, n, columns.lag(),
                       [&](std::uint32_t, typename Job::Sum q) { total += q; });
      job.totals[w] = total;
    });
  }
};

// Kernel 2: replaces each total by the sum of the totals of the preceding segments. A warp processes a
// column.
template <class JobType>
struct ColumnCarries {
  using Job = JobType;
  using Shared = ColumnsShared;
  static constexpr BlockShape shape{columns_threads, 6};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    const Columns<Job> columns(job);
    if (columns.segments() < 2) return;
    constexpr unsigned warps = columns_threads / warp_lanes;
    for (std::uint32_t column = simt.block() * warps + simt.thread() / warp_lanes; column < columns.lag();
         column += job.blocks * warps)
      add_up(simt, job.totals + column, columns);
  }

 private:
  template <class Simt>
  TAUT_DEVICE static void add_up(const Simt& simt, typename Job::Sum* column, const Columns<Job>& columns) {
    typename Job::Sum before = 0;
    for (std::uint32_t first = 0; first < columns.segments(); first += warp_lanes) {
      const std::uint32_t segment = first + simt.thread() % warp_lanes;
      const bool there = segment < columns.segments();
      typename Job::Sum* const at = column + segment * columns.lag();
      const typename Job::Sum total = there ? *at : 0, up_to = simt.inclusive_sum(total);
      if (there) *at = before + up_to - total;
      before += simt.shuffle(up_to, warp_lanes - 1);
    }
  }
};

// Kernel 3: replaces each word by the sum of the words of its column up to it.
template <class JobType>
struct ColumnSums {
  using Job = JobType;
  using Shared = ColumnsShared;
  static constexpr BlockShape shape{columns_threads, 6};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    const Columns<Job> columns(job);
    columns.each_unit(simt, job, [&](std::uint32_t w, std::uint32_t first, std::uint32_t n) {
      typename Job::Sum sum = columns.segments() < 2 ? 0 : job.totals[w];
      down_column<Job>(job.words, first, n, columns.lag(), [&](std::uint32_t i, typename Job::Sum q) {
        sum += q;
        job.words[i] = static_cast<typename Job::Word>(sum);
      });
    });
  }
};

// Launches the three kernels for each lag. Job is constructed by job_of(lag).
template <class Totals, class Carries, class Sums, class Launcher, class JobOf>
void undo_lags(Launcher& launcher, const JobOf& job_of) {
  for (unsigned lag = 0; lag < max_lags; ++lag) {
    const auto job = job_of(lag);
    launcher.template launch<Totals>(job.blocks, job);
    launcher.template launch<Carries>(job.blocks, job);
    launcher.template launch<Sums>(job.blocks, job);
  }
}

}  // namespace taut::cuda
