// Kernels that find the range of an array, its least and its greatest finite value, as value_range.cpp does.
// The first kernel finds the range of each thread block's values, the second one the range of these ranges. A
// zero in the result may have either sign.
#pragma once

#include <limits>

#include "compressor/gpu/values/groups.hpp"
#include "compressor/values/number_range.hpp"

namespace taut::values::cuda {

// Range of some of the values: those of a thread, a warp or a thread block; least > greatest: none counts.
struct PartialRange {
  double least, greatest;
};

// Range of an array, in memory that the GPU writes and the host may poll: `done` is written last.
struct RangeResult {
  double least, greatest;
  std::uint32_t status;  // always 0
  std::uint32_t done;
};

template <class T>
struct RangeJob {
  const T* values;
  std::uint64_t count;
  ComputedIn<T> fill;          // this value does not count; NaN: there is no such value
  bool exact_bits;             // packed integers (compressor/values/number_range.hpp) do not count
  PartialRange* block_ranges;  // range of each thread block's values
  std::uint32_t blocks;
};

struct RangeTotalJob {
  const PartialRange* block_ranges;
  std::uint32_t count;  // of block_ranges
  RangeResult* result;
};

struct RangeShared {
  PartialRange warp_ranges[block_warps];
};

inline constexpr std::uint32_t max_range_blocks = 1024;  // of RangeKernel

// Extends the range from `least` to `greatest` by the range from `low` to `high`.
template <class V>
TAUT_DEVICE void widen(V& least, V& greatest, V low, V high) {
  least = low < least ? low : least;
  greatest = high > greatest ? high : greatest;
}

template <class Simt>
TAUT_DEVICE PartialRange range_of_warp(const Simt& simt, PartialRange range) {
  const unsigned lane = simt.thread() % warp_lanes;
  for (unsigned by = 1; by < warp_lanes; by *= 2)
    widen(range.least, range.greatest, simt.shuffle(range.least, lane ^ by),
          simt.shuffle(range.greatest, lane ^ by));
  return range;
}

// Returns, in the first warp, the range of the ranges of all threads. Called by all threads of a block.
template <class Simt>
TAUT_DEVICE PartialRange range_of_block(const Simt& simt, RangeShared& shared, PartialRange range) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const unsigned warp = simt.thread() / warp_lanes, lane = simt.thread() % warp_lanes;
  range = range_of_warp(simt, range);
  if (lane == 0) shared.warp_ranges[warp] = range;
  simt.barrier();
  if (warp != 0) return range;
  return range_of_warp(simt,
                       lane < block_warps ? shared.warp_ranges[lane] : PartialRange{infinity, -infinity});
}

template <class T>
struct RangeKernel {
  using Job = RangeJob<T>;
  using Shared = RangeShared;
  static constexpr BlockShape shape{block_threads, 4};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    using Computed = ComputedIn<T>;
    constexpr Computed infinity = std::numeric_limits<Computed>::infinity();
    Computed least = infinity, greatest = -infinity;
    each_group<T>(simt, job.count, job.blocks, [&](std::uint64_t first, unsigned n) {
      T x[group_values<T>];
      load_block(job.values + first, n, x);
      for (unsigned i = 0; i < group_values<T>; ++i) {
        const Computed value = static_cast<Computed>(x[i]);
        const bool is_counted = i < n && value - value == Computed{0} && value != job.fill &&
                                !(job.exact_bits && is_packed(x[i]));
        widen(least, greatest, is_counted ? value : infinity, is_counted ? value : -infinity);
      }
    });
    const PartialRange all =
        range_of_block(simt, shared, {static_cast<double>(least), static_cast<double>(greatest)});
    if (simt.thread() == 0) job.block_ranges[simt.block()] = all;
  }
};

struct RangeTotalKernel {
  using Job = RangeTotalJob;
  using Shared = RangeShared;
  static constexpr BlockShape shape{block_threads, 1};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    PartialRange range{infinity, -infinity};
    for (std::uint32_t i = simt.thread(); i < job.count; i += block_threads)
      widen(range.least, range.greatest, job.block_ranges[i].least, job.block_ranges[i].greatest);
    range = range_of_block(simt, shared, range);
    if (simt.thread() != 0) return;
    job.result->least = range.least;
    job.result->greatest = range.greatest;
    job.result->status = 0;
    simt.signal_host(&job.result->done);
  }
};

}  // namespace taut::values::cuda
