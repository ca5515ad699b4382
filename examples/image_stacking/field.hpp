// Values on a regular section through the earth: x to the right, z down, x fastest in memory (a row is a
// depth).
#pragma once

#include <cstddef>
#include <vector>

namespace stacking {

struct Field {
  int nx = 0, nz = 0;
  std::vector<float> values;

  Field() = default;
  Field(int width, int depth, float value = 0)
      : nx(width),
        nz(depth),
        values(static_cast<std::size_t>(width) * static_cast<std::size_t>(depth), value) {}

  float* row(int z) noexcept { return values.data() + static_cast<std::ptrdiff_t>(z) * nx; }
  const float* row(int z) const noexcept { return values.data() + static_cast<std::ptrdiff_t>(z) * nx; }
  float& at(int x, int z) noexcept { return row(z)[x]; }
  float at(int x, int z) const noexcept { return row(z)[x]; }
};

}  // namespace stacking
