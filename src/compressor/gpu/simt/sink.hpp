// A Sink is the destination of a kernel's records, in one of two layouts.
// Canonical: records follow each other, and are placed in one pass. Each chunk waits only for the sizes of
// the chunks before it (decoupled look-back: Merrill and Garland, "Single-pass parallel prefix scan with
// decoupled look-back", 2016).
// Slotted: scratch memory with a slot for each chunk's record, the i-th at i * slot_words, so that no chunk
// waits for another.
#pragma once

#include "compressor/base/status.hpp"
#include "compressor/gpu/simt/simt.hpp"

namespace taut::cuda {

// State of a launch, at the start of its scratch memory. New memory is all zero; each launch leaves the state
// ready for the next one.
struct Control {
  std::uint32_t epoch;          // number of earlier launches
  std::uint32_t ticket;         // number of chunks taken so far
  std::uint32_t coded;          // not 0: some chunk is not a raw layer
  std::uint32_t failure;        // greatest Status reported
  std::uint32_t words;          // number of words of all records
  std::uint32_t done;           // number of blocks of the last kernel that have done their part
  std::uint32_t deferred;       // number of chunks that a kernel leaves to the next one
  std::uint32_t encodes_again;  // not 0: a record needs another form or more room; later kernels encode again
};

// A chunk that a kernel leaves to the next one.
struct DeferredChunk {
  std::uint32_t chunk;
  std::uint32_t exact_at;  // in a sum: word of the records where the chunk's exact values are stored
};

// States of a chunk's published word: it counts the words of the chunk's own record, or of all records up to
// this one. The published word has launch (30 bits), state (2 bits), words (32 bits). States of earlier
// launches are ignored, so that nothing has to be cleared. Memory that no launch has written has state 0.
enum PublishedState : std::uint32_t { own_size = 1, inclusive_prefix = 2 };

// Words of one chunk in scratch memory. `published` is stored at the same address whatever the count of a
// call is. Nothing else is ever written at that address, so no other data can be mistaken for a published
// word.
struct ChunkState {
  std::uint64_t published;
  DeferredChunk deferred;  // entry of a list; does not belong to this chunk
};

// The destination of a kernel's records: the index and the records of a frame, or slots.
struct Sink {
  std::uint32_t* index;  // chunks + 1 words, the first is 0; slotted: words of each chunk
  std::uint32_t* records;
  std::uint32_t capacity;    // words available for all records
  std::uint32_t slot_words;  // 0: canonical
  std::uint32_t chunks;      // number of chunks, or of groups of chunks that are placed together
  Control* control;
  ChunkState* chunk_states;  // canonical only
};

// Returns the launch number of a published word, at its place in the upper half of the word.
TAUT_DEVICE std::uint32_t launch_bits(const Control& control) { return (control.epoch + 1) << 2; }

TAUT_DEVICE std::uint64_t published_word(const Sink& sink, PublishedState state, std::uint32_t words) {
  return std::uint64_t{launch_bits(*sink.control) | state} << 32 | words;
}

// Returns a number of words as a published word holds it: UINT32_MAX stands for all greater numbers too, of
// which no frame has room.
TAUT_DEVICE std::uint32_t saturated(std::uint64_t words) {
  return words < UINT32_MAX ? static_cast<std::uint32_t>(words) : UINT32_MAX;
}

// Returns the chunk that this block processes. Called by one thread. Chunks are numbered in the order in
// which blocks start, so that every chunk that is waited for is being processed.
template <class Simt>
TAUT_DEVICE std::uint32_t take_chunk(const Simt& simt, const Sink& sink) {
  return sink.slot_words != 0 ? simt.block() : simt.atomic_add(&sink.control->ticket, 1);
}

// Calls take_chunk() in one thread, and returns the chunk to all threads of the block.
template <class Simt>
TAUT_DEVICE std::uint32_t take_chunk(const Simt& simt, const Sink& sink, std::uint32_t& shared_word) {
  if (simt.thread() == 0) shared_word = take_chunk(simt, sink);
  simt.barrier();
  return shared_word;
}

// True if the block has a chunk to process. Otherwise reports a failure: the scratch memory is in the state
// of a call that has stopped halfway, or two calls use it at the same time. Equal in all threads of the
// block.
template <class Simt>
TAUT_DEVICE bool has_chunk(const Simt& simt, const Sink& sink, std::uint32_t chunk) {
  if (chunk < sink.chunks) return true;
  if (simt.thread() == 0)
    simt.atomic_max(&sink.control->failure, static_cast<std::uint32_t>(Status::internal));
  return false;
}

// Publishes the size of a chunk's record. Called by one thread as soon as the size is known.
template <class Simt>
TAUT_DEVICE void publish_own_size(const Simt& simt, const Sink& sink, std::uint32_t chunk,
                                  std::uint32_t words) {
  if (sink.slot_words != 0) return;
  simt.publish(&sink.chunk_states[chunk].published,
               published_word(sink, chunk == 0 ? inclusive_prefix : own_size, words));
}

// Returns the sum of 32-bit numbers over a warp's lanes, in 64 bits.
template <class Simt>
TAUT_DEVICE std::uint64_t wide_sum(const Simt& simt, std::uint32_t v) {
  return simt.reduce_add(v & 0xFFFF) + (std::uint64_t{simt.reduce_add(v >> 16)} << 16);
}

// Returns the words of all chunks before `chunk`, saturated. Called by one whole warp. The lanes read the
// states of the 32 preceding chunks, then of the 32 before those.
// Relaxed accesses suffice. A published word is written and read as a whole, and contains all that a block
// learns from another one: launch, state and words. No block reads, in the same kernel, a record, an index
// entry or any other memory that another block has written, so there is nothing that an acquire would have to
// order. The end of the kernel makes these writes visible to the next kernel.
template <class Simt>
TAUT_DEVICE std::uint32_t look_back(const Simt& simt, const Sink& sink, std::uint32_t chunk) {
  const unsigned lane = simt.thread() % warp_lanes;
  const std::uint32_t launch = launch_bits(*sink.control);
  std::uint64_t before = 0;
  for (std::uint32_t next = chunk; next > 0;) {  // `before` includes the chunks from `next` on
    std::uint64_t word = 0;
    std::uint32_t state = 0;
    bool waiting = true;
    while (simt.ballot(waiting) != 0) {
      if (waiting && lane < next) word = simt.poll(&sink.chunk_states[next - 1 - lane].published);
      state = static_cast<std::uint32_t>(word >> 32) ^ launch;
      waiting = lane < next && state != own_size && state != inclusive_prefix;
      if (waiting) simt.pause();
    }
    // Lanes whose chunk has a prefix; the lowest one, `last`, is the nearest, and chunks before it are in its
    // prefix.
    const std::uint32_t prefixes = simt.ballot(lane < next && state == inclusive_prefix);
    const unsigned last =
        prefixes == 0 ? warp_lanes - 1 : 31 - simt.leading_zeros(prefixes & (0u - prefixes));
    before += wide_sum(simt, lane < next && lane <= last ? static_cast<std::uint32_t>(word) : 0);
    next = prefixes != 0 || next < warp_lanes ? 0 : next - warp_lanes;
  }
  return saturated(before);
}

// Publishes the words of all chunks up to this one, for the chunks after it. Called by one thread.
template <class Simt>
TAUT_DEVICE void publish_prefix(const Simt& simt, const Sink& sink, std::uint32_t chunk,
                                std::uint32_t words) {
  simt.publish(&sink.chunk_states[chunk].published, published_word(sink, inclusive_prefix, words));
  if (chunk + 1 == sink.chunks) sink.control->words = words;
}

// Returns the position of the chunk's record of `words` words, in words. Called by the first warp. Slots and
// frames that are too small are reported; nothing is written to them.
template <class Simt>
TAUT_DEVICE std::uint64_t place_in_sink(const Simt& simt, const Sink& sink, std::uint32_t chunk,
                                        std::uint32_t words) {
  const bool first = simt.thread() == 0;
  if (sink.slot_words != 0) {
    if (first) sink.index[chunk] = words;
    return std::uint64_t{chunk} * sink.slot_words;
  }
  const std::uint32_t before = look_back(simt, sink, chunk);
  if (first) {
    const std::uint32_t end = saturated(std::uint64_t{before} + words);
    publish_prefix(simt, sink, chunk, end);
    if (chunk == 0) sink.index[0] = 0;
    sink.index[chunk + 1] = end;
  }
  return before;
}

// Returns true if a record of `words` words at position `at` fits in the frame, or in its slot.
TAUT_DEVICE bool fits(const Sink& sink, std::uint64_t at, std::uint32_t words) {
  if (sink.slot_words != 0) return words <= sink.slot_words;
  return at <= sink.capacity && words <= sink.capacity - at;
}

}  // namespace taut::cuda
