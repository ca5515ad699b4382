// The first step of a decoding, which checks the frame's header in each thread block, and the last step of
// each call, which writes the header, and the values of a stored frame.
#pragma once

#include "compressor/gpu/exponents/chunk.hpp"
#include "compressor/gpu/simt/source.hpp"

namespace taut::exponents::cuda {

// Contents of an opened frame's header.
struct OpenFrame {
  std::uint32_t status;  // not 0: the other members are invalid
  bool stored;
  std::uint32_t record_words;  // words of all records
};

// Head of the scratch memory; followed by a ChunkState for each chunk.
using Scratch = ScratchHead;

// Frame that a call accepts.
struct ExpectedFrame {
  std::uint64_t values;
  DType type;
  std::uint32_t chunks;
};

// Returns the contents of a frame's header whose common part is valid.
TAUT_DEVICE OpenFrame parse_header(const HeaderView& h, const ExpectedFrame& expected) {
  const std::uint64_t bytes = h.payload_bytes(), index = index_words(expected.chunks),
                      words = bytes / 4 - index;
  OpenFrame f{0, h.has(FrameHeader::stored), static_cast<std::uint32_t>(words)};
  if (h.type() != static_cast<unsigned>(expected.type) || h.count() != expected.values) {
    f.status = code(Status::frame_mismatch);
  } else if (f.stored) {
    f.status = bytes == expected.values * value_bytes ? 0 : code(Status::corrupt_frame);
  } else {
    const bool whole = bytes % 4 == 0 && bytes >= 4 * index && words == f.record_words,
               index_valid = expected.chunks > 0 || (words == 0 && whole && h.word[header_words] == 0);
    f.status = h.addends() == 1 && whole && index_valid ? 0 : code(Status::corrupt_frame);
  }
  return f;
}

// Opens a frame. Called by a whole warp.
template <class Simt>
TAUT_DEVICE OpenFrame open_frame(const Simt& simt, const Source& source, const ExpectedFrame& expected,
                                 const HeaderCrc& crc) {
  const std::uint32_t status = check_header(simt, crc, source.frame, source.bytes, frame_id);
  return status == 0 ? parse_header({source.frame}, expected) : OpenFrame{status, false, 0};
}

struct FinishJob {
  std::uint32_t* frame;  // null: the call decodes
  const std::uint16_t* values;
  std::uint64_t count;
  bool stored;             // the frame has no room for an index
  std::uint32_t capacity;  // words available for all records: a frame with more is stored
  Scratch* scratch;
  ResultPlace result;
  std::uint32_t chunks, blocks;        // blocks: of this kernel
  std::uint32_t header[header_words];  // without flag `stored`, payload_bytes, checksum
};

struct FinishShared {
  std::uint32_t header[header_words];
};

struct FinishKernel {
  using Job = FinishJob;
  using Shared = FinishShared;
  static constexpr BlockShape shape{chunk_threads, 4};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const bool stored = job.stored || job.scratch->control.words > job.capacity;
    if (job.frame != nullptr && simt.block() == 0 && simt.thread() < warp_lanes)
      write(simt, shared.header, job, stored);
    if (job.frame != nullptr && stored) copy(simt, job);
    end_call_if_last(simt, *job.scratch, job.blocks, job.result);
  }

 private:
  template <class Simt>
  TAUT_DEVICE static void copy(const Simt& simt, const Job& job) {
    auto* const to = reinterpret_cast<std::uint16_t*>(job.frame + header_words);
    const std::uint64_t step = std::uint64_t{job.blocks} * chunk_values;
    for (std::uint64_t first = simt.block() * chunk_values + simt.thread() * thread_values; first < job.count;
         first += step) {
      const std::uint64_t left = job.count - first;
      std::uint16_t x[thread_values];
      const unsigned own = left < thread_values ? static_cast<unsigned>(left) : thread_values;
      load_block(job.values + first, own, x);
      store_block(to + first, own, x);
    }
  }

  template <class Simt>
  TAUT_DEVICE static void write(const Simt& simt, std::uint32_t* header, const Job& job, bool stored) {
    for (unsigned i = 0; simt.thread() == 0 && i < header_words; ++i) header[i] = job.header[i];
    if (simt.thread() == 0 && stored) mark_stored(header);
    const std::uint64_t coded = std::uint64_t{4} * (index_words(job.chunks) + job.scratch->control.words);
    write_header(simt, job.scratch->crc, header, stored ? job.count * value_bytes : coded, job.frame,
                 job.result);
  }
};

}  // namespace taut::exponents::cuda
