#include "wave_solver.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stacking {
namespace {

constexpr int halo = 4;  // points of zero pressure around the grid, for the stencil
constexpr float centre = -205.0F / 72.0F;
constexpr float w1 = 8.0F / 5.0F, w2 = -1.0F / 5.0F, w3 = 8.0F / 315.0F, w4 = -1.0F / 560.0F;

// One row: previous <- d (2 (u - previous) + c Laplace(u)) + previous, with d = 1 / (1 + s dt) and courant =
// d c. This is  (u+ - 2 u + u-) / dt^2 + 2 s (u+ - u-) / (2 dt) = v^2 Laplace(u)  solved for u+.
void advance_row(const float* __restrict u, float* __restrict previous, const float* __restrict courant,
                 const float* __restrict damping, int n, std::ptrdiff_t row) {
  for (int i = 0; i < n; ++i) {
    const float laplace = 2 * centre * u[i] + w1 * (u[i - 1] + u[i + 1] + u[i - row] + u[i + row]) +
                          w2 * (u[i - 2] + u[i + 2] + u[i - 2 * row] + u[i + 2 * row]) +
                          w3 * (u[i - 3] + u[i + 3] + u[i - 3 * row] + u[i + 3 * row]) +
                          w4 * (u[i - 4] + u[i + 4] + u[i - 4 * row] + u[i + 4 * row]);
    previous[i] += 2 * damping[i] * (u[i] - previous[i]) + courant[i] * laplace;
  }
}

// Returns the damping rate at `distance` points into a sponge of `width` points. It rises as the square, so
// that the edge of the sponge does not reflect, to a value that damps a wave to 1e-4 on its way in and out.
float damping_rate(int distance, int width, float velocity, float spacing) {
  if (distance <= 0) return 0;
  const float share = static_cast<float>(distance) / static_cast<float>(width);
  const float strongest = 1.5F * std::log(1e4F) * velocity / (static_cast<float>(width) * spacing);
  return strongest * share * share;
}

}  // namespace

WaveSolver::WaveSolver(const VelocityModel& model, float time_step, int sponge)
    : nx_(model.velocity.nx),
      sponge_(sponge),
      width_(model.velocity.nx + 2 * sponge),
      depth_(model.velocity.nz + 2 * sponge),
      stride_(width_ + 2 * halo) {
  const auto points = static_cast<std::size_t>(stride_) * static_cast<std::size_t>(depth_ + 2 * halo);
  current_.assign(points, 0);
  previous_.assign(points, 0);
  courant_.assign(points, 0);
  damping_.assign(points, 1);
  const int nz = model.velocity.nz;
  for (int z = -sponge; z < nz + sponge; ++z) {
    for (int x = -sponge; x < nx_ + sponge; ++x) {
      const float v = model.velocity.at(std::clamp(x, 0, nx_ - 1), std::clamp(z, 0, nz - 1));
      const int into_x = std::max(-x, x - (nx_ - 1)), into_z = std::max(-z, z - (nz - 1));
      const float rate =
          damping_rate(into_x, sponge, v, model.spacing) + damping_rate(into_z, sponge, v, model.spacing);
      const float courant = v * time_step / model.spacing;
      damping_[index(x, z)] = 1 / (1 + rate * time_step);
      courant_[index(x, z)] = courant * courant * damping_[index(x, z)];
    }
  }
}

float WaveSolver::stable_time_step(float velocity, float spacing) {
  const float weights = -centre + 2 * (w1 - w2 + w3 - w4);  // sum of the absolute weights in one direction
  return 0.9F * 2 / std::sqrt(2 * weights) * spacing / velocity;
}

std::size_t WaveSolver::index(int x, int z) const {
  return static_cast<std::size_t>((z + sponge_ + halo) * stride_ + x + sponge_ + halo);
}

void WaveSolver::step() {
  for (int z = 0; z < depth_; ++z) {
    const std::ptrdiff_t first = (z + halo) * stride_ + halo;
    advance_row(current_.data() + first, previous_.data() + first, courant_.data() + first,
                damping_.data() + first, width_, stride_);
  }
  std::swap(current_, previous_);
}

void WaveSolver::add(int x, int z, float amplitude) { current_[index(x, z)] += amplitude; }

float WaveSolver::at(int x, int z) const { return current_[index(x, z)]; }

void WaveSolver::copy_row(int z, float* out) const { std::copy_n(current_.data() + index(0, z), nx_, out); }

void WaveSolver::add_row(int z, const float* amplitude) {
  float* row = current_.data() + index(0, z);
  for (int x = 0; x < nx_; ++x) row[x] += amplitude[x];
}

float ricker(float time, float peak_frequency) {
  const float t = std::numbers::pi_v<float> * (peak_frequency * time - 1.2F);
  return (1 - 2 * t * t) * std::exp(-t * t);
}

}  // namespace stacking
