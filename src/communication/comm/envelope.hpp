// Envelope: the header of a coded point-to-point message. This file also defines the lengths of coded
// messages. A plain message has no envelope: MPI carries the values unchanged. docs/spec/message.md specifies
// the layout, the meaning, and the messages that must be rejected.
#pragma once

#include <array>
#include <optional>

#include "compressor/base/status.hpp"
#include "compressor/values/reduction.hpp"

namespace taut {

inline constexpr std::size_t envelope_bytes = 24;

// Segments of a long message that follow the first one, and where: source and tag of their messages on a
// private communicator. The header of the first segment names them in 8 bytes behind the envelope.
struct FollowingSegments {
  std::uint8_t segments = 0;
  std::uint32_t source = 0, tag = 0;

  constexpr std::size_t header_bytes() const noexcept { return envelope_bytes + (segments != 0 ? 8 : 0); }
};

// Part of the header that concerns histories (communication/comm/message_history.hpp): the number of the
// state that the message leaves, the source of the message on the private communicator, and states that no
// later message will refer to.
struct StateNotice {
  static constexpr std::size_t header_bytes = 32;

  std::uint64_t number = 0;  // 0: the header has no such part
  std::uint32_t source = 0;
  std::array<std::uint64_t, 2> dropped{};  // 0: none
};

// Lengths of coded messages: coded_remainder plus a multiple of a step. Few plain messages have such a
// length, so that a probe has to inspect few. Each length is a multiple of the size of any value, because
// MPICH refuses a message that ends within a number. Short messages have a smaller step, as padding would be
// a part of them.
inline constexpr std::size_t short_step = 128, long_step = 1024, coded_remainder = 31 * 16,
                             first_long = 64 * long_step + coded_remainder;
static_assert(short_step % 16 == 0 && long_step % short_step == 0 && coded_remainder % 16 == 0);

constexpr std::size_t coded_step(std::size_t bytes) noexcept {
  return bytes <= first_long ? short_step : long_step;
}
constexpr bool is_coded_length(std::size_t bytes) noexcept {
  return bytes >= coded_remainder && (bytes - coded_remainder) % coded_step(bytes) == 0;
}

// Message format: parameters that senders and receivers share.
struct MessageFormat {
  std::uint64_t mark = 0;  // first word of each coded message; random, to differ from other messages
  std::size_t least_bytes = coded_remainder;  // length of the shortest coded message, by padding

  // Returns the length of a coded message, padding included, whose header and frames have `bytes`.
  constexpr std::size_t length(std::size_t bytes) const noexcept {
    if (bytes <= least_bytes) return least_bytes;
    const std::size_t step = coded_step(bytes);
    return least_bytes + (bytes - least_bytes + step - 1) / step * step;
  }

  // Returns true if a message of that length may be coded.
  constexpr bool may_have(std::size_t bytes) const noexcept {
    return bytes >= least_bytes && is_coded_length(bytes);
  }
};

// Returns a mark that no other job or communicator is likely to have. Throws std::system_error if the system
// has no random numbers.
std::uint64_t random_mark();

// Contents of a coded message, as its reader gets them.
struct Envelope {
  std::uint8_t type = 0;    // DType of the values
  std::uint64_t bytes = 0;  // size of the values, of all segments
  FollowingSegments following{};
  StateNotice state{};
  ConstBytes frames;
};

// Completes a coded message whose frames, of `frames` bytes, are stored behind the room for the header:
// writes header and padding, for which `message` has room. Returns the length.
std::size_t seal(const MessageFormat& format, std::uint8_t type, std::uint64_t bytes, std::size_t frames,
                 Bytes message, const FollowingSegments& following = {},
                 const StateNotice& state = {}) noexcept;

// Returns true if a message that begins with `begin` has the mark. A cheap check before open_message().
bool has_mark(const MessageFormat& format, ConstBytes begin) noexcept;

// Parses and verifies a whole message that has the mark. Returns nothing if the message is damaged.
std::optional<Envelope> open_message(const MessageFormat& format, ConstBytes message) noexcept;

}  // namespace taut
