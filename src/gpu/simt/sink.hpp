// Where records go. Canonical: behind each other, in one pass, each chunk waiting only for the sizes of those
// before (decoupled look-back: Merrill and Garland, "Single-pass parallel prefix scan with decoupled
// look-back", 2016). Slotted: chunk i at i * slot_words, for data in flight; no waiting.
#pragma once

#include "gpu/simt/simt.hpp"

namespace taut::cuda {

// At the start of the scratch of a launch; all zero when that is new, and left ready for the next launch.
struct Control {
  std::uint32_t epoch;    // launches before
  std::uint32_t ticket;   // chunks taken by now
  std::uint32_t coded;    // not 0: some chunk is not a layer
  std::uint32_t failure;  // the greatest Status met
  std::uint32_t words;    // of all records
  std::uint32_t done;     // blocks of the last kernel that have ended
  std::uint32_t left;     // chunks that a kernel leaves to the next one
  std::uint32_t again;    // not 0: a record says that the kernels in line begin again, another way
};

// A chunk that a kernel leaves to the next one.
struct LeftChunk {
  std::uint32_t chunk;
  std::uint32_t at;  // in a sum: the word of the records where its exact values go
};

// What a chunk hands on: launch (30 bits), state (2 bits), words (32 bits). States of earlier launches count
// as none, so that nothing has to be cleared.
enum HandedOn : std::uint32_t { own_words = 1, all_words = 2 };

// The words of one chunk in scratch. Those that are handed on stand at the same places whatever a call's
// count is: nothing else is ever written there that might be taken for one.
struct ChunkWords {
  std::uint64_t handed_on;
  LeftChunk left;  // entries of a list, not of this chunk
};

struct Sink {
  std::uint32_t* index;  // of chunks + 1 words, the first is 0; slotted: words of each chunk
  std::uint32_t* records;
  std::uint32_t capacity;    // words of all records
  std::uint32_t slot_words;  // 0: canonical
  std::uint32_t chunks;      // or groups of chunks, where these are placed together
  Control* control;
  ChunkWords* of_chunks;  // canonical only
};

TAUT_DEVICE std::uint64_t hand_on(std::uint32_t epoch, HandedOn state, std::uint32_t words) {
  return std::uint64_t{(epoch + 1) << 2 | state} << 32 | words;
}

// By one thread. Chunks are taken in the order in which blocks start, so that whoever is waited for is at
// work.
template <class Simt>
TAUT_DEVICE std::uint32_t take_chunk(const Simt& simt, const Sink& sink) {
  return sink.slot_words != 0 ? simt.block() : simt.add(&sink.control->ticket, 1);
}

// The same by all threads.
template <class Simt>
TAUT_DEVICE std::uint32_t take_chunk(const Simt& simt, const Sink& sink, std::uint32_t& shared_word) {
  if (simt.thread() == 0) shared_word = take_chunk(simt, sink);
  simt.barrier();
  return shared_word;
}

// By one thread, as soon as the chunk's words are known.
template <class Simt>
TAUT_DEVICE void announce(const Simt& simt, const Sink& sink, std::uint32_t chunk, std::uint32_t words) {
  if (sink.slot_words != 0) return;
  simt.release(&sink.of_chunks[chunk].handed_on,
               hand_on(sink.control->epoch, chunk == 0 ? all_words : own_words, words));
}

// Words of the chunks before, by one whole warp. Its lanes look at the 32 chunks before, then at those before
// them.
template <class Simt>
TAUT_DEVICE std::uint32_t look_back(const Simt& simt, const Sink& sink, std::uint32_t chunk) {
  const unsigned lane = simt.thread() % warp_lanes;
  const std::uint32_t launch = sink.control->epoch + 1;
  std::uint32_t before = 0;
  for (std::uint32_t next = chunk; next > 0;) {  // chunks from `next` on are in `before`
    std::uint64_t word = 0;
    bool waiting = true;
    while (simt.ballot(waiting) != 0) {
      if (waiting && lane < next) word = simt.acquire(&sink.of_chunks[next - 1 - lane].handed_on);
      waiting = lane < next && static_cast<std::uint32_t>(word >> 34) != (launch & 0x3FFFFFFF);
      if (waiting) simt.pause();
    }
    const std::uint32_t whole = simt.ballot(lane < next && (word >> 32 & 3) == all_words);
    const unsigned last = whole == 0 ? warp_lanes - 1 : 31 - simt.leading_zeros(whole & (0u - whole));
    std::uint32_t sum = lane < next && lane <= last ? static_cast<std::uint32_t>(word) : 0;
    for (unsigned by = 1; by < warp_lanes; by *= 2) {
      const std::uint32_t other = simt.shuffle_up(sum, by);
      sum += lane >= by ? other : 0;
    }
    before += simt.shuffle(sum, warp_lanes - 1);
    next = whole != 0 || next < warp_lanes ? 0 : next - warp_lanes;
  }
  return before;
}

// Words of all chunks up to this one, for those behind it. By one thread.
template <class Simt>
TAUT_DEVICE void pass_on(const Simt& simt, const Sink& sink, std::uint32_t chunk, std::uint32_t words) {
  simt.release(&sink.of_chunks[chunk].handed_on, hand_on(sink.control->epoch, all_words, words));
  if (chunk + 1 == sink.chunks) sink.control->words = words;
}

// Where the chunk's record of `words` goes, in words, by the first warp. Slots and frames that are too small
// are reported and hold nothing.
template <class Simt>
TAUT_DEVICE std::uint32_t place(const Simt& simt, const Sink& sink, std::uint32_t chunk,
                                std::uint32_t words) {
  const bool first = simt.thread() == 0;
  if (sink.slot_words != 0) {
    if (first) sink.index[chunk] = words;
    return chunk * sink.slot_words;
  }
  const std::uint32_t before = look_back(simt, sink, chunk);
  if (first) {
    pass_on(simt, sink, chunk, before + words);
    if (chunk == 0) sink.index[0] = 0;
    sink.index[chunk + 1] = before + words;
  }
  return before;
}

TAUT_DEVICE bool fits(const Sink& sink, std::uint32_t at, std::uint32_t words) {
  if (sink.slot_words != 0) return words <= sink.slot_words;
  return at <= sink.capacity && words <= sink.capacity - at;
}

}  // namespace taut::cuda
