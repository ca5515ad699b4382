// The 64-byte header that starts every frame. Layout, meaning and what must be rejected: docs/spec/frame.md.
#pragma once

#include "core/bound.hpp"
#include "core/slice.hpp"
#include "core/status.hpp"

namespace taut {

inline constexpr std::uint8_t frame_version = 1;
inline constexpr std::size_t frame_header_bytes = 64;

struct FrameHeader {
  enum Flags : std::uint8_t {
    stored = 1,       // the payload is the values themselves
    failed = 2,       // no payload: the sender could not produce one (see `failure`)
    checksummed = 4,  // payload_checksum is present
  };

  std::uint8_t codec = 0;  // CodecInfo::frame_id
  DType type = DType::f32;
  std::uint8_t flags = 0;
  std::uint64_t count = 0;          // values
  Bound bound = {};                 // of each addend; of a kind that stands in frames
  double step = 0;                  // codec parameter (planes: quantisation step)
  std::uint64_t payload_bytes = 0;  // what follows the header
  std::uint32_t addends = 1;        // frames summed into this one
  std::uint8_t parameters[4] = {};  // codec parameters (planes: [0] predictor)
  std::uint32_t payload_checksum = 0;
  std::uint32_t failure = 0;  // Status of the sender when `failed` is set

  bool has(Flags flag) const noexcept { return (flags & flag) != 0; }
};

// Writes the header to the first 64 bytes of `out` (which holds at least that).
void write_header(const FrameHeader& header, Bytes out) noexcept;

// Reads and checks a header: magic, version, own checksum, known type and flags, finite bound and step, and a
// payload that lies inside `in`. Knows nothing of codecs. `in` may be longer than the frame.
Status read_header(ConstBytes in, FrameHeader& header) noexcept;

// Reads a frame of `codec` as far as that is the same for all: header, no notice of failure, payload and its
// checksum. Type, count and what the payload says are for the codec to check.
Status open_frame(ConstBytes in, std::uint8_t codec, FrameHeader& header, ConstBytes& payload) noexcept;

// Writes the header in front of a payload that stands at frame + frame_header_bytes, with its checksum where
// the flag asks for one; returns the size of the frame.
std::size_t seal_frame(FrameHeader header, std::byte* frame, std::size_t payload_bytes) noexcept;

// CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `bytes`, continuing from `seed`.
std::uint32_t crc32c(ConstBytes bytes, std::uint32_t seed = 0) noexcept;

}  // namespace taut
