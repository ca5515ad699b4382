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
// (8), checksum (32), little-endian. The highest bit of the type: a state notice follows. If segments follow:
// their source (32), tag (32). The notice: number of the state (64), source (64), two dropped states (64
// each). The checksum covers the header, with zeros in the place of the checksum, and then all up to the
// padding.
using Words = std::array<std::uint64_t, 3>;
using NoticeWords = std::array<std::uint64_t, 4>;
constexpr std::uint8_t has_notice = 0x80;
static_assert(sizeof(NoticeWords) == StateNotice::header_bytes);
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
                 Bytes message, const FollowingSegments& following, const StateNotice& state) noexcept {
  const std::size_t notice = state.number != 0 ? StateNotice::header_bytes : 0;
  const std::size_t used = following.header_bytes() + notice + frames, length = format.length(used);
  const std::uint32_t place[]{following.source, following.tag};
  if (following.segments != 0) std::memcpy(message.data() + envelope_bytes, place, sizeof place);
  const NoticeWords told{state.number, state.source, state.dropped[0], state.dropped[1]};
  if (notice != 0) std::memcpy(message.data() + following.header_bytes(), told.data(), notice);
  if (notice != 0) type |= has_notice;
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
  auto type = static_cast<std::uint8_t>(words[1] >> 56);
  const std::size_t notice = (type & has_notice) != 0 ? StateNotice::header_bytes : 0;
  if (following.header_bytes() + notice + padding > message.size()) return {};
  const ConstBytes used = message.first(message.size() - padding);
  if (checksum(words, used.subspan(envelope_bytes)) != words[2] >> 32) return {};
  if (following.segments != 0) {
    std::memcpy(&following.source, used.data() + envelope_bytes, 4);
    std::memcpy(&following.tag, used.data() + envelope_bytes + 4, 4);
  }
  StateNotice state;
  if (notice != 0) {
    NoticeWords told;
    std::memcpy(told.data(), used.data() + following.header_bytes(), notice);
    if (told[0] == 0 || told[1] > UINT32_MAX) return {};
    state = {told[0], static_cast<std::uint32_t>(told[1]), {told[2], told[3]}};
    type &= static_cast<std::uint8_t>(~has_notice);
  }
  const Envelope envelope{type, low(words[1], 56), following, state,
                          used.subspan(following.header_bytes() + notice)};
  const bool sized = message.size() < envelope.bytes;  // coded messages are shorter than their values
  return sized && is_dtype(envelope.type) ? std::optional(envelope) : std::nullopt;
}

}  // namespace taut
