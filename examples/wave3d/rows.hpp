// Differences of the elastic equations, cell by cell. The functions are constexpr, which CUDA's compiler
// takes for the host and for a GPU alike.
#pragma once

#include "elastic.hpp"

namespace wave3d {

// Weights of a staggered difference: of the two nearest values and of the two beyond.
struct Weights {
  float near, far;
};
constexpr Weights fourth_order{9.0F / 8, -1.0F / 24};
constexpr Weights second_order{1, 0};

// Returns the difference half a cell behind `f` along a stride, towards higher indices.
constexpr float ahead(const float* f, std::ptrdiff_t stride, Weights w) {
  return w.near * (f[stride] - f[0]) + w.far * (f[2 * stride] - f[-stride]);
}
// Returns the difference half a cell before `f`.
constexpr float before(const float* f, std::ptrdiff_t stride, Weights w) {
  return w.near * (f[0] - f[-stride]) + w.far * (f[stride] - f[-2 * stride]);
}

// Returns the value, or 0 if it is tiny. Values ahead of the waves would otherwise fall below 1e-38, where
// processors take up to 100 times as long.
constexpr float unless_tiny(float value) {
  constexpr float tiny = 1e-25F;
  return value < tiny && value > -tiny ? 0 : value;
}

// Waves and medium of a rank: pointers into the memory of their arrays.
struct View {
  std::array<float*, components> of;
  const float *lambda, *mu, *buoyancy;
  std::array<const float*, 3> damping;
  Box box;
  bool surface;  // the first plane along z is the surface of the earth
};

// Row of cells along x: pointers to their values, and the factors that all of them share.
struct Row {
  std::array<float*, components> of;
  const float *lambda, *mu, *buoyancy, *damping_x;
  float damping_yz;
  std::ptrdiff_t y, z;  // strides
};

constexpr Row row_at(const View& view, int y, int z) {
  const std::ptrdiff_t at = view.box.at(0, y, z);
  Row row{};
  for (std::size_t c = 0; c < components; ++c) row.of[c] = view.of[c] + at;
  row.lambda = view.lambda + at;
  row.mu = view.mu + at;
  row.buoyancy = view.buoyancy + at;
  row.damping_x = view.damping[0];
  row.damping_yz = view.damping[1][y] * view.damping[2][z];
  row.y = view.box.row();
  row.z = view.box.plane();
  return row;
}

// The functions below advance the cells of a row from `first` to before `last`.
constexpr void advance_velocity_row(const Row& row, int first, int last) {
  float* __restrict u = row.of[vx], * __restrict v = row.of[vy], * __restrict w = row.of[vz];
  const float *xx = row.of[sxx], *yy = row.of[syy], *zz = row.of[szz];
  const float *xy = row.of[sxy], *xz = row.of[sxz], *yz = row.of[syz];
  const std::ptrdiff_t sy = row.y, sz = row.z;
  const Weights o = fourth_order;
  for (int i = first; i < last; ++i) {
    const float b = time_step * row.buoyancy[i], damping = row.damping_x[i] * row.damping_yz;
    u[i] = unless_tiny(damping *
                       (u[i] + b * (ahead(xx + i, 1, o) + before(xy + i, sy, o) + before(xz + i, sz, o))));
    v[i] = unless_tiny(damping *
                       (v[i] + b * (before(xy + i, 1, o) + ahead(yy + i, sy, o) + before(yz + i, sz, o))));
    w[i] = unless_tiny(damping *
                       (w[i] + b * (before(xz + i, 1, o) + before(yz + i, sy, o) + ahead(zz + i, sz, o))));
  }
}

template <bool at_surface>
constexpr void advance_normal_stress_row(const Row& row, Weights in_z, int first, int last) {
  float* __restrict xx = row.of[sxx], * __restrict yy = row.of[syy], * __restrict zz = row.of[szz];
  const float *u = row.of[vx], *v = row.of[vy], *w = row.of[vz];
  const std::ptrdiff_t sy = row.y, sz = row.z;
  const Weights o = fourth_order;
  for (int i = first; i < last; ++i) {
    const float l = row.lambda[i], two_mu = 2 * row.mu[i], damping = row.damping_x[i] * row.damping_yz;
    const float ex = before(u + i, 1, o), ey = before(v + i, sy, o);
    // At the surface szz stays 0, which gives the strain along z.
    const float ez = at_surface ? -l / (l + two_mu) * (ex + ey) : before(w + i, sz, in_z);
    const float volume = l * (ex + ey + ez);
    xx[i] = unless_tiny(damping * (xx[i] + time_step * (volume + two_mu * ex)));
    yy[i] = unless_tiny(damping * (yy[i] + time_step * (volume + two_mu * ey)));
    zz[i] = at_surface ? 0 : unless_tiny(damping * (zz[i] + time_step * (volume + two_mu * ez)));
  }
}

constexpr void advance_shear_stress_row(const Row& row, Weights in_z, int first, int last) {
  float* __restrict xy = row.of[sxy], * __restrict xz = row.of[sxz], * __restrict yz = row.of[syz];
  const float *u = row.of[vx], *v = row.of[vy], *w = row.of[vz];
  const std::ptrdiff_t sy = row.y, sz = row.z;
  const Weights o = fourth_order;
  for (int i = first; i < last; ++i) {
    const float m = time_step * row.mu[i], damping = row.damping_x[i] * row.damping_yz;
    xy[i] = unless_tiny(damping * (xy[i] + m * (ahead(u + i, sy, o) + ahead(v + i, 1, o))));
    xz[i] = unless_tiny(damping * (xz[i] + m * (ahead(u + i, sz, in_z) + ahead(w + i, 1, o))));
    yz[i] = unless_tiny(damping * (yz[i] + m * (ahead(v + i, sz, in_z) + ahead(w + i, sy, o))));
  }
}

// Bodies of loops over rows (loops.hpp); row number y + z times the extent along y.
struct AdvanceVelocities {
  View view;
  constexpr void operator()(int row, int first, int last) const {
    const int rows = view.box.extent[1];
    advance_velocity_row(row_at(view, row % rows, row / rows), first, last);
  }
};

struct AdvanceStresses {
  View view;
  constexpr void operator()(int row, int first, int last) const {
    const int rows = view.box.extent[1], z = row / rows;
    const Row cells = row_at(view, row % rows, z);
    const Weights in_z = view.surface && z < 2 ? second_order : fourth_order;
    if (view.surface && z == 0)
      advance_normal_stress_row<true>(cells, in_z, first, last);
    else
      advance_normal_stress_row<false>(cells, in_z, first, last);
    advance_shear_stress_row(cells, in_z, first, last);
  }
};

// Sets the stresses above the surface to the negative of their images below it. Row number y.
struct ReflectAtSurface {
  View view;
  constexpr void operator()(int y, int first, int last) const {
    for (int x = first; x < last; ++x)
      for (int k = 1; k <= halo_planes; ++k) {
        const std::ptrdiff_t above = view.box.at(x, y, -k);
        view.of[szz][above] = -view.of[szz][view.box.at(x, y, k)];
        view.of[sxz][above] = -view.of[sxz][view.box.at(x, y, k - 1)];
        view.of[syz][above] = -view.of[syz][view.box.at(x, y, k - 1)];
      }
  }
};

struct AddSource {
  float *shear_xy, *shear_xz;  // of the cell
  float added;
  constexpr void operator()(int, int, int) const {
    *shear_xy += added;
    *shear_xz += 0.5F * added;
  }
};

}  // namespace wave3d
