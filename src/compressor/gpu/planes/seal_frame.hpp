// The last step of each call: writes the header of the call's frame, and the call's result.
#pragma once

#include "compressor/codecs/planes/format/lags.hpp"
#include "compressor/gpu/planes/chunk_threads.hpp"
#include "compressor/gpu/planes/values.hpp"
#include "compressor/gpu/simt/published.hpp"

namespace taut::planes::cuda {

// Contents of an opened frame's header, or the description of slots that the host gives.
struct OpenFrame {
  double step;
  std::uint32_t status;  // not 0: the other members are invalid
  std::uint32_t addends;
  Prediction prediction;
  bool stored;
  std::uint32_t record_words;  // words of all records
};

inline constexpr unsigned max_sources = 8;

// Sources of a call, and their sum, whose status is the first error of the sources. Decoding has one source,
// which counts as the sum.
struct OpenedSources {
  OpenFrame total, sources[max_sources];
};

// Head of the scratch memory; followed by a ChunkState for each chunk.
struct Scratch : ScratchHead {
  OpenedSources opened;                                // for the next kernels of the call
  std::uint64_t published[words_of<OpenedSources>()];  // the same, for the blocks of the first kernel
  std::uint32_t header[header_words];  // header of the sum, without payload_bytes and checksum
};

// Frame that a call writes, and the end of the call.
struct FrameSeal {
  std::uint32_t* frame;  // null: the call writes no frame, or writes slots, which have no header
  Scratch* scratch;
  ResultPlace result;    // null: a later kernel ends the call
  std::uint32_t chunks;  // of the frame
  std::uint32_t blocks;  // of the kernel
  bool is_sum;           // the frame is a sum, whose header is in scratch memory
  bool polled;  // the host reads the frame as soon as CallResult::done is 1; otherwise after the kernel
  Lags lags;    // lags of an encoding that did not begin again
  std::uint32_t header[header_words];  // without flag `stored`, number of lags, payload_bytes, checksum
};

// Writes the header of a frame whose payload is complete. Called by a warp. `stored_bytes`: size of the
// payload if the frame is stored; `header`: shared memory.
template <class Simt>
TAUT_DEVICE void write_frame_header(const Simt& simt, const FrameSeal& seal, bool stored,
                                    std::uint64_t stored_bytes, std::uint32_t* header) {
  const Control& control = seal.scratch->control;
  const unsigned lane = simt.thread();
  const Lags lags = seal.is_sum                            ? seal.scratch->opened.total.prediction.lags
                    : stored || control.encodes_again != 0 ? Lags{}
                                                           : seal.lags;
  const std::uint64_t bytes =
      stored ? stored_bytes : 4 * (lags.n + seal.chunks + std::uint64_t{1} + control.words);
  for (unsigned i = lane; lane == 0 && i < header_words; ++i)
    header[i] = seal.is_sum ? seal.scratch->header[i] : seal.header[i];
  if (lane == 0 && stored) {
    mark_stored(header);
    header[11] = 0;
  } else if (lane == 0 && !seal.is_sum) {
    header[11] |= lags.n << 8;
  }
  static_assert(max_lags == 2);  // no array is indexed by the lane: it would be placed in memory
  if (lane < lags.n) seal.frame[header_words + lane] = lane == 0 ? lags.lag[0] : lags.lag[1];
  // The index of a frame without chunks is one word, which no block of another kernel writes.
  if (lane == 0 && !stored && seal.chunks == 0) seal.frame[header_words] = 0;
  write_header(simt, seal.scratch->crc, header, bytes, seal.frame, seal.result);
}

// Returns true as long as all chunks are raw layers. A frame of raw layers is stored.
template <class Simt>
TAUT_DEVICE bool may_be_stored(const Simt& simt, const FrameSeal& seal) {
  return seal.frame != nullptr && !seal.is_sum && simt.poll(&seal.scratch->control.coded) == 0;
}

// Ends a call. Called by the first warp of the block that arrived last. Arguments: see write_frame_header().
template <class Simt>
TAUT_DEVICE void seal_frame(const Simt& simt, const FrameSeal& seal, std::uint64_t stored_bytes,
                            std::uint32_t* header) {
  const bool refused = seal.is_sum && seal.scratch->opened.total.status != 0;
  if (seal.frame != nullptr && !refused)
    write_frame_header(simt, seal, may_be_stored(simt, seal), stored_bytes, header);
  end_call(simt, *seal.scratch, seal.result);
}

// Last kernel of a call that leaves chunks to a second kernel: works on these chunks, then ends the call.
// Exact: the kernel for the chunks.
template <class Exact>
struct EndKernel {
  struct Job {
    typename Exact::Job exact;
    FrameSeal seal;
  };
  struct Shared {
    typename Exact::Shared exact;
    std::uint32_t header[header_words];
  };
  static constexpr BlockShape shape = Exact::shape;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    Exact::run(simt, shared.exact, job.exact);
    const FrameSeal& seal = job.seal;
    if (arrives_last(simt, seal.scratch->control, seal.blocks)) seal_frame(simt, seal, 0, shared.header);
  }
};

}  // namespace taut::planes::cuda
