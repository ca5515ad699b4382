// The part of the grid that one rank holds.
#pragma once

#include <array>
#include <cstddef>

namespace wave3d {

using Triple = std::array<int, 3>;  // x, y, z; x varies fastest in memory, z is the depth

constexpr int halo_planes = 2;  // reach of a difference of fourth order

// Cells of a rank, with halo_planes planes of halo on each side.
struct Box {
  Triple extent{};  // cells of this rank
  Triple first{};   // position of its first cell in the whole grid
  Triple whole{};   // cells of the whole grid

  constexpr std::ptrdiff_t row() const { return extent[0] + 2 * halo_planes; }
  constexpr std::ptrdiff_t plane() const { return row() * (extent[1] + 2 * halo_planes); }
  constexpr std::size_t size() const {
    return static_cast<std::size_t>(plane() * (extent[2] + 2 * halo_planes));
  }

  // Returns the index of a cell, counted from the rank's own first cell.
  constexpr std::ptrdiff_t at(int x, int y, int z) const {
    return x + halo_planes + row() * (y + halo_planes) + plane() * (z + halo_planes);
  }
  constexpr bool holds(const Triple& cell) const {
    for (std::size_t a = 0; a < 3; ++a)
      if (cell[a] < first[a] || cell[a] >= first[a] + extent[a]) return false;
    return true;
  }
  constexpr std::ptrdiff_t at_whole(const Triple& cell) const {
    return at(cell[0] - first[0], cell[1] - first[1], cell[2] - first[2]);
  }
};

}  // namespace wave3d
