// The elastic medium: layers with undulating interfaces and random heterogeneity.
//
// Units: lengths in cells, speeds in the greatest speed of P waves, densities in the density there.
#pragma once

#include "box.hpp"
#include "memory.hpp"

namespace wave3d {

struct Medium {
  Array lambda, mu;  // Lame's parameters of each cell
  Array buoyancy;    // 1 / density
  // Factors by which a sponge damps the waves near the faces of the whole grid, for each axis.
  std::array<Array, 3> damping;
  bool free_surface = true;  // z = 0 is the surface of the earth; else there is a sponge too
};

Medium make_medium(const Box& box, int sponge_cells, bool free_surface);

}  // namespace wave3d
