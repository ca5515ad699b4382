// A message of values as frames, where a program expects the values (docs/adr/0014).
//
//   mark, 8 bytes | bytes of the values, 7 bytes | their DType, 1 byte | bytes of padding, 4 bytes
//   | CRC-32C of all else but the padding, 4 bytes | frames | padding
//
// Little-endian. The mark is one of this job, so that nothing else looks like such a message.
#pragma once

#include <memory>
#include <optional>

#include "comm/message_coder.hpp"
#include "core/status.hpp"
#include "policy/policy.hpp"

namespace taut::dropin {

// Such a message is this long or longer by a multiple of the step, as few others are: so a probe, which tells
// no more than a length, has to look into few, and what comes to a shorter buffer is none: MPI itself finds
// it too long. In turn it pays for messages of several times as many bytes.
inline constexpr std::size_t coded_step = 1024;
inline constexpr std::size_t least_coded_bytes = (std::size_t{64} << 10) + 31 * 16;

constexpr bool is_coded_length(std::size_t bytes) noexcept {
  return bytes >= least_coded_bytes && (bytes - least_coded_bytes) % coded_step == 0;
}

inline constexpr std::size_t coded_head_bytes = 24;

// Shorter values travel as they are.
inline constexpr std::size_t least_value_bytes = std::size_t{128} << 10;

// Before all else.
void set_mark(std::uint64_t of_the_job) noexcept;

struct CodedMessage {
  std::unique_ptr<std::byte[]> memory;
  std::size_t bytes = 0;  // 0: the values travel as they are

  explicit operator bool() const noexcept { return bytes != 0; }
};

// Any thread may call these. `made` tells how the frames were made, or why not.
CodedMessage encode(const Policy& policy, ConstSlice values, int tag, EncodedMessage& made) noexcept;

struct Opened {
  std::size_t bytes;  // of the values
  std::uint8_t type;  // DType
  ConstBytes frames;
};

// Whether a message that begins so may be such a one, and what all of it is, if it is one.
bool has_mark(ConstBytes begin) noexcept;
std::optional<Opened> open(ConstBytes message) noexcept;

// To opened.bytes of values, aligned for them, elsewhere than the frames.
Status decode(const Opened& opened, Bytes values) noexcept;

}  // namespace taut::dropin
