// Writes exact values (values without an integer) to a record in shared memory: as runs, or as a raw layer
// that holds the whole chunk. Loops over the values of a thread are rolled, and values are read where they
// are needed, because registers are scarce and few chunks need this code.
#pragma once

#include "compressor/gpu/planes/integers.hpp"
#include "compressor/gpu/planes/run.hpp"
#include "compressor/gpu/simt/load.hpp"

namespace taut::planes::cuda {

// Greatest number of runs of a chunk: with more, the chunk is a raw layer.
template <class T>
inline constexpr unsigned max_runs = chunk_values * sizeof(T) / run_bytes_of<T>(false);

template <class T>
struct RunsShared {
  std::uint8_t marked[chunk_blocks];     // a bit for each value that is stored exactly
  std::uint8_t continues[chunk_blocks];  // a bit for each value that continues the run of the value before it
  std::uint16_t lasts[max_runs<T>];      // last place of each run, by the run's rank

  // Return a bit for each of the eight values of thread t: values that begin a run, and values that end one.
  TAUT_DEVICE std::uint32_t starts_of(unsigned t) const { return marked[t] & ~std::uint32_t{continues[t]}; }
  TAUT_DEVICE std::uint32_t lasts_of(unsigned t) const {
    const std::uint32_t next = t + 1 < chunk_threads ? continues[t + 1] & 1u : 0u;
    return marked[t] & ~(continues[t] >> 1 | next << 7);
  }
};

// Numbers of runs, computed before the runs are written.
struct RunsPlan {
  std::uint32_t rank = 0;   // number of runs that start before this thread's values
  std::uint32_t count = 0;  // number of all runs
};

// Values of a thread, in memory of the GPU.
template <class T>
struct ThreadValues {
  const T* from;
  unsigned count;

  TAUT_DEVICE T operator[](unsigned i) const { return i < count ? from[i] : T{}; }
};

// Returns a bit for each value behind the first whose bits equal those of the value before it.
template <class T>
TAUT_DEVICE std::uint32_t repeats_in(const T (&x)[block_values]) {
  std::uint32_t repeats = 0;
  for (unsigned i = 1; i < block_values; ++i)
    repeats |= static_cast<std::uint32_t>(bits_of(x[i]) == bits_of(x[i - 1])) << i;
  return repeats;
}

// Sets the integer of each `marked` value to the integer before it, or 0 at the start of the chunk. Takes
// three barriers.
template <class Simt, class Int>
TAUT_DEVICE void fill_holds(ChunkThreads<Simt>& threads, std::uint32_t marked, unsigned values,
                            Int (&q)[block_values]) {
  Int last = 0;
  TAUT_UNROLLED_BY(at_a_time<Int>)
  for (unsigned i = 0; i < block_values; ++i)
    if (i < values && (marked >> i & 1) == 0) last = q[i];
  const bool some = values > static_cast<unsigned>(threads.simt().popcount(marked));
  last = threads.last_before(last, some);
  TAUT_UNROLLED_BY(at_a_time<Int>)
  for (unsigned i = 0; i < block_values; ++i) {
    if ((marked >> i & 1) != 0) q[i] = last;
    last = q[i];
  }
}

// Finds runs of marked values whose bits are equal. `before` is the value that precedes this thread's values.
// Takes three barriers.
template <class T, class Simt>
TAUT_DEVICE RunsPlan plan_runs(ChunkThreads<Simt>& threads, RunsShared<T>& shared, std::uint32_t marked,
                               T before, const ThreadValues<T>& from) {
  const unsigned t = threads.thread();
  shared.marked[t] = static_cast<std::uint8_t>(marked);
  threads.simt().barrier();
  const std::uint32_t last_marked = t > 0 ? shared.marked[t - 1] >> 7 : 0;
  T x[block_values];
  load_block(from.from, from.count, x);
  const std::uint32_t repeats = repeats_in(x) | static_cast<std::uint32_t>(bits_of(x[0]) == bits_of(before)),
                      continues = repeats & marked & (marked << 1 | last_marked);
  shared.continues[t] = static_cast<std::uint8_t>(continues);
  threads.simt().barrier();
  const auto ranks = threads.scan(static_cast<std::uint32_t>(threads.simt().popcount(marked & ~continues)));
  return {ranks.before, ranks.total};
}

// Writes the count and the runs to `out`; `q` holds the integers that fill_holds() returned. Takes one
// barrier.
template <class T, class Simt, class Int>
TAUT_DEVICE void write_runs(ChunkThreads<Simt>& threads, RunsShared<T>& shared, const RunsPlan& plan,
                            const Quantiser<T>& z, const LargeRange<T>& range, bool is_wide,
                            const ThreadValues<T>& x, const Int (&q)[block_values], std::uint32_t* out) {
  const std::uint32_t first = threads.thread() * block_values;
  const std::uint32_t starts = shared.starts_of(threads.thread()), lasts = shared.lasts_of(threads.thread());
  std::uint32_t rank = plan.rank;
  for (unsigned i = 0; i < block_values; ++i) {
    rank += starts >> i & 1;
    if ((lasts >> i & 1) != 0) shared.lasts[rank - 1] = static_cast<std::uint16_t>(first + i);
  }
  threads.simt().barrier();
  if (threads.thread() == 0) out[0] = plan.count;
  const auto halves = run_bytes_of<T>(is_wide) / 2;
  auto* const runs = reinterpret_cast<std::uint16_t*>(out + 1);
  rank = plan.rank;
  TAUT_UNROLLED_BY(at_a_time<Int>)
  for (unsigned i = 0; i < block_values; ++i) {
    if ((starts >> i & 1) == 0) continue;
    const std::uint32_t length = shared.lasts[rank] + 1u - (first + i);
    write_run_head(runs + rank++ * halves, (first + i) << 16 | length, static_cast<std::int64_t>(q[i]),
                   is_wide);
  }
  const bool by_integers = sizeof(T) == 8 || z.snaps;
  rank = plan.rank;
  for (std::uint32_t left = starts; left != 0; left &= left - 1) {
    const T value = x[31 - threads.simt().leading_zeros(left & (0u - left))];
    write_run_value(runs + rank++ * halves, by_integers ? value_as_decoded(value, z, range) : value, is_wide);
  }
  if (threads.thread() == 0 && plan.count * halves % 2 != 0) runs[plan.count * halves] = 0;
}

// Writes a record of one raw layer. Neighbouring threads have neighbouring values.
template <class T, class Simt>
TAUT_DEVICE void write_layer(const ChunkThreads<Simt>& threads, const Quantiser<T>& z,
                             const LargeRange<T>& range, std::uint32_t n, const T* x, std::uint32_t* record) {
  if (threads.thread() == 0) {
    record[0] = has_layers;
    record[1] = 0;
    record[2] = 1;
    if (sizeof(T) == 2 && n % 2 != 0) store_layer_value(record, n, T{});
  }
  TAUT_ROLLED
  for (std::uint32_t i = threads.thread(); i < n; i += chunk_threads)
    store_layer_value(record, i, value_as_decoded(x[i], z, range));
}

}  // namespace taut::planes::cuda
