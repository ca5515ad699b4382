#include "medium.hpp"

#include <cmath>
#include <numbers>
#include <random>

namespace wave3d {
namespace {

constexpr int scatterers = 24;       // plane waves that make up the heterogeneity
constexpr double heterogeneity = 5;  // percent of the speed, root of the mean square

struct PlaneWave {
  std::array<double, 3> number;
  double phase, amplitude;
};

// Returns waves of random directions, 10 to 60 cells long; the longer, the stronger.
std::vector<PlaneWave> random_waves() {
  std::mt19937 random(20260701);
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  std::vector<PlaneWave> waves(scatterers);
  double power = 0;
  for (PlaneWave& wave : waves) {
    const double length = 10 * std::pow(6.0, uniform()), k = 2 * std::numbers::pi / length;
    const double cosine = 2 * uniform() - 1, sine = std::sqrt(1 - cosine * cosine);
    const double angle = 2 * std::numbers::pi * uniform();
    wave = {{k * sine * std::cos(angle), k * sine * std::sin(angle), k * cosine},
            2 * std::numbers::pi * uniform(),
            std::sqrt(length)};
    power += wave.amplitude * wave.amplitude / 2;
  }
  for (PlaneWave& wave : waves) wave.amplitude *= heterogeneity / 100 / std::sqrt(power);
  return waves;
}

// Returns the speed of P waves in the layer at a place. The fractions are those of the whole grid.
double layer_speed(double x, double y, double z) {
  const double undulation =
      0.03 * std::sin(2 * std::numbers::pi * x) * std::cos(2 * std::numbers::pi * y * 1.5);
  const double depth = z + undulation;
  if (depth < 0.15) return 0.55;
  if (depth < 0.4) return 0.7;
  return depth < 0.7 ? 0.82 : 0.93;
}

std::vector<float> damping_along(int extent, int first, int whole, int cells, bool damp_low) {
  std::vector<float> factors(static_cast<std::size_t>(extent), 1.0F);
  for (int i = 0; i < extent; ++i) {
    const int place = first + i, from_low = damp_low ? place : whole;
    const int inside = cells - std::min(from_low, whole - 1 - place);  // cells into the sponge
    if (inside <= 0) continue;
    const double share = static_cast<double>(inside) / cells;
    factors[static_cast<std::size_t>(i)] = static_cast<float>(std::exp(-0.08 * share * share));
  }
  return factors;
}

}  // namespace

Medium make_medium(const Box& box, int sponge_cells, bool free_surface) {
  std::vector<float> lambda(box.size()), mu(box.size()), buoyancy(box.size());
  const std::vector<PlaneWave> waves = random_waves();
  for (int z = 0; z < box.extent[2]; ++z)
    for (int y = 0; y < box.extent[1]; ++y)
      for (int x = 0; x < box.extent[0]; ++x) {
        const double at[3] = {box.first[0] + x + 0.5, box.first[1] + y + 0.5, box.first[2] + z + 0.5};
        double change = 0;
        for (const PlaneWave& wave : waves)
          change += wave.amplitude * std::sin(wave.number[0] * at[0] + wave.number[1] * at[1] +
                                              wave.number[2] * at[2] + wave.phase);
        const double layer = layer_speed(at[0] / box.whole[0], at[1] / box.whole[1], at[2] / box.whole[2]);
        const double p = std::min(1.0, layer * (1 + change)), s = p / 1.75;
        const double density = 0.5 + 0.5 * p;
        const auto i = static_cast<std::size_t>(box.at(x, y, z));
        mu[i] = static_cast<float>(density * s * s);
        lambda[i] = static_cast<float>(density * (p * p - 2 * s * s));
        buoyancy[i] = static_cast<float>(1 / density);
      }
  Medium medium;
  medium.lambda = Array(std::move(lambda));
  medium.mu = Array(std::move(mu));
  medium.buoyancy = Array(std::move(buoyancy));
  for (std::size_t a = 0; a < 3; ++a)
    medium.damping[a] = Array(
        damping_along(box.extent[a], box.first[a], box.whole[a], sponge_cells, a != 2 || !free_surface));
  medium.free_surface = free_surface;
  return medium;
}

}  // namespace wave3d
