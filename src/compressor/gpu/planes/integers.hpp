// Applies the predictor to the integers of a chunk, as many in each thread as its blocks have, and reverses
// it.
#pragma once

#include "compressor/gpu/planes/chunk_threads.hpp"

namespace taut::planes::cuda {

// Returns the number of blocks of a chunk with n values, in 32-bit arithmetic.
TAUT_DEVICE std::uint32_t blocks_in(std::uint32_t n) {
  return (n + static_cast<std::uint32_t>(block_values) - 1) / static_cast<std::uint32_t>(block_values);
}

// Returns the number of values of a thread that has room for N, given the n values of its chunk.
template <unsigned N = block_values>
TAUT_DEVICE unsigned values_of(unsigned thread, std::uint32_t n) {
  const std::uint32_t first = thread * N;
  return n <= first ? 0 : n - first < N ? n - first : N;
}

// Template argument of difference(): the threads have shared q[N - 1] before a barrier
// (ChunkThreads::share_last).
inline constexpr bool last_shared = true;

// Replaces the integers q by their differences. The places of a thread after its `values` count as its last
// integer, with Predictor::pairs as its last two in turn. The differences of a thread without values have no
// meaning. Returns the base, which is valid in the first thread.
template <bool LastShared = false, class Threads, class Int, std::size_t N>
TAUT_DEVICE Int difference(Threads& threads, Predictor predictor, unsigned values, Int (&q)[N]) {
  static_assert(N == Threads::blocks_per_thread * block_values);
  using Bits = std::make_unsigned_t<Int>;
  if (predictor == Predictor::none) {
    for (unsigned i = 0; i < N; ++i) q[i] = i < values ? q[i] : 0;
    return 0;
  }
  const Int base = q[0];
  const Int previous = LastShared ? threads.take_previous(q[N - 1], base) : threads.before(q[N - 1], base),
            second_previous = predictor == Predictor::delta ? 0 : threads.before(q[N - 2], base);
  const bool by_pairs = predictor == Predictor::pairs;
  TAUT_UNROLLED_BY(at_a_time<Int>)
  for (unsigned i = 1; i < N; ++i) {
    const Int two_back = i == 1 ? previous : q[i - 2];
    if (i >= values) q[i] = by_pairs ? two_back : q[i - 1];
  }
  TAUT_UNROLLED_BY(at_a_time<Int>)
  for (unsigned i = N; i-- > 0;) {
    const Int one_back = i == 0 ? previous : q[i - 1];
    const Int two_back = i == 0 ? second_previous : i == 1 ? previous : q[i - 2];
    q[i] = static_cast<Int>(static_cast<Bits>(q[i]) - static_cast<Bits>(by_pairs ? two_back : one_back));
  }
  const Int previous_difference =
      static_cast<Int>(static_cast<Bits>(previous) - static_cast<Bits>(second_previous));
  const bool twice = predictor == Predictor::second;
  TAUT_UNROLLED_BY(at_a_time<Int>)
  for (unsigned i = N; i-- > 0;) {
    const Int last = i == 0 ? previous_difference : q[i - 1];
    q[i] = static_cast<Int>(static_cast<Bits>(q[i]) - (twice ? static_cast<Bits>(last) : 0));
  }
  return base;
}

// Replaces d by running sums at distance `back`, starting from `base`, modulo 2^bits.
template <class Threads, class Bits, std::size_t N>
TAUT_DEVICE void accumulate(Threads& threads, unsigned back, Bits base, Bits (&d)[N]) {
  if (back == 1) {
    TAUT_UNROLLED_BY(at_a_time<Bits>)
    for (unsigned i = 1; i < N; ++i) d[i] += d[i - 1];
    const Bits before = threads.scan(d[N - 1]).before + base;
    TAUT_UNROLLED_BY(at_a_time<Bits>)
    for (unsigned i = 0; i < N; ++i) d[i] += before;
  } else {
    TAUT_UNROLLED_BY(at_a_time<Bits>)
    for (unsigned i = 2; i < N; ++i) d[i] += d[i - 2];
    const Bits even = threads.scan(d[N - 2]).before + base, odd = threads.scan(d[N - 1]).before + base;
    TAUT_UNROLLED_BY(at_a_time<Bits>)
    for (unsigned i = 0; i < N; ++i) d[i] += i % 2 == 0 ? even : odd;
  }
}

// Restores the integers from the result of difference().
template <class Threads, class Int, std::size_t N>
TAUT_DEVICE void undo_difference(Threads& threads, Predictor predictor, Int base, Int (&q)[N]) {
  using Bits = std::make_unsigned_t<Int>;
  if (predictor == Predictor::none) return;
  auto& d = reinterpret_cast<Bits(&)[N]>(q);
  if (predictor == Predictor::second) accumulate(threads, 1, Bits{0}, d);
  accumulate(threads, predictor == Predictor::pairs ? 2 : 1, static_cast<Bits>(base), d);
}

}  // namespace taut::planes::cuda
