// Elastic waves: velocities and stresses on a staggered grid, fourth order in space and second in time.
//
// With a cell at (x, y, z): vx is at x + 1/2, vy at y + 1/2, vz at z + 1/2, the normal stresses are in the
// cell, sxy is at x + 1/2 and y + 1/2, and so on. The free surface has images of the stresses above it
// (Graves, Bull. Seism. Soc. Am. 86, 1996). The two planes next to it have differences of second order in z.
#pragma once

#include <array>
#include <vector>

#include "medium.hpp"

namespace wave3d {

enum Component { vx, vy, vz, sxx, syy, szz, sxy, sxz, syz, components };

struct WaveField {
  explicit WaveField(const Box& where) : box(where) {
    for (Array& part : values) part = Array(box.size());
  }
  float* data(Component c) { return values[c].data(); }
  const float* data(Component c) const { return values[c].data(); }

  Box box;
  std::array<Array, components> values;
};

// Components that a neighbour along an axis needs after each half of a step.
constexpr std::array<Component, 3> halo_velocities{vx, vy, vz};
constexpr std::array<std::array<Component, 3>, 3> halo_stresses{
    {{sxx, sxy, sxz}, {sxy, syy, syz}, {sxz, syz, szz}}};

constexpr float time_step = 0.45F;  // in cells, at the greatest speed; below 0.49 is stable

// The two halves of a step. The halos of the other half's components must be up to date.
void advance_velocities(WaveField& field, const Medium& medium);
void advance_stresses(WaveField& field, const Medium& medium);

// Adds the moment of a double couple during one step to the rank that holds its cell.
void add_source(WaveField& field, const Triple& cell, int step);

// Returns the kinetic energy and the energy of strain in the cells of the rank.
double energy(const WaveField& field, const Medium& medium);

}  // namespace wave3d
