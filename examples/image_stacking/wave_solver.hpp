// The acoustic wave equation  u_tt = v^2 (u_xx + u_zz) + source  by finite differences: second order in time,
// eighth in space. A sponge surrounds the section; in the sponge  u_tt + 2 s u_t = v^2 (u_xx + u_zz)  damps
// the waves.
#pragma once

#include <vector>

#include "velocity_model.hpp"

namespace stacking {

class WaveSolver {
 public:
  // `sponge`: its width in points on each side.
  WaveSolver(const VelocityModel& model, float time_step, int sponge = 40);

  // The longest stable time step, times 0.9.
  static float stable_time_step(float velocity, float spacing);

  void step();                                  // advances to the next time
  void add(int x, int z, float amplitude);      // adds to the pressure at a point of the section
  float at(int x, int z) const;                 // pressure at a point of the section
  void copy_row(int z, float* out) const;       // pressure along a row of the section
  void add_row(int z, const float* amplitude);  // adds to the pressure along a row

 private:
  std::size_t index(int x, int z) const;

  int nx_, sponge_, width_, depth_;  // size of the section; with sponge, without halo
  std::ptrdiff_t stride_;
  std::vector<float> current_, previous_;
  std::vector<float> courant_;  // (v dt / h)^2, times the damping factor
  std::vector<float> damping_;  // 1 / (1 + s dt)
};

// Returns a Ricker wavelet of peak frequency f, shifted so that it starts near zero.
float ricker(float time, float peak_frequency);

}  // namespace stacking
