// A synthetic section: layers, an anticline with gas, a fault below an unconformity, a fast lens.
#pragma once

#include "field.hpp"

namespace stacking {

struct VelocityModel {
  Field velocity;  // m/s
  float spacing;   // m, in x and z
};

// Makes the section. It scales with the grid: width 5 km and depth 2 km at 401 x 161 points and 12.5 m.
VelocityModel layered_model(int nx, int nz, float spacing);

// Returns the model that the migration uses: the slowness, smoothed by a Gaussian of `radius` metres.
VelocityModel smoothed(const VelocityModel& model, float radius);

float slowest(const VelocityModel& model);
float fastest(const VelocityModel& model);

}  // namespace stacking
