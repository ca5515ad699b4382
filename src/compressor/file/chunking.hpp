// Division of an array into frames.
#pragma once

#include <cstdint>
#include <vector>

namespace taut::file {

inline constexpr std::uint64_t most_values_a_frame = std::uint64_t{1} << 22;

// Piece of an array: values that are contiguous in the file.
struct Piece {
  std::uint64_t first = 0;           // index of its first value
  std::vector<std::size_t> extents;  // slowest first; at least one

  std::size_t count() const noexcept;
};

// Divides an array into pieces of at most `most` values. A piece holds as many whole rows, planes, ... as
// fit. The pieces are of nearly equal size, and none crosses the end of the enclosing row, plane, ...
std::vector<Piece> pieces_of(std::vector<std::uint64_t> shape, std::uint64_t most = most_values_a_frame);

}  // namespace taut::file
