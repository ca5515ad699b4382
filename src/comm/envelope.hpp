// The header of a point-to-point message. Layout, meaning and what must be rejected: docs/spec/message.md.
#pragma once

#include "core/slice.hpp"
#include "core/status.hpp"

namespace taut {

inline constexpr std::size_t envelope_bytes = 24;

struct Envelope {
  enum Flags : std::uint8_t {
    coded = 1,        // the payload is frames; else the values as they are
    checksummed = 2,  // the checksum covers the payload, which is plain, as well
  };

  std::uint8_t flags = 0;
  std::uint8_t type = 0;       // DType of the values; 0: bytes, or a type that is not known here
  std::uint64_t bytes = 0;     // of the values
  std::uint32_t sequence = 0;  // counts the messages of a sender, modulo 2^32

  bool has(Flags flag) const noexcept { return (flags & flag) != 0; }
};

// Writes the header to the first envelope_bytes of `out`. `payload` matters if it is checksummed.
void write_envelope(const Envelope& envelope, ConstBytes payload, Bytes out) noexcept;

// Reads a header and checks it against the payload that came with it.
Status read_envelope(ConstBytes head, ConstBytes payload, Envelope& envelope) noexcept;

// Whether `a` was sent before `b`, by the same sender.
constexpr bool is_before(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::int32_t>(a - b) < 0;
}

}  // namespace taut
