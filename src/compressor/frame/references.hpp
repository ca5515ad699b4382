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

// Reference, as its holder gives it to a codec.
struct Reference {
  std::uint64_t state = 0;  // state number: identifies the bytes, the type and the count of the values
  ConstSlice values = {};
  // True if the frame will be an addend of a sum whose addends each have a reference, all with this state
  // number. The reference of the sum is the sum of these references.
  bool by_addend = false;
};

// References of one message, the newest first. One reference predicts that a value is the same as in the
// reference; two, that it changes as much as it changed from the older reference to the newer one.
using References = std::span<const Reference>;

// State numbers of a frame's references, the newest first.
struct StateNumbers {
  std::uint64_t number[max_references] = {};
  unsigned n = 0;

  constexpr bool any() const noexcept { return n > 0; }
  constexpr std::size_t bytes() const noexcept { return n * sizeof number[0]; }
  friend constexpr bool operator==(const StateNumbers&, const StateNumbers&) = default;
};

// Returns the state numbers of at most max_references references.
StateNumbers state_numbers_of(References references) noexcept;

// Returns true if there are at most max_references, all with the type and the count of the values.
bool fit_values(References references, ConstSlice values) noexcept;

// Returns true if the references fit_values() and the first of them are those that a frame names. Further
// references are allowed, because an encoder may have used fewer than it was given.
bool begin_with_named(References references, const StateNumbers& named, ConstSlice values) noexcept;

// Value of FrameHeader::parameters[2] in a frame with one reference for each addend. Lower values are the
// number of references.
inline constexpr std::uint8_t reference_of_each_addend = 3;

// Returns true if a frame, of a codec that adds frames, was predicted from a reference for each addend.
inline bool refers_by_addend(const FrameHeader& header) noexcept {
  return !header.has(FrameHeader::stored) && header.parameters[2] == reference_of_each_addend;
}

// Returns the number of references that the header of a frame, of a codec that takes references, announces.
inline unsigned reference_count(const FrameHeader& header) noexcept {
  if (refers_by_addend(header)) return 1;
  return header.has(FrameHeader::stored) ? 0 : header.parameters[2];
}

// Reads the state numbers at the start of a payload and removes them from it. Returns false if the header
// announces more than a frame can have, or more than the payload holds.
bool read_state_numbers(const FrameHeader& header, ConstBytes& payload, StateNumbers& states) noexcept;

// Writes state numbers; returns their end.
std::byte* write_state_numbers(const StateNumbers& states, std::byte* to) noexcept;

// Computes the state number that the calls of taut.h give to an array: a hash of its bytes, its type and its
// count (docs/spec/frame.md).
std::uint64_t state_number_of(ConstSlice values) noexcept;

}  // namespace taut
