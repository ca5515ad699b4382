#include "core/frame.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace taut {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are written as they stand in memory");

constexpr char magic[4] = {'T', 'A', 'U', 'T'};
constexpr std::uint8_t known_flags = FrameHeader::stored | FrameHeader::failed | FrameHeader::checksummed;

// Offsets of the header's fields, as in docs/spec/frame.md.
enum Offset : std::size_t {
  at_version = 4,
  at_codec = 5,
  at_type = 6,
  at_flags = 7,
  at_count = 8,
  at_bound = 16,
  at_step = 24,
  at_payload = 32,
  at_addends = 40,
  at_parameters = 44,
  at_checksum = 48,
  at_failure = 52,
  at_bound_kind = 56,
  at_reserved = 57,
  at_crc = 60
};

template <class T>
void put(std::byte* header, Offset at, const T& value) noexcept {
  std::memcpy(header + at, &value, sizeof value);
}

template <class T>
void get(const std::byte* header, Offset at, T& value) noexcept {
  std::memcpy(&value, header + at, sizeof value);
}

bool usable(double x) noexcept { return std::isfinite(x) && x >= 0; }

}  // namespace

void write_header(const FrameHeader& h, Bytes out) noexcept {
  std::byte* const to = out.data();
  std::memcpy(to, magic, sizeof magic);
  put(to, at_version, frame_version);
  put(to, at_codec, h.codec);
  put(to, at_type, h.type);
  put(to, at_flags, h.flags);
  put(to, at_count, h.count);
  put(to, at_bound, h.bound.value);
  put(to, at_bound_kind, h.bound.kind);
  put(to, at_step, h.step);
  put(to, at_payload, h.payload_bytes);
  put(to, at_addends, h.addends);
  put(to, at_parameters, h.parameters);
  put(to, at_checksum, h.payload_checksum);
  put(to, at_failure, h.failure);
  std::memset(to + at_reserved, 0, at_crc - at_reserved);
  put(to, at_crc, crc32c(out.first(at_crc)));
}

Status read_header(ConstBytes in, FrameHeader& h) noexcept {
  if (in.size() < frame_header_bytes) return Status::corrupt_frame;
  const std::byte* const from = in.data();
  if (std::memcmp(from, magic, sizeof magic) != 0) return Status::corrupt_frame;
  std::uint32_t crc;
  get(from, at_crc, crc);
  if (crc != crc32c(in.first(at_crc))) return Status::corrupt_frame;
  std::uint8_t version, type, reserved[at_crc - at_reserved];
  get(from, at_version, version);
  if (version != frame_version) return Status::unsupported_version;

  get(from, at_codec, h.codec);
  get(from, at_type, type);
  get(from, at_flags, h.flags);
  get(from, at_count, h.count);
  get(from, at_bound, h.bound.value);
  get(from, at_bound_kind, h.bound.kind);
  get(from, at_step, h.step);
  get(from, at_payload, h.payload_bytes);
  get(from, at_addends, h.addends);
  get(from, at_parameters, h.parameters);
  get(from, at_checksum, h.payload_checksum);
  get(from, at_failure, h.failure);
  get(from, at_reserved, reserved);
  h.type = DType{type};
  const bool known = is_dtype(type) && (h.flags & ~known_flags) == 0 &&
                     static_cast<std::uint8_t>(h.bound.kind) < frame_bound_kinds &&
                     std::ranges::all_of(reserved, [](std::uint8_t byte) { return byte == 0; });
  const bool bounded = usable(h.bound.value) && h.bound.exact() == (h.bound.value == 0);
  if (!known || !bounded || !usable(h.step)) return Status::corrupt_frame;
  if (h.payload_bytes > in.size() - frame_header_bytes) return Status::corrupt_frame;
  return Status::ok;
}

Status open_frame(ConstBytes in, std::uint8_t codec, FrameHeader& header, ConstBytes& payload) noexcept {
  if (const Status status = read_header(in, header); status != Status::ok) return status;
  if (header.has(FrameHeader::failed)) return Status::peer_failed;
  if (header.codec != codec) return Status::frame_mismatch;
  payload = in.subspan(frame_header_bytes, static_cast<std::size_t>(header.payload_bytes));
  const bool good = !header.has(FrameHeader::checksummed) || crc32c(payload) == header.payload_checksum;
  return good ? Status::ok : Status::corrupt_frame;
}

std::size_t seal_frame(FrameHeader header, std::byte* frame, std::size_t payload_bytes) noexcept {
  header.payload_bytes = payload_bytes;
  const ConstBytes payload(frame + frame_header_bytes, payload_bytes);
  header.payload_checksum = header.has(FrameHeader::checksummed) ? crc32c(payload) : 0;
  write_header(header, {frame, frame_header_bytes});
  return frame_header_bytes + payload_bytes;
}

std::size_t write_stored(FrameHeader header, ConstBytes values, Bytes out) noexcept {
  header.flags |= FrameHeader::stored;
  if (!values.empty()) std::memcpy(out.data() + frame_header_bytes, values.data(), values.size());
  return seal_frame(header, out.data(), values.size());
}

}  // namespace taut
