// First and last step of a call: check the frame's header, which the blocks of a decoding do for themselves,
// or write it.
#pragma once

#include "gpu/mpc/chunk.hpp"
#include "gpu/simt/source.hpp"

namespace taut::mpc::cuda {

// Contents of an opened frame's header.
struct OpenFrame {
  std::uint32_t status;  // not 0: the other members are invalid
  unsigned distance;
  bool stored;
  std::uint32_t record_words;  // words of all records
};

// Head of the scratch memory; followed by ChunkWords, one for each group of chunks.
using Scratch = ScratchHead;

// Frame that a call accepts.
struct Opening {
  std::uint64_t values;  // number of values that the frame must hold
  DType type;
  std::uint32_t value_bytes;
  std::uint32_t chunks;
};

// Returns the contents of a frame's header whose common part is valid.
TAUT_DEVICE OpenFrame parse_header(const HeaderAt& h, const Opening& opening) {
  const std::uint64_t bytes = h.payload_bytes(), words = bytes / 4 - (opening.chunks + std::uint64_t{1});
  OpenFrame f{0, h.parameter(0), h.has(FrameHeader::stored), static_cast<std::uint32_t>(words)};
  if (h.type() != static_cast<unsigned>(opening.type) || h.count() != opening.values) {
    f.status = code(Status::frame_mismatch);
  } else if (f.stored) {
    f.status = bytes == opening.values * opening.value_bytes ? 0 : code(Status::corrupt_frame);
  } else {
    const bool whole = bytes % 4 == 0 && bytes >= index_bytes(opening.chunks) && words == f.record_words;
    const bool empty = opening.chunks > 0 || (words == 0 && whole && h.word[header_words] == 0);
    const bool good = f.distance >= 1 && f.distance <= max_distance && h.addends() == 1 && whole && empty;
    f.status = good ? 0 : code(Status::corrupt_frame);
  }
  return f;
}

// Opens a frame. Called by a whole warp.
template <class Simt>
TAUT_DEVICE OpenFrame open_frame(const Simt& simt, const Source& source, const Opening& opening,
                                 const HeaderCrc& crc) {
  const std::uint32_t status = check_header(simt, crc, source.frame, source.bytes, frame_id);
  return status == 0 ? parse_header({source.frame}, opening) : OpenFrame{status, 0, false, 0};
}

// Frame that an encoding writes.
struct FrameSeal {
  std::uint32_t* frame;
  std::uint32_t capacity;  // words available for all records: a frame with more is stored
  std::uint32_t chunks;
  std::uint32_t blocks;  // of the kernel
  Scratch* scratch;
  CallResult* result;
  std::uint32_t header[header_words];  // without flag `stored`, payload_bytes, checksum
};

// Writes the header, and ends the call. Called by a warp. `header`: shared memory.
template <class Simt>
TAUT_DEVICE void seal_frame(const Simt& simt, const FrameSeal& seal, bool stored, std::uint64_t value_bytes,
                            std::uint32_t* header) {
  for (unsigned i = 0; simt.thread() == 0 && i < header_words; ++i) header[i] = seal.header[i];
  if (simt.thread() == 0 && stored) header[1] |= std::uint32_t{FrameHeader::stored} << 24;
  const std::uint64_t coded = index_bytes(seal.chunks) + std::uint64_t{4} * seal.scratch->control.words;
  write_header(simt, seal.scratch->crc, header, stored ? value_bytes : coded, seal.frame, seal.result);
  end_call(simt, *seal.scratch, seal.result);
}

}  // namespace taut::mpc::cuda
