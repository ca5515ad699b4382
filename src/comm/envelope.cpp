#include "comm/envelope.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <random>

#include "core/frame.hpp"

namespace taut {
namespace {

// Layout of the header: mark | bytes of the values (56 bits), type (8) | padding (24), parts (8), checksum
// (32), little-endian. The checksum covers the header, with zeros in the place of the checksum, and then the
// frames.
using Words = std::array<std::uint64_t, 3>;
static_assert(sizeof(Words) == envelope_bytes && std::endian::native == std::endian::little);

constexpr std::uint64_t low(std::uint64_t word, unsigned bits) noexcept {
  return word & ((std::uint64_t{1} << bits) - 1);
}

std::uint32_t checksum(Words words, ConstBytes frames) noexcept {
  words[2] = low(words[2], 32);
  return crc32c(frames, crc32c(std::as_bytes(std::span(words))));
}

}  // namespace

std::uint64_t random_mark() {
  std::random_device random;
  return std::uint64_t{1} << 63 | std::uint64_t{random()} << 32 | random();
}

std::size_t seal(const MessageFormat& format, std::uint8_t type, std::uint64_t bytes, std::size_t frames,
                 Bytes message) noexcept {
  const std::size_t used = envelope_bytes + frames, length = format.length(used);
  Words words{format.mark, bytes | std::uint64_t{type} << 56, length - used};
  words[2] |= std::uint64_t{checksum(words, message.subspan(envelope_bytes, frames))} << 32;
  std::memcpy(message.data(), words.data(), envelope_bytes);
  std::memset(message.data() + used, 0, length - used);
  return length;
}

bool has_mark(const MessageFormat& format, ConstBytes begin) noexcept {
  return begin.size() >= sizeof format.mark &&
         std::memcmp(begin.data(), &format.mark, sizeof format.mark) == 0;
}

std::optional<Envelope> open_message(const MessageFormat& format, ConstBytes message) noexcept {
  if (!has_mark(format, message) || message.size() < envelope_bytes) return {};
  Words words;
  std::memcpy(words.data(), message.data(), envelope_bytes);
  const std::size_t padding = low(words[2], 32);  // too large if the number of parts is not 0
  const ConstBytes rest = message.subspan(envelope_bytes);
  if (padding > rest.size() || padding >> 24 != 0) return {};
  const ConstBytes frames = rest.first(rest.size() - padding);
  if (checksum(words, frames) != words[2] >> 32) return {};
  const Envelope envelope{static_cast<std::uint8_t>(words[1] >> 56), low(words[1], 56), frames};
  const bool sized = message.size() < envelope.bytes;  // coded messages are shorter than their values
  return sized && is_dtype(envelope.type) ? std::optional(envelope) : std::nullopt;
}

}  // namespace taut
