#include "elastic.hpp"

#include <cmath>

#include "loops.hpp"
#include "rows.hpp"

namespace wave3d {
namespace {

View view_of(WaveField& field, const Medium& medium) {
  View view{};
  for (std::size_t c = 0; c < components; ++c) view.of[c] = field.values[c].data();
  view.lambda = medium.lambda.data();
  view.mu = medium.mu.data();
  view.buoyancy = medium.buoyancy.data();
  for (std::size_t axis = 0; axis < 3; ++axis) view.damping[axis] = medium.damping[axis].data();
  view.box = field.box;
  view.surface = medium.free_surface && field.box.first[2] == 0;
  return view;
}

int rows_of(const Box& box) { return box.extent[1] * box.extent[2]; }

}  // namespace

void advance_velocities(WaveField& field, const Medium& medium) {
  for_each(rows_of(field.box), field.box.extent[0], AdvanceVelocities{view_of(field, medium)});
}

void advance_stresses(WaveField& field, const Medium& medium) {
  const View view = view_of(field, medium);
  for_each(rows_of(field.box), field.box.extent[0], AdvanceStresses{view});
  if (view.surface) for_each(field.box.extent[1], field.box.extent[0], ReflectAtSurface{view});
}

void add_source(WaveField& field, const Triple& cell, int step) {
  if (!field.box.holds(cell)) return;
  constexpr double width = 9, moment = 4000;  // the shortest S waves are 6 cells long
  const double t = step * static_cast<double>(time_step) - 4 * width;
  const double rate = moment * std::exp(-t * t / (2 * width * width)) / (width * std::sqrt(6.2831853));
  const auto added = static_cast<float>(rate * static_cast<double>(time_step));
  const std::ptrdiff_t at = field.box.at_whole(cell);
  for_each(1, 1, AddSource{field.data(sxy) + at, field.data(sxz) + at, added});
}

double energy(const WaveField& field, const Medium& medium) {
  double sum = 0;
  const Box& box = field.box;
  std::array<std::vector<float>, components> waves;
  for (std::size_t c = 0; c < components; ++c) waves[c] = field.values[c].read();
  const std::vector<float>& lambdas = medium.lambda.read();  // the array itself, or a copy that lives as long
  const std::vector<float>& mus = medium.mu.read();
  const std::vector<float>& buoyancies = medium.buoyancy.read();
  const auto square = [](float value) { return static_cast<double>(value) * static_cast<double>(value); };
  for (int z = 0; z < box.extent[2]; ++z)
    for (int y = 0; y < box.extent[1]; ++y)
      for (int x = 0; x < box.extent[0]; ++x) {
        const auto cell = static_cast<std::size_t>(box.at(x, y, z));
        const auto of = [&](Component c) { return waves[c][cell]; };
        const double mu = static_cast<double>(mus[cell]), lambda = static_cast<double>(lambdas[cell]);
        const double kinetic =
            (square(of(vx)) + square(of(vy)) + square(of(vz))) / 2 / static_cast<double>(buoyancies[cell]);
        const double shear = 2 * (square(of(sxy)) + square(of(sxz)) + square(of(syz)));
        const double normal = square(of(sxx)) + square(of(syy)) + square(of(szz));
        const double trace = square(of(sxx) + of(syy) + of(szz));
        sum += kinetic + (normal + shear - lambda / (3 * lambda + 2 * mu) * trace) / (4 * mu);
      }
  return sum;
}

}  // namespace wave3d
