// Header of a frame: the 64 bytes at its start. docs/spec/frame.md specifies the layout, the meaning, and the
// headers that must be rejected.
#pragma once

#include "compressor/base/status.hpp"
#include "compressor/values/bound.hpp"
#include "compressor/values/slice.hpp"

namespace taut {

inline constexpr std::uint8_t frame_version = 1;
inline constexpr std::size_t frame_header_bytes = 64;

// Limits of every frame: its values, and its values for each 4 bytes of payload. They bound what a header can
// make a reader allocate. No product of a count, the size of a type and a number of components wraps.
inline constexpr std::size_t max_frame_values = std::size_t{1} << 30, max_values_per_word = 65536;

struct FrameHeader {
  enum Flags : std::uint8_t {
    stored = 1,       // the payload is the values themselves
    failed = 2,       // no payload: the sender could not produce one (see `failure`)
    checksummed = 4,  // payload_checksum is present
  };

  std::uint8_t codec = 0;  // CodecInfo::frame_id
  DType type = DType::f32;
  std::uint8_t flags = 0;
  std::uint64_t count = 0;          // number of values
  Bound bound = {};                 // bound of each addend; of a kind that frames can store
  double step = 0;                  // codec parameter (planes: quantisation step)
  std::uint64_t payload_bytes = 0;  // size of the payload, which follows the header
  std::uint32_t addends = 1;        // number of frames summed into this one
  std::uint8_t parameters[4] = {};  // codec parameters (planes: [0] predictor)
  std::uint32_t payload_checksum = 0;
  std::uint32_t failure = 0;  // Status of the sender when `failed` is set

  bool has(Flags flag) const noexcept { return (flags & flag) != 0; }
};

// Writes the header to the first 64 bytes of `out`, which must hold at least 64.
void write_header(const FrameHeader& header, Bytes out) noexcept;

// Returns the fewest bytes of a frame of that many values, whatever its codec, with its payload rounded up to
// whole words.
constexpr std::uint64_t min_frame_bytes(std::uint64_t values) noexcept {
  return frame_header_bytes + (values + max_values_per_word - 1) / max_values_per_word * 4;
}

// Reads and checks a header: magic, version, own checksum, known type and flags, finite bound and step, a
// payload that lies inside `in`, and a count of values that a payload of that size can hold. Does not check
// fields that depend on the codec. `in` may be longer than the frame.
Status read_header(ConstBytes in, FrameHeader& header) noexcept;

// Reads a frame of `codec` and checks all that does not depend on the codec: the header, that the frame is
// no error frame, and the payload with its checksum. The codec checks type, count and the content of
// the payload.
Status open_frame(ConstBytes in, std::uint8_t codec, FrameHeader& header, ConstBytes& payload) noexcept;

// Writes the header in front of a payload that is stored at frame + frame_header_bytes, with the payload's
// checksum if the flag `checksummed` is set. Returns the size of the frame.
std::size_t seal_frame(FrameHeader header, std::byte* frame, std::size_t payload_bytes) noexcept;

// Writes a stored frame: the header, flagged so, and the values unchanged. Returns the size of the frame.
// `out` holds it.
std::size_t write_stored(FrameHeader header, ConstBytes values, Bytes out) noexcept;

// Returns the CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `bytes`, continuing from `seed`.
std::uint32_t crc32c(ConstBytes bytes, std::uint32_t seed = 0) noexcept;

}  // namespace taut
