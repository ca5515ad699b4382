// Simulates a GPU's threads by fibers of one CPU thread, so that kernels run without a GPU. The order of
// blocks, warps and lanes, and the set of blocks that run at the same time, are undefined on a GPU; they are
// drawn from a seed. The test ends with a failure if lanes of a warp perform different operations together,
// or if threads wait for ever. The shim cannot show races between blocks that depend on memory order, bank
// conflicts, or speed.
//
// With TAUT_SHIM_WAVEFRONT=64 in the environment, lanes are those of an AMD GPU, and a wavefront holds two
// warps. The operations of a warp are then made of the hardware's by compressor/gpu/simt/wavefront.hpp. A
// vote has any bits for the lanes of the other warp, and no lane can fetch a value from them. A wavefront has
// one program counter: while lanes of one warp pause in a loop, the other warp does not run; both come to a
// barrier at the same line.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <source_location>
#include <utility>
#include <vector>

#include "compressor/gpu/simt/wavefront.hpp"

namespace taut::shim {

inline constexpr unsigned lanes = 32;            // of a warp
inline constexpr unsigned wavefront_lanes = 64;  // of an AMD wavefront, which holds two warps

// Number of fences that threads have executed (fence_blocks() of simt.hpp).
inline std::atomic<unsigned long> fences{0};

// True if warps are halves of wavefronts.
bool in_wavefronts();

// Operations that the lanes of a warp perform together.
enum class Operation { sync, ballot, shuffle, shuffle_up, reduce_max, reduce_or, reduce_add, inclusive_sum };

// Values of one operation: those of the lanes, or up to each lane (inclusive_sum), and their combination.
struct Exchange {
  std::uint64_t of_lane[lanes];
  std::uint64_t of_all;
};

struct Warp {
  Exchange exchanges[2];  // of the last two rounds
  Operation operation = Operation::sync;
  unsigned arrived = 0;  // lanes in the present round
  unsigned pausing = 0;  // lanes
  unsigned ended = 0;    // lanes
  std::uint64_t round = 0;
  std::uint64_t barriers = 0;  // number of barriers that its first lane has come to
  unsigned line = 0;           // of the last one
};

struct Block {
  unsigned index = 0;
  unsigned threads = 0;
  std::vector<Warp> warps;
  unsigned arrived = 0;
  bool any[2] = {};
  std::uint64_t round = 0;
  std::byte* shared = nullptr;
};

struct Fiber {
  void* stack_pointer = nullptr;
  std::unique_ptr<std::byte[]> stack;
  Block* block = nullptr;
  Fiber* next = nullptr;  // lane that runs after this one, where both can go on
  unsigned thread = 0;
  enum class State { ready, in_warp, in_block, pausing, ended } state = State::ended;
  std::uint64_t round = 0;  // number of the warp's or block's operation that the thread waits for
};

// Interface of one thread to the GPU: the operations of compressor/gpu/simt/simt.hpp.
class Thread {
 public:
  explicit Thread(Fiber& fiber) : fiber_(&fiber) {}

  unsigned thread() const { return fiber_->thread; }
  unsigned block() const { return fiber_->block->index; }

  // The hardware's operations, of which wavefront.hpp makes those of a warp.
  unsigned lane() const { return thread() % wavefront_lanes; }
  std::uint64_t vote(bool b) const;
  template <class V>
  V fetch(V v, unsigned lane) const {
    check_source(lane);
    return from_slot<V>(exchange(Operation::shuffle, to_slot(v)).of_lane[lane % lanes]);
  }
  std::uint32_t select_bytes(std::uint32_t low, std::uint32_t high, std::uint32_t selector) const {
    const std::uint64_t from = low | std::uint64_t{high} << 32;
    std::uint32_t bytes = 0;
    for (unsigned i = 0; i < 4; ++i, selector >>= 8)
      bytes |= static_cast<std::uint32_t>(from >> (8 * (selector & 7)) & 0xFF) << (8 * i);
    return bytes;
  }

  std::uint32_t ballot(bool b) const {
    if (in_wavefronts()) return cuda::wavefront::ballot(*this, b);
    return static_cast<std::uint32_t>(exchange(Operation::ballot, b).of_all);
  }
  template <class V>
  V shuffle(V v, unsigned lane) const {
    if (in_wavefronts()) return cuda::wavefront::shuffle(*this, v, lane);
    return from_slot<V>(exchange(Operation::shuffle, to_slot(v)).of_lane[lane % lanes]);
  }
  template <class V>
  V shuffle_up(V v, unsigned by) const {
    if (in_wavefronts()) return cuda::wavefront::shuffle_up(*this, v, by);
    const unsigned lane = thread() % lanes;
    return from_slot<V>(exchange(Operation::shuffle_up, to_slot(v)).of_lane[lane < by ? lane : lane - by]);
  }
  std::uint32_t reduce_max(std::uint32_t v) const {
    if (in_wavefronts()) return cuda::wavefront::reduce(*this, v, cuda::wavefront::Max{});
    return static_cast<std::uint32_t>(exchange(Operation::reduce_max, v).of_all);
  }
  std::uint32_t reduce_or(std::uint32_t v) const {
    if (in_wavefronts()) return cuda::wavefront::reduce(*this, v, cuda::wavefront::BitOr{});
    return static_cast<std::uint32_t>(exchange(Operation::reduce_or, v).of_all);
  }
  template <class V>
  V reduce_add(V v) const {
    if (in_wavefronts()) return cuda::wavefront::reduce(*this, v, cuda::wavefront::Sum{});
    return static_cast<V>(exchange(Operation::reduce_add, v).of_all);
  }
  template <class V>
  V inclusive_sum(V v) const {
    if (in_wavefronts()) return cuda::wavefront::inclusive_sum(*this, v);
    return static_cast<V>(exchange(Operation::inclusive_sum, v).of_lane[thread() % lanes]);
  }
  void sync_warp() const { exchange(Operation::sync, 0); }
  void barrier(std::source_location where = std::source_location::current()) const {
    barrier_any(false, where);
  }
  bool barrier_any(bool b, std::source_location where = std::source_location::current()) const;

  std::uint32_t atomic_add(std::uint32_t* p, std::uint32_t v) const { return std::exchange(*p, *p + v); }
  std::uint32_t atomic_max(std::uint32_t* p, std::uint32_t v) const {
    return std::exchange(*p, *p > v ? *p : v);
  }
  template <class V>
  V poll(const V* p) const {
    return *p;
  }
  void publish(std::uint64_t* p, std::uint64_t v) const { *p = v; }
  void signal_host(std::uint32_t* p) const { __atomic_store_n(p, 1, __ATOMIC_RELEASE); }
  void fence_blocks() const { fences.fetch_add(1, std::memory_order_relaxed); }
  void pause() const;
  // Reads a byte instead, so that a sanitizer finds an address beyond the memory.
  void prefetch(const void* p) const { static_cast<void>(*static_cast<const volatile std::byte*>(p)); }
  unsigned multiprocessors() const { return 1; }

  unsigned leading_zeros(std::uint32_t v) const { return static_cast<unsigned>(std::countl_zero(v)); }
  unsigned leading_zeros(std::uint64_t v) const { return static_cast<unsigned>(std::countl_zero(v)); }
  unsigned popcount(std::uint32_t v) const { return static_cast<unsigned>(std::popcount(v)); }
  unsigned popcount(std::uint64_t v) const { return static_cast<unsigned>(std::popcount(v)); }
  template <class V>
  V reverse_bits(V v) const {
    V bits = 0;
    for (unsigned i = 0; i < 8 * sizeof v; ++i, v >>= 1) bits = bits << 1 | (v & 1);
    return bits;
  }
  std::uint32_t permute_bytes(std::uint32_t low, std::uint32_t high, std::uint32_t selector) const {
    const std::uint64_t from = low | std::uint64_t{high} << 32;
    std::uint32_t bytes = 0;
    for (unsigned i = 0; i < 4; ++i, selector >>= 4) {
      const std::uint32_t byte = from >> (8 * (selector & 7)) & 0xFF;
      bytes |= ((selector & 8) == 0 ? byte : byte >> 7 != 0 ? 0xFFu : 0u) << (8 * i);
    }
    return bytes;
  }
  template <class V>
  const V* global(const V* p) const {
    return p;
  }
  template <class V>
  void keep_in_memory(V&) const {}
  std::uint32_t bit_select(std::uint32_t mask, std::uint32_t a, std::uint32_t b) const {
    return (a & mask) | (b & ~mask);
  }

 private:
  template <class V>
  static std::uint64_t to_slot(V v) {
    static_assert(sizeof v <= 8);
    std::uint64_t slot = 0;
    std::memcpy(&slot, &v, sizeof v);
    return slot;
  }
  template <class V>
  static V from_slot(std::uint64_t slot) {
    V v;
    std::memcpy(&v, &slot, sizeof v);
    return v;
  }
  // Ends the test if a lane of the wavefront belongs to the other warp.
  void check_source(unsigned lane) const;
  // Ends the test if the warps of a wavefront come to their next barrier at different lines.
  void note_barrier(unsigned line) const;
  // Returns the values of all lanes, once all lanes have called. They stay until the next call but one.
  const Exchange& exchange(Operation operation, std::uint64_t v) const;

  Fiber* fiber_;
};

// Runs blocks of threads, up to `at_once` of them interleaved. Each block has `shared_bytes` of poisoned
// memory.
class Gpu {
 public:
  explicit Gpu(std::uint64_t seed, unsigned at_once = 3) : random_(seed), at_once_(at_once) {}

  void reseed(std::uint64_t seed) { random_.seed(seed); }

  using Body = std::function<void(Thread, std::byte* shared)>;
  void launch(unsigned blocks, unsigned threads, std::size_t shared_bytes, const Body& body);

  std::uint64_t pauses() const { return pauses_; }  // number of times that a block waited for another one

 private:
  struct Resident {
    Block block;
    std::vector<Fiber> fibers;
    std::vector<unsigned> order;  // warps and lanes, permuted
    std::vector<std::byte> memory;

    bool ended() const;
  };
  void start(Resident& r, unsigned index, unsigned threads, std::size_t shared_bytes);
  bool advance(Resident& r);  // false: no thread could continue
  bool advance_warp(Resident& r, std::size_t first);

  std::mt19937_64 random_;
  unsigned at_once_;
  std::vector<std::unique_ptr<Resident>> idle_;  // kept with their stacks
  std::uint64_t pauses_ = 0;
};

}  // namespace taut::shim
