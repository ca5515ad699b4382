// A ThreadGroup is the threads of a thread block, which process a chunk together: scans over all of them, and
// values of their neighbours.
#pragma once

#include <cstring>

#include "compressor/gpu/simt/simt.hpp"

namespace taut::cuda {

struct ThreadGroupShared {
  std::uint64_t totals[2][block_threads_limit / warp_lanes];
};

template <class V>
struct Scanned {
  V before;  // sum over the threads before this one
  V total;   // sum over all threads
};

// Scans and exchanges of `Threads` threads. Every member except the trivial accessors is called by all
// threads alike.
template <class Simt, unsigned Threads>
class ThreadGroup {
 public:
  static constexpr unsigned threads = Threads, warps = Threads / warp_lanes;

  TAUT_DEVICE ThreadGroup(Simt simt, ThreadGroupShared& shared) : simt_(simt), shared_(shared) {}

  TAUT_DEVICE const Simt& simt() const { return simt_; }
  TAUT_DEVICE unsigned thread() const { return simt_.thread(); }
  TAUT_DEVICE unsigned lane() const { return simt_.thread() % warp_lanes; }
  TAUT_DEVICE unsigned warp() const { return simt_.thread() / warp_lanes; }

  // Returns sums modulo 2^bits. Takes one barrier. Two sets of totals suffice: the barrier of the next call
  // separates reads of this set from its next use.
  template <class V>
  TAUT_DEVICE Scanned<V> scan(V v) {
    const V up_to = simt_.inclusive_sum(v);
    if (lane() == warp_lanes - 1) store_total(up_to);
    simt_.barrier();
    const V total = lane() < warps ? warp_total<V>(lane()) : V{0};
    round_ ^= 1;
    return {static_cast<V>(simt_.reduce_add(lane() < warp() ? total : V{0}) + up_to - v),
            simt_.reduce_add(total)};
  }

  // Returns v of the preceding thread; `first` for the first thread. Takes one barrier.
  template <class V>
  TAUT_DEVICE V before(V v, V first) {
    share_last(v);
    simt_.barrier();
    return take_previous(v, first);
  }

  // before() in two parts, for a barrier that is needed anyway: share_last() precedes the barrier, and
  // take_previous() follows it. If no thread calls take_previous(), share_last() may be called again after
  // the barrier.
  template <class V>
  TAUT_DEVICE void share_last(V v) {
    if (lane() == warp_lanes - 1) store_total(v);
  }
  template <class V>
  TAUT_DEVICE V take_previous(V v, V first) {
    const V previous = simt_.shuffle_up(v, 1);
    const V last = warp_total<V>((warp() + warps - 1) % warps);
    round_ ^= 1;
    return thread() == 0 ? first : lane() == 0 ? last : previous;
  }

  // Returns v of the nearest preceding thread that sets `has`, else 0. Takes three barriers, because it uses
  // the memory of both rounds.
  template <class V>
  TAUT_DEVICE V last_before(V v, bool has) {
    const std::uint32_t mask = simt_.ballot(has);
    const std::uint32_t below = mask & ((std::uint32_t{1} << lane()) - 1);
    const V last_below = simt_.shuffle(v, below == 0 ? 0 : 31 - simt_.leading_zeros(below));
    const V last_in_warp = simt_.shuffle(v, mask == 0 ? 0 : 31 - simt_.leading_zeros(mask));
    simt_.barrier();
    if (lane() == 0) {
      shared_.totals[0][warp()] = static_cast<std::uint64_t>(last_in_warp);
      shared_.totals[1][warp()] = mask;
    }
    simt_.barrier();
    V found = 0;
    for (unsigned w = 0; w < warp(); ++w)
      if (shared_.totals[1][w] != 0) found = static_cast<V>(shared_.totals[0][w]);
    simt_.barrier();
    return below == 0 ? found : last_below;
  }

  TAUT_DEVICE bool any(bool b) { return simt_.barrier_any(b); }

 private:
  // Accesses the total of a warp in this call; 32 bits of it if V has 32 bits.
  template <class V>
  TAUT_DEVICE void store_total(V v) {
    std::memcpy(&shared_.totals[round_][warp()], &v, sizeof v);
  }
  template <class V>
  TAUT_DEVICE V warp_total(unsigned warp) const {
    V v;
    std::memcpy(&v, &shared_.totals[round_][warp], sizeof v);
    return v;
  }

  Simt simt_;
  ThreadGroupShared& shared_;
  unsigned round_ = 0;  // index of the totals that the next call uses
};

}  // namespace taut::cuda
