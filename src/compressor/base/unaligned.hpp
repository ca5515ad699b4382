// Access to numbers in frames, at any address.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>

namespace taut {

static_assert(std::endian::native == std::endian::little, "frames are little-endian; add byte swaps first");

// Loads a number from any address.
template <class T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Stores a number and returns the address after it.
template <class T>
std::byte* store(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

}  // namespace taut
