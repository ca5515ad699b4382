// Frame headers on the GPU, and the common first and last steps of every call.
#pragma once

#include "compressor/frame/frame.hpp"
#include "compressor/gpu/simt/sink.hpp"

namespace taut::cuda {

inline constexpr unsigned header_words = frame_header_bytes / 4;
inline constexpr std::uint32_t frame_magic = 0x54554154;  // the first word of a header: the text "TAUT"

// Tables for the CRC-32C of a header, which is linear in the header's bits: the contribution of each bit, and
// the CRC of a header of zeros.
struct HeaderCrc {
  std::uint32_t by_bit[header_words - 1][warp_lanes];
  std::uint32_t zeros;
};

inline HeaderCrc header_crc_table() {
  const auto crc_of = [](unsigned word, std::uint32_t bits) {
    std::uint32_t header[header_words] = {};
    header[word] = bits;
    return crc32c(std::as_bytes(std::span(header)).first(frame_header_bytes - 4));
  };
  HeaderCrc table{};
  table.zeros = crc_of(0, 0);
  for (unsigned i = 0; i + 1 < header_words; ++i)
    for (unsigned bit = 0; bit < warp_lanes; ++bit)
      table.by_bit[i][bit] = crc_of(i, std::uint32_t{1} << bit) ^ table.zeros;
  return table;
}

// First part of every codec's scratch memory. New memory holds zeros and the table. A codec may add members;
// the states of chunks follow them.
struct alignas(ChunkState) ScratchHead {
  Control control;
  HeaderCrc crc;
};

// Result of a call, the layout of TAUT_Cuda_result, in memory that the GPU writes and the host may poll:
// `done` is written last.
struct CallResult {
  std::uint64_t bytes;
  std::uint32_t status;
  std::uint32_t done;
};

// Places of a call's result, and of a copy of the header of the frame that the call writes.
struct ResultPlace {
  ResultPlace(CallResult* result = nullptr, std::uint32_t* header = nullptr)
      : at(result), header_copy(header) {}

  CallResult* at;
  std::uint32_t* header_copy;  // null: no copy
};

// GPU memory for one frame, aligned to 16 bytes.
struct FrameMemory {
  std::byte* data;
  std::size_t bytes;
};

// Returns the CRC-32C of a header's first 60 bytes. Called by a whole warp.
template <class Simt>
TAUT_DEVICE std::uint32_t header_crc(const Simt& simt, const HeaderCrc& crc, const std::uint32_t* header) {
  const unsigned lane = simt.thread() % warp_lanes;
  std::uint32_t sum = 0;
  for (unsigned i = 0; i + 1 < header_words; ++i)
    sum ^= (header[i] >> lane & 1) != 0 ? crc.by_bit[i][lane] : 0;
  for (unsigned by = 1; by < warp_lanes; by *= 2) sum ^= simt.shuffle(sum, lane ^ by);
  return sum ^ crc.zeros;
}

constexpr std::uint32_t code(Status status) { return static_cast<std::uint32_t>(status); }

// Status of a frame that only the host can read, such as a frame with a checksum of its payload:
// TAUT_ERR_CUDA_NEEDS_HOST of taut_cuda.h.
inline constexpr std::uint32_t needs_host = 120;

// Accessors to the fields of a header: docs/spec/frame.md.
struct HeaderView {
  const std::uint32_t* word;

  TAUT_DEVICE std::uint64_t long_at(unsigned i) const { return word[i] | std::uint64_t{word[i + 1]} << 32; }
  TAUT_DEVICE double double_at(unsigned i) const { return std::bit_cast<double>(long_at(i)); }

  TAUT_DEVICE unsigned version() const { return word[1] & 0xFF; }
  TAUT_DEVICE unsigned codec() const { return word[1] >> 8 & 0xFF; }
  TAUT_DEVICE unsigned type() const { return word[1] >> 16 & 0xFF; }
  TAUT_DEVICE bool has(FrameHeader::Flags flag) const { return (word[1] >> 24 & flag) != 0; }
  TAUT_DEVICE std::uint64_t count() const { return long_at(2); }
  TAUT_DEVICE double bound() const { return double_at(4); }
  TAUT_DEVICE double step() const { return double_at(6); }
  TAUT_DEVICE std::uint64_t payload_bytes() const { return long_at(8); }
  TAUT_DEVICE std::uint32_t addends() const { return word[10]; }
  TAUT_DEVICE unsigned parameter(unsigned i) const { return word[11] >> (8 * i) & 0xFF; }
  TAUT_DEVICE unsigned bound_kind() const { return word[14] & 0xFF; }

  // True if frame.cpp rejects the header for every codec.
  TAUT_DEVICE bool malformed(std::uint64_t readable) const {
    const auto usable = [](double x) { return std::bit_cast<std::uint64_t>(x) >> 63 == 0 && x - x == 0; };
    return type() < 1 || type() > dtypes || word[1] >> 27 != 0 || bound_kind() >= frame_bound_kinds ||
           word[14] >> 8 != 0 || !usable(bound()) || (bound_kind() == 0) != (bound() == 0) ||
           !usable(step()) || payload_bytes() > readable - frame_header_bytes || count() > max_frame_values ||
           (!has(FrameHeader::failed) &&
            (count() + max_values_per_word - 1) / max_values_per_word > (payload_bytes() + 3) / 4);
  }
};

// Sets flag `stored` in the words of a header.
TAUT_DEVICE void mark_stored(std::uint32_t* header) { header[1] |= std::uint32_t{FrameHeader::stored} << 24; }

// Checks a frame of which `readable` bytes may be read, and returns a status. Called by a whole warp. The
// codec checks the payload.
template <class Simt>
TAUT_DEVICE std::uint32_t check_header(const Simt& simt, const HeaderCrc& crc, const std::uint32_t* frame,
                                       std::uint64_t readable, std::uint8_t codec) {
  if (readable < frame_header_bytes) return code(Status::corrupt_frame);
  const HeaderView h{frame};
  const bool whole = header_crc(simt, crc, frame) == frame[header_words - 1];
  if (!whole || frame[0] != frame_magic) return code(Status::corrupt_frame);
  if (h.version() != frame_version) return code(Status::unsupported_version);
  if (h.malformed(readable)) return code(Status::corrupt_frame);
  if (h.has(FrameHeader::failed)) return code(Status::peer_failed);
  if (h.codec() != codec) return code(Status::frame_mismatch);
  return h.has(FrameHeader::checksummed) ? needs_host : 0;
}

// Completes `header`, which is in shared memory and lacks its checksum and the size of the payload, and
// writes it to the frame, and to its copy. Called by a whole warp.
template <class Simt>
TAUT_DEVICE void write_header(const Simt& simt, const HeaderCrc& crc, std::uint32_t* header,
                              std::uint64_t payload_bytes, std::uint32_t* frame, const ResultPlace& result) {
  const unsigned lane = simt.thread() % warp_lanes;
  if (lane == 0) {
    header[8] = static_cast<std::uint32_t>(payload_bytes);  // HeaderView::payload_bytes()
    header[9] = static_cast<std::uint32_t>(payload_bytes >> 32);
    result.at->bytes = frame_header_bytes + payload_bytes;
  }
  simt.sync_warp();
  const std::uint32_t sum = header_crc(simt, crc, header);
  if (lane >= header_words) return;
  const std::uint32_t word = lane + 1 < header_words ? header[lane] : sum;
  frame[lane] = word;
  if (result.header_copy != nullptr) result.header_copy[lane] = word;
}

// Counts this block among those that have done their part of a call's last kernel. Called by all threads.
// Returns the number of blocks counted before in the first thread, 0 in the others.
// `ordered`, of which only the first thread's value is used: the block that arrives last sees what this block
// has written. Otherwise the writes are visible once the kernel has ended. The reason: the barrier orders the
// writes of a block's threads before the fence of its first thread, and a fence is cumulative, so that it
// covers the writes that its thread has observed. The additions to `done` pass this order on.
template <class Simt>
TAUT_DEVICE std::uint32_t arrive(const Simt& simt, Control& control, bool ordered = true) {
  simt.barrier();
  if (simt.thread() != 0) return 0;
  if (ordered) simt.fence_blocks();
  return simt.atomic_add(&control.done, 1);
}

// Calls arrive() in a kernel of `blocks` blocks. Returns true in the first warp of the block that arrives
// last; the writes of all blocks that arrived `ordered` are visible to this warp.
template <class Simt>
TAUT_DEVICE bool arrives_last(const Simt& simt, Control& control, std::uint32_t blocks) {
  const std::uint32_t before = arrive(simt, control);
  if (simt.thread() >= warp_lanes || simt.shuffle(before, 0) + 1 != blocks) return false;
  if (simt.thread() == 0) simt.fence_blocks();
  simt.sync_warp();
  return true;
}

// Ends a call: writes the result, and prepares the scratch memory for the next call. Called by the first warp
// of the block that arrived last. What the blocks that arrived `ordered` have written is ordered before
// `done`, for a host that polls.
template <class Simt>
TAUT_DEVICE void end_call(const Simt& simt, ScratchHead& scratch, const ResultPlace& result) {
  simt.sync_warp();
  if (simt.thread() != 0) return;
  Control& control = scratch.control;
  result.at->status = control.failure;
  simt.signal_host(&result.at->done);
  ++control.epoch;
  control.ticket = control.coded = control.failure = control.words = control.done = control.deferred =
      control.encodes_again = 0;
}

// Ends the last kernel of a call that writes no header. The kernel has `blocks` blocks.
template <class Simt>
TAUT_DEVICE void end_call_if_last(const Simt& simt, ScratchHead& scratch, std::uint32_t blocks,
                                  const ResultPlace& result) {
  if (arrives_last(simt, scratch.control, blocks)) end_call(simt, scratch, result);
}

}  // namespace taut::cuda
