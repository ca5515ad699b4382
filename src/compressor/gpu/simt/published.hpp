// Publishes an object: one thread block stores it in scratch memory, so that the other blocks of its kernel
// need not compute it. Each word carries the launch number, as the sizes of chunks do (sink.hpp). No block
// waits for the object: a block that finds a word of another launch computes the object itself.
#pragma once

#include "compressor/gpu/simt/frame.hpp"

namespace taut::cuda {

// Returns the number of 32-bit words of an object.
template <class V>
constexpr unsigned words_of() {
  static_assert(sizeof(V) % sizeof(std::uint32_t) == 0);
  return static_cast<unsigned>(sizeof(V) / sizeof(std::uint32_t));
}

// Returns the upper half of the words that this launch publishes.
TAUT_DEVICE std::uint32_t published_bits(const Control& control) {
  return launch_bits(control) | own_size;  // own_size: memory that no launch has written has state 0
}

// Publishes the first `words` words of `object`, which is in shared memory: each thread its own word,
// so that a block must have `words` threads.
template <class Simt, class V>
TAUT_DEVICE void publish(const Simt& simt, const Control& control, const V& object, unsigned words,
                         std::uint64_t* to) {
  const unsigned i = simt.thread();
  if (i >= words) return;
  const std::uint32_t word = reinterpret_cast<const std::uint32_t*>(&object)[i];
  simt.publish(&to[i], std::uint64_t{published_bits(control)} << 32 | word);
}

// Copies the first `words` published words to `object`, which is in shared memory: each thread its own word.
// Returns false if this launch has not published the word.
template <class Simt, class V>
TAUT_DEVICE bool read_published(const Simt& simt, const Control& control, const std::uint64_t* from,
                                unsigned words, V& object) {
  const unsigned i = simt.thread();
  if (i >= words) return true;
  const std::uint64_t word = simt.poll(&from[i]);
  reinterpret_cast<std::uint32_t*>(&object)[i] = static_cast<std::uint32_t>(word);
  return static_cast<std::uint32_t>(word >> 32) == published_bits(control);
}

}  // namespace taut::cuda
