// References of a frame: one or two earlier messages of the same type and count, from which its values are
// predicted. The sender and the receiver both hold them as decoded values. A frame names each of its
// references by a state number, so that a decoder recognises a wrong one.
#pragma once

#include <cstdint>
#include <span>

#include "compressor/frame/frame.hpp"
#include "compressor/values/slice.hpp"

namespace taut {

inline constexpr unsigned max_references = 2;

struct Reference {
  std::uint64_t state = 0;  // number that identifies the bytes, the type and the count of the values
  ConstSlice values = {};
  // The frame is an addend of a sum, and other addends have references of their own, under the same number.
  // The reference of the sum is the sum of theirs.
  bool of_addend = false;
};

// References of one message, the newest first. With one, a value is predicted to be that of the reference;
// with two, to change as much as it changed from the older reference to the newer one.
using References = std::span<const Reference>;

// State numbers of a frame's references, the newest first.
struct States {
  std::uint64_t of[max_references] = {};
  unsigned n = 0;

  constexpr bool any() const noexcept { return n > 0; }
  constexpr std::size_t bytes() const noexcept { return n * sizeof of[0]; }
  friend constexpr bool operator==(const States&, const States&) = default;
};

// Returns the state numbers of at most max_references references.
States states_of(References references) noexcept;

// Returns true if the references are few enough, and have the type and the count of the values.
bool refer_to(References references, ConstSlice values) noexcept;

// Returns true if the references begin with those that a frame names, and refer_to() values like its own. An
// encoder may have used fewer than it was given.
bool begin_with(References references, const States& named, ConstSlice values) noexcept;

// Value of parameters[2] in a frame with one reference for each addend. Other values are numbers of
// references.
inline constexpr std::uint8_t reference_of_each_addend = 3;

// Returns true if the frame was predicted from a reference for each addend, of a codec that adds frames.
inline bool refers_by_addend(const FrameHeader& header) noexcept {
  return !header.has(FrameHeader::stored) && header.parameters[2] == reference_of_each_addend;
}

// Returns the number of references that the header of a frame announces, of a codec that takes references.
inline unsigned reference_count(const FrameHeader& header) noexcept {
  if (refers_by_addend(header)) return 1;
  return header.has(FrameHeader::stored) ? 0 : header.parameters[2];
}

// Reads the state numbers at the start of a payload and removes them from it. Returns false if the header
// announces more than a frame can have, or more than the payload holds.
bool read_states(const FrameHeader& header, ConstBytes& payload, States& states) noexcept;

// Writes state numbers; returns their end.
std::byte* write_states(const States& states, std::byte* to) noexcept;

// Computes the state number that the calls of taut.h give to an array: a hash of its bytes, its type and its
// count (docs/spec/frame.md).
std::uint64_t state_of(ConstSlice values) noexcept;

}  // namespace taut
