#include "comm/envelope.hpp"

#include <cstring>

#include "core/frame.hpp"

namespace taut {
namespace {

constexpr std::uint8_t version = 1;
constexpr std::uint8_t known_flags = Envelope::coded | Envelope::checksummed;

// As it stands in memory; docs/spec/message.md.
struct Header {
  char magic[4] = {'T', 'A', 'U', 'M'};
  std::uint8_t version = taut::version;
  std::uint8_t flags = 0;
  std::uint8_t type = 0;
  std::uint8_t reserved = 0;
  std::uint64_t bytes = 0;
  std::uint32_t sequence = 0;
  std::uint32_t checksum = 0;
};
static_assert(sizeof(Header) == envelope_bytes && offsetof(Header, checksum) == 20);

std::uint32_t checksum_of(const Header& header, ConstBytes payload) noexcept {
  const ConstBytes checked = std::as_bytes(std::span(&header, 1)).first(offsetof(Header, checksum));
  const std::uint32_t sum = crc32c(checked);
  return (header.flags & Envelope::checksummed) != 0 ? crc32c(payload, sum) : sum;
}

}  // namespace

void write_envelope(const Envelope& envelope, ConstBytes payload, Bytes out) noexcept {
  Header header;
  header.flags = envelope.flags;
  header.type = envelope.type;
  header.bytes = envelope.bytes;
  header.sequence = envelope.sequence;
  header.checksum = checksum_of(header, payload);
  std::memcpy(out.data(), &header, sizeof header);
}

Status read_envelope(ConstBytes head, ConstBytes payload, Envelope& envelope) noexcept {
  Header header;
  if (head.size() < sizeof header) return Status::corrupt_frame;
  std::memcpy(&header, head.data(), sizeof header);
  if (std::memcmp(header.magic, Header{}.magic, sizeof header.magic) != 0) return Status::corrupt_frame;
  if (header.checksum != checksum_of(header, payload)) return Status::corrupt_frame;
  if (header.version != version) return Status::unsupported_version;
  envelope = {header.flags, header.type, header.bytes, header.sequence};
  const bool known =
      (header.flags & ~known_flags) == 0 && header.flags != known_flags && header.reserved == 0;
  if (!known || (header.type != 0 && !is_dtype(header.type))) return Status::corrupt_frame;
  // Frames are sent only where they are shorter than the values.
  const bool sized =
      envelope.has(Envelope::coded) ? payload.size() < header.bytes : payload.size() == header.bytes;
  return sized ? Status::ok : Status::corrupt_frame;
}

}  // namespace taut
