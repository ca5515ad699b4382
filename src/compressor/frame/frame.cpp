#include "compressor/frame/frame.hpp"

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

// Calls visit(offset, member) for each member of a header that has a place of its own.
template <class Header, class Visit>
void each_field(Header& h, const Visit& visit) noexcept {
  visit(at_codec, h.codec);
  visit(at_type, h.type);
  visit(at_flags, h.flags);
  visit(at_count, h.count);
  visit(at_bound, h.bound.value);
  visit(at_bound_kind, h.bound.kind);
  visit(at_step, h.step);
  visit(at_payload, h.payload_bytes);
  visit(at_addends, h.addends);
  visit(at_parameters, h.parameters);
  visit(at_checksum, h.payload_checksum);
  visit(at_failure, h.failure);
}

// Returns true if a frame can have the header's count of values. An error frame has a count, and no values.
bool count_is_possible(const FrameHeader& h) noexcept {
  if (h.count > max_frame_values) return false;
  const std::uint64_t words = h.payload_bytes / 4 + (h.payload_bytes % 4 != 0 ? 1 : 0);
  return h.has(FrameHeader::failed) || (h.count + max_values_per_word - 1) / max_values_per_word <= words;
}

bool is_finite_nonnegative(double x) noexcept { return std::isfinite(x) && !std::signbit(x); }

}  // namespace

void write_header(const FrameHeader& h, Bytes out) noexcept {
  std::byte* const to = out.data();
  std::memcpy(to, magic, sizeof magic);
  put(to, at_version, frame_version);
  each_field(h, [&](Offset at, const auto& value) { put(to, at, value); });
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
  std::uint8_t version;
  get(from, at_version, version);
  if (version != frame_version) return Status::unsupported_version;

  each_field(h, [&](Offset at, auto& value) { get(from, at, value); });
  const bool known = is_dtype(static_cast<std::uint8_t>(h.type)) && (h.flags & ~known_flags) == 0 &&
                     static_cast<std::uint8_t>(h.bound.kind) < frame_bound_kinds &&
                     std::ranges::all_of(in.subspan(at_reserved, at_crc - at_reserved),
                                         [](std::byte byte) { return byte == std::byte{0}; });
  const bool bounded = is_finite_nonnegative(h.bound.value) && h.bound.exact() == (h.bound.value == 0);
  if (!known || !bounded || !is_finite_nonnegative(h.step)) return Status::corrupt_frame;
  if (h.payload_bytes > in.size() - frame_header_bytes) return Status::corrupt_frame;
  return count_is_possible(h) ? Status::ok : Status::corrupt_frame;
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
