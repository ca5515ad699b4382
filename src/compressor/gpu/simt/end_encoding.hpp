// EncodingEnd: the last step of an encoding kernel, which completes the frame, so that an encoding is one
// launch. Blocks are thread blocks here. The first blocks code a chunk each (or a group of chunks that are
// placed together). The kernel has more blocks than that: the closing blocks, which start last and wait for
// blocks that have started before them, as look-back does.
//   A chunk's block   counts itself at its end, and waits for nothing. It executes a fence, which delays its
//                     end until its writes have reached memory, only if other blocks or the host read them.
//   Closing blocks    wait until all chunks are coded, or until it is known that the frame is not stored
//                     (does not hold the values themselves). If it is stored, they write the values
//                     together, over the records of the chunks.
//   The last of them  waits for all other blocks, writes the header and ends the call.
#pragma once

#include <algorithm>

#include "compressor/gpu/simt/frame.hpp"

namespace taut::cuda {

// Number of blocks that close a frame of `chunks` chunks: each of them writes up to 16 chunks of a stored
// frame, or more of large frames.
inline std::uint32_t closing_blocks(std::uint32_t chunks) { return std::clamp(chunks / 16, 1u, 256u); }
// Number of blocks of a kernel that only writes a stored frame.
inline std::uint32_t storing_blocks(std::uint32_t chunks) { return std::clamp(chunks, 1u, 256u); }

// Blocks of an encoding: those with numbers from `chunks` on close the frame.
struct EncodingBlocks {
  std::uint32_t chunks, all;
  bool in_order;  // numbers follow the order in which blocks started; otherwise no block closes a frame
};

// Encoding: what the codec adds to this step, with the members
//
// clang-format off
//   Control& control()
//   bool may_be_stored(simt)               false as soon as it is known that the frame is not stored; for one thread
//   void write_stored(simt, part, parts)   writes a part of the frame's values
//   void seal(simt)                        writes the header and ends the call; for the first warp of one block
// clang-format on
//
// Called by all threads of all blocks at their end. `block`: number of the block. `ordered`: see arrive().
template <class Simt, class Encoding>
class EncodingEnd {
 public:
  TAUT_DEVICE EncodingEnd(const Simt& simt, const Encoding& encoding, const EncodingBlocks& blocks)
      : simt_(simt), encoding_(encoding), blocks_(blocks) {}

  TAUT_DEVICE void run(std::uint32_t block, bool ordered) const {
    const bool codes_chunk = block < blocks_.chunks;
    if (codes_chunk && blocks_.in_order) {
      arrive(simt_, control(), ordered);
      return;
    }
    if (!codes_chunk) close(block);
    if (arrives_last(simt_, control(), blocks_.all)) encoding_.seal(simt_);
  }

 private:
  TAUT_DEVICE Control& control() const { return encoding_.control(); }
  TAUT_DEVICE bool is_first() const { return simt_.thread() == 0; }

  // Closes the frame in closing block `block`. A number of a block that is too high shows that the scratch
  // memory is in the state of a call that has stopped halfway, or that two calls use it at the same time.
  TAUT_DEVICE void close(std::uint32_t block) const {
    if (block >= blocks_.all) {
      if (is_first()) simt_.atomic_max(&control().failure, static_cast<std::uint32_t>(Status::internal));
      return;
    }
    if (is_stored()) encoding_.write_stored(simt_, block - blocks_.chunks, blocks_.all - blocks_.chunks);
    const bool last = block + 1 == blocks_.all;
    while (is_first() && last && simt_.poll(&control().done) + 1 < blocks_.all) simt_.pause();
  }

  // Waits until the blocks of all chunks have arrived, or until it is known that the frame is not stored. The
  // blocks of a stored frame arrive `ordered`: the records of their chunks are in memory before values are
  // written over them.
  TAUT_DEVICE bool is_stored() const {
    bool stored = false;
    if (is_first()) {
      while (encoding_.may_be_stored(simt_) && simt_.poll(&control().done) < blocks_.chunks) simt_.pause();
      simt_.fence_blocks();
      stored = encoding_.may_be_stored(simt_);
    }
    return simt_.barrier_any(stored);
  }

  const Simt& simt_;
  const Encoding& encoding_;
  const EncodingBlocks& blocks_;
};

}  // namespace taut::cuda
