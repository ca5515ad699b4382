#include "comm/envelope.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "core/frame.hpp"

namespace taut {
namespace {

constexpr std::uint8_t version = 1;
constexpr std::uint8_t known_flags = Envelope::coded | Envelope::checksummed;

constexpr std::uint32_t magic = 0x4D554154;  // "TAUM"

// The header as three words, little-endian: built and read in registers, as it is in the way of small
// messages. The checksum is over all of it with zeros in its own place, then over the payload if that is
// said.
using Words = std::array<std::uint64_t, 3>;
static_assert(sizeof(Words) == envelope_bytes && std::endian::native == std::endian::little);

std::uint32_t checksum_of(const Words& words, ConstBytes payload, std::uint8_t flags) noexcept {
  const std::uint32_t sum = crc32c(std::as_bytes(std::span(words)));
  return (flags & Envelope::checksummed) != 0 ? crc32c(payload, sum) : sum;
}

}  // namespace

void write_envelope(const Envelope& envelope, ConstBytes payload, Bytes out) noexcept {
  const std::uint64_t kind =
      version | std::uint64_t{envelope.flags} << 8 | std::uint64_t{envelope.type} << 16;
  Words words{magic | kind << 32, envelope.bytes, envelope.sequence};
  words[2] |= std::uint64_t{checksum_of(words, payload, envelope.flags)} << 32;
  std::memcpy(out.data(), words.data(), envelope_bytes);
}

Status read_envelope(ConstBytes head, ConstBytes payload, Envelope& envelope) noexcept {
  Words words;
  if (head.size() < envelope_bytes) return Status::corrupt_frame;
  std::memcpy(words.data(), head.data(), envelope_bytes);
  if (static_cast<std::uint32_t>(words[0]) != magic) return Status::corrupt_frame;
  const auto flags = static_cast<std::uint8_t>(words[0] >> 40),
             type = static_cast<std::uint8_t>(words[0] >> 48);
  const auto checksum = static_cast<std::uint32_t>(words[2] >> 32);
  words[2] &= 0xFFFFFFFF;
  if (checksum != checksum_of(words, payload, flags)) return Status::corrupt_frame;
  if ((words[0] >> 32 & 0xFF) != version) return Status::unsupported_version;
  envelope = {flags, type, words[1], static_cast<std::uint32_t>(words[2])};
  const bool known = (flags & ~known_flags) == 0 && flags != known_flags && words[0] >> 56 == 0;
  if (!known || (type != 0 && !is_dtype(type))) return Status::corrupt_frame;
  // Frames are sent only where they are shorter than the values.
  const bool sized =
      envelope.has(Envelope::coded) ? payload.size() < envelope.bytes : payload.size() == envelope.bytes;
  return sized ? Status::ok : Status::corrupt_frame;
}

}  // namespace taut
