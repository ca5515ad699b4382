// How an array is cut into frames.
#pragma once

#include <cstdint>
#include <vector>

namespace taut::cli {

inline constexpr std::uint64_t most_values_a_frame = std::uint64_t{1} << 22;

// Neighbours in the file.
struct Piece {
  std::uint64_t first = 0;           // value
  std::vector<std::size_t> extents;  // slowest first; at least one

  std::size_t count() const noexcept;
};

// As many whole rows, planes, ... as fit into `most` values, in parts of nearly equal size, none of which
// goes over the end of what holds them.
std::vector<Piece> pieces_of(std::vector<std::uint64_t> shape, std::uint64_t most = most_values_a_frame);

}  // namespace taut::cli
