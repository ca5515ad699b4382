// Numbers in frames, which stand wherever they come to stand.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>

namespace taut {

static_assert(std::endian::native == std::endian::little, "frames are little-endian; add byte swaps first");

template <class T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Returns where the next one goes.
template <class T>
std::byte* store(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

}  // namespace taut
