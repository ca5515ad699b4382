#include "elastic.hpp"

#include <cmath>

namespace wave3d {
namespace {

// Weights of a staggered difference: of the two nearest values and of the two beyond.
struct Weights {
  float near, far;
};
constexpr Weights fourth_order{9.0F / 8, -1.0F / 24};
constexpr Weights second_order{1, 0};

// Returns the difference half a cell behind `f` along a stride, towards higher indices.
inline float ahead(const float* f, std::ptrdiff_t stride, Weights w) {
  return w.near * (f[stride] - f[0]) + w.far * (f[2 * stride] - f[-stride]);
}
// Returns the difference half a cell before `f`.
inline float before(const float* f, std::ptrdiff_t stride, Weights w) {
  return w.near * (f[0] - f[-stride]) + w.far * (f[stride] - f[-2 * stride]);
}

// Row of cells along x: pointers to their values, and the factors that all of them share.
struct Row {
  float* of[components];
  const float *lambda, *mu, *buoyancy, *damping_x;
  float damping_yz;
  std::ptrdiff_t y, z;  // strides
  int cells;
};

Row row_at(WaveField& field, const Medium& medium, int y, int z) {
  Row row{};
  const std::ptrdiff_t at = field.box.at(0, y, z);
  for (std::size_t c = 0; c < components; ++c) row.of[c] = field.values[c].data() + at;
  row.lambda = medium.lambda.data() + at;
  row.mu = medium.mu.data() + at;
  row.buoyancy = medium.buoyancy.data() + at;
  row.damping_x = medium.damping[0].data();
  row.damping_yz =
      medium.damping[1][static_cast<std::size_t>(y)] * medium.damping[2][static_cast<std::size_t>(z)];
  row.y = field.box.row();
  row.z = field.box.plane();
  row.cells = field.box.extent[0];
  return row;
}

void advance_velocity_row(const Row& row) {
  float* __restrict u = row.of[vx], * __restrict v = row.of[vy], * __restrict w = row.of[vz];
  const float *xx = row.of[sxx], *yy = row.of[syy], *zz = row.of[szz];
  const float *xy = row.of[sxy], *xz = row.of[sxz], *yz = row.of[syz];
  const std::ptrdiff_t sy = row.y, sz = row.z;
  const Weights o = fourth_order;
  for (int i = 0; i < row.cells; ++i) {
    const float b = time_step * row.buoyancy[i], damping = row.damping_x[i] * row.damping_yz;
    u[i] = damping * (u[i] + b * (ahead(xx + i, 1, o) + before(xy + i, sy, o) + before(xz + i, sz, o)));
    v[i] = damping * (v[i] + b * (before(xy + i, 1, o) + ahead(yy + i, sy, o) + before(yz + i, sz, o)));
    w[i] = damping * (w[i] + b * (before(xz + i, 1, o) + before(yz + i, sy, o) + ahead(zz + i, sz, o)));
  }
}

void advance_normal_stress_row(const Row& row, Weights in_z, bool at_surface) {
  float* __restrict xx = row.of[sxx], * __restrict yy = row.of[syy], * __restrict zz = row.of[szz];
  const float *u = row.of[vx], *v = row.of[vy], *w = row.of[vz];
  const std::ptrdiff_t sy = row.y, sz = row.z;
  const Weights o = fourth_order;
  for (int i = 0; i < row.cells; ++i) {
    const float l = row.lambda[i], two_mu = 2 * row.mu[i], damping = row.damping_x[i] * row.damping_yz;
    const float ex = before(u + i, 1, o), ey = before(v + i, sy, o);
    // At the surface szz stays 0, which gives the strain along z.
    const float ez = at_surface ? -l / (l + two_mu) * (ex + ey) : before(w + i, sz, in_z);
    const float volume = l * (ex + ey + ez);
    xx[i] = damping * (xx[i] + time_step * (volume + two_mu * ex));
    yy[i] = damping * (yy[i] + time_step * (volume + two_mu * ey));
    zz[i] = at_surface ? 0 : damping * (zz[i] + time_step * (volume + two_mu * ez));
  }
}

void advance_shear_stress_row(const Row& row, Weights in_z) {
  float* __restrict xy = row.of[sxy], * __restrict xz = row.of[sxz], * __restrict yz = row.of[syz];
  const float *u = row.of[vx], *v = row.of[vy], *w = row.of[vz];
  const std::ptrdiff_t sy = row.y, sz = row.z;
  const Weights o = fourth_order;
  for (int i = 0; i < row.cells; ++i) {
    const float m = time_step * row.mu[i], damping = row.damping_x[i] * row.damping_yz;
    xy[i] = damping * (xy[i] + m * (ahead(u + i, sy, o) + ahead(v + i, 1, o)));
    xz[i] = damping * (xz[i] + m * (ahead(u + i, sz, in_z) + ahead(w + i, 1, o)));
    yz[i] = damping * (yz[i] + m * (ahead(v + i, sz, in_z) + ahead(w + i, sy, o)));
  }
}

// Sets the stresses above the surface to the negative of their images below it.
void reflect_at_surface(WaveField& field) {
  const Box& box = field.box;
  for (int y = 0; y < box.extent[1]; ++y)
    for (int x = 0; x < box.extent[0]; ++x)
      for (int k = 1; k <= halo_planes; ++k) {
        const std::ptrdiff_t above = box.at(x, y, -k);
        field.data(szz)[above] = -field.data(szz)[box.at(x, y, k)];
        field.data(sxz)[above] = -field.data(sxz)[box.at(x, y, k - 1)];
        field.data(syz)[above] = -field.data(syz)[box.at(x, y, k - 1)];
      }
}

bool has_surface(const WaveField& field, const Medium& medium) {
  return medium.free_surface && field.box.first[2] == 0;
}

}  // namespace

void advance_velocities(WaveField& field, const Medium& medium) {
  for (int z = 0; z < field.box.extent[2]; ++z)
    for (int y = 0; y < field.box.extent[1]; ++y) advance_velocity_row(row_at(field, medium, y, z));
}

void advance_stresses(WaveField& field, const Medium& medium) {
  const bool surface = has_surface(field, medium);
  for (int z = 0; z < field.box.extent[2]; ++z) {
    const Weights in_z = surface && z < 2 ? second_order : fourth_order;
    for (int y = 0; y < field.box.extent[1]; ++y) {
      const Row row = row_at(field, medium, y, z);
      advance_normal_stress_row(row, in_z, surface && z == 0);
      advance_shear_stress_row(row, in_z);
    }
  }
  if (surface) reflect_at_surface(field);
}

void add_source(WaveField& field, const Triple& cell, int step) {
  if (!field.box.holds(cell)) return;
  constexpr double width = 9, moment = 4000;  // the shortest S waves are 6 cells long
  const double t = step * static_cast<double>(time_step) - 4 * width;
  const double rate = moment * std::exp(-t * t / (2 * width * width)) / (width * std::sqrt(6.2831853));
  const auto added = static_cast<float>(rate * static_cast<double>(time_step));
  const std::ptrdiff_t at = field.box.at_whole(cell);
  field.data(sxy)[at] += added;
  field.data(sxz)[at] += 0.5F * added;
}

double energy(const WaveField& field, const Medium& medium) {
  double sum = 0;
  const Box& box = field.box;
  const auto square = [](float value) { return static_cast<double>(value) * static_cast<double>(value); };
  for (int z = 0; z < box.extent[2]; ++z)
    for (int y = 0; y < box.extent[1]; ++y)
      for (int x = 0; x < box.extent[0]; ++x) {
        const std::ptrdiff_t i = box.at(x, y, z);
        const auto of = [&](Component c) { return field.data(c)[i]; };
        const auto cell = static_cast<std::size_t>(i);
        const double mu = static_cast<double>(medium.mu[cell]);
        const double lambda = static_cast<double>(medium.lambda[cell]);
        const double kinetic = (square(of(vx)) + square(of(vy)) + square(of(vz))) / 2 /
                               static_cast<double>(medium.buoyancy[cell]);
        const double shear = 2 * (square(of(sxy)) + square(of(sxz)) + square(of(syz)));
        const double normal = square(of(sxx)) + square(of(syy)) + square(of(szz));
        const double trace = square(of(sxx) + of(syy) + of(szz));
        sum += kinetic + (normal + shear - lambda / (3 * lambda + 2 * mu) * trace) / (4 * mu);
      }
  return sum;
}

}  // namespace wave3d
