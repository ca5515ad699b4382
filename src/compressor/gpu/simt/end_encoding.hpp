// The end of an encoding within the encoding kernel, so that an encoding is one launch. The kernel has more
// blocks than the frame has chunks (or groups of chunks that are placed together): the closing blocks, which
// start last. They wait only for blocks that have started before them, as look-back does. If the frame is to
// be stored, which is known only after all chunks are coded, they write its values together, over the records
// of the chunks. The very last block waits for all others, writes the header and ends the call. The block of
// a chunk only counts itself at its end, and waits for nothing. A fence would delay its end until its writes
// have reached memory; it has one only if other blocks of the kernel, or the host, read them.
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

// Encoding: the codec's part of the end, with the members
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
    const bool of_chunk = block < blocks_.chunks;
    if (of_chunk && blocks_.in_order) {
      arrive(simt_, control(), ordered);
      return;
    }
    if (!of_chunk) close(block);
    if (arrives_last(simt_, control(), blocks_.all)) encoding_.seal(simt_);
  }

 private:
  TAUT_DEVICE Control& control() const { return encoding_.control(); }
  TAUT_DEVICE bool is_first() const { return simt_.thread() == 0; }

  // A number that is too high shows that the scratch memory is in the state of a call that has stopped
  // halfway, or that two calls use it at the same time.
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
  // blocks of a stored frame arrive `ordered`, as all chunks are layers: their records are written then.
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
