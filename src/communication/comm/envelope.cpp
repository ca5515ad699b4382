#include "communication/comm/envelope.hpp"

#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "compressor/frame/frame.hpp"

namespace taut {
namespace {

// Layout of the header: mark | bytes of the values (56 bits), type (8) | padding (24), following segments
// (8), checksum (32), little-endian. If segments follow: their source (32), tag (32). The checksum covers the
// header, with zeros in the place of the checksum, and then all up to the padding.
using Words = std::array<std::uint64_t, 3>;
static_assert(sizeof(Words) == envelope_bytes && std::endian::native == std::endian::little);

constexpr std::uint64_t low(std::uint64_t word, unsigned bits) noexcept {
  return word & ((std::uint64_t{1} << bits) - 1);
}

std::uint32_t checksum(Words words, ConstBytes content) noexcept {
  words[2] = low(words[2], 32);
  return crc32c(content, crc32c(std::as_bytes(std::span(words))));
}

}  // namespace

std::uint64_t random_mark() {
  // std::random_device of a linked-in libstdc++ would need glibc 2.36 (cmake/Compiler.cmake).
  std::uint64_t mark = 0;
  if (getentropy(&mark, sizeof mark) != 0)
    throw std::system_error(errno, std::generic_category(), "the system gives no random number");
  return std::uint64_t{1} << 63 | mark;
}

std::size_t seal(const MessageFormat& format, std::uint8_t type, std::uint64_t bytes, std::size_t frames,
                 Bytes message, const FollowingSegments& following) noexcept {
  const std::size_t used = following.header_bytes() + frames, length = format.length(used);
  const std::uint32_t place[]{following.source, following.tag};
  if (following.segments != 0) std::memcpy(message.data() + envelope_bytes, place, sizeof place);
  Words words{format.mark, bytes | std::uint64_t{type} << 56,
              (length - used) | std::uint64_t{following.segments} << 24};
  words[2] |= std::uint64_t{checksum(words, message.first(used).subspan(envelope_bytes))} << 32;
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
  const std::size_t padding = low(words[2], 24);
  FollowingSegments following{.segments = static_cast<std::uint8_t>(words[2] >> 24)};
  if (following.header_bytes() + padding > message.size()) return {};
  const ConstBytes used = message.first(message.size() - padding);
  if (checksum(words, used.subspan(envelope_bytes)) != words[2] >> 32) return {};
  if (following.segments != 0) {
    std::memcpy(&following.source, used.data() + envelope_bytes, 4);
    std::memcpy(&following.tag, used.data() + envelope_bytes + 4, 4);
  }
  const Envelope envelope{static_cast<std::uint8_t>(words[1] >> 56), low(words[1], 56), following,
                          used.subspan(following.header_bytes())};
  const bool sized = message.size() < envelope.bytes;  // coded messages are shorter than their values
  return sized && is_dtype(envelope.type) ? std::optional(envelope) : std::nullopt;
}

}  // namespace taut
