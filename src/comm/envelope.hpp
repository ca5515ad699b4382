// The header of a coded point-to-point message, and the length of such a message. A plain message has
// neither: it is MPI's. Layout, meaning and what must be rejected: docs/spec/message.md.
#pragma once

#include <optional>

#include "core/slice.hpp"
#include "core/status.hpp"

namespace taut {

inline constexpr std::size_t envelope_bytes = 24;

// The lengths of coded messages. Few plain messages have one of them, so a probe has to look into few. Each
// is a multiple of the size of any value: MPICH refuses a message that ends within a number.
inline constexpr std::size_t coded_step = 1024, coded_rest = 31 * 16;
static_assert(coded_step % 16 == 0 && coded_rest % 16 == 0);

constexpr bool is_coded_length(std::size_t bytes) noexcept { return bytes % coded_step == coded_rest; }

// What senders and receivers have in common.
struct MessageFormat {
  std::uint64_t mark = 0;                // begins each coded message; random, so that nothing else begins so
  std::size_t least_bytes = coded_rest;  // length of the shortest coded message, by padding

  // The length of a coded message, its header, frames and padding, of which the first two have `bytes`.
  constexpr std::size_t length(std::size_t bytes) const noexcept {
    if (bytes <= least_bytes) return least_bytes;
    return least_bytes + (bytes - least_bytes + coded_step - 1) / coded_step * coded_step;
  }

  // Whether a message of that length may be coded.
  constexpr bool may_have(std::size_t bytes) const noexcept {
    return bytes >= least_bytes && is_coded_length(bytes);
  }
};

// A mark that no other job or communicator is likely to have.
std::uint64_t random_mark();

// The header as its reader sees it.
struct Envelope {
  std::uint8_t type = 0;    // DType of the values
  std::uint64_t bytes = 0;  // of the values
  ConstBytes frames;
};

// Makes a message of `frames` bytes that stand behind the room for the header: adds header and padding, for
// which `message` has room. Returns the length.
std::size_t seal(const MessageFormat& format, std::uint8_t type, std::uint64_t bytes, std::size_t frames,
                 Bytes message) noexcept;

// Whether a message that begins so has the mark. A cheap check before open_message().
bool has_mark(const MessageFormat& format, ConstBytes begin) noexcept;

// Parses and verifies a whole message that has the mark. Nothing: it is damaged.
std::optional<Envelope> open_message(const MessageFormat& format, ConstBytes message) noexcept;

}  // namespace taut
