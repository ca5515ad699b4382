// Reverse-time migration of one shot, with subsurface offsets.
//
//   forward     source wavefield S(x, z, t) in the smooth model
//   data        receivers along the surface, true model minus smooth model: what was reflected
//   backward    receiver wavefield R(x, z, t): the data played back in time into the smooth model
//   imaging     I(h, z, x) = sum over t of S(x - h, z, t) R(x + h, z, t); h = 0 is the section
#pragma once

#include <vector>

#include "velocity_model.hpp"

namespace stacking {

struct Survey {
  VelocityModel truth, smooth;
  float peak_frequency;  // Hz
  float time_step;       // s
  int steps;
  int every;    // steps from one imaging time to the next
  int surface;  // row of sources and receivers
};

// Returns the time step, recording time and imaging interval that suit the model.
Survey plan_survey(int nx, int nz, float spacing);

// An image for each subsurface offset: 2 * offsets + 1 sections, one after the other.
struct ImageVolume {
  int offsets, nz, nx;
  std::vector<float> values;

  ImageVolume(int offsets, int nz, int nx);
  int sections() const noexcept { return 2 * offsets + 1; }
  float* row(int offset, int z) noexcept;
};

// Adds the image of the shot at `source_x` to `image`.
void migrate_shot(const Survey& survey, int source_x, ImageVolume& image);

// Removes from the image the smooth, strong artefact of waves that travel along the same path (a Laplacian),
// mutes the part near the sources, and compensates the loss of amplitude with depth. The filter is linear, so
// it may come before the stack.
void filter(ImageVolume& image);

}  // namespace stacking
