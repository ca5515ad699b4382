// Prediction with lags as plain loops around the kernels without lags. The compiler vectorises the loops for
// each kernel set.
#pragma once

#include "codecs/planes/kernels/kernels.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

// Computes the residuals r of the integers at `q`.
inline void subtract_lagged(const std::int32_t* q, std::size_t groups, const Lags& lags,
                            std::int32_t* r) noexcept {
  const std::int32_t *a = q - lags.of[0], *b = q - lags.of[1], *both = q - lags.span();
  const std::size_t n = groups * group_values;
  r[0] = subtract_wrapping(q[0], predicted(q, lags));  // tells the compiler that there is a first integer
  if (lags.n == 1) {
    for (std::size_t i = 0; i < n; ++i) r[i] = subtract_wrapping(q[i], a[i]);
  } else {
    for (std::size_t i = 0; i < n; ++i)
      r[i] = subtract_wrapping(add_wrapping(q[i], both[i]), add_wrapping(a[i], b[i]));
  }
}

// Computes the integers from the residuals, group by group: no lag is shorter than a group.
inline void add_lagged(const std::int32_t* r, std::size_t groups, const Lags& lags,
                       std::int32_t* q) noexcept {
  for (std::size_t g = 0; g < groups; ++g, r += group_values, q += group_values) {
    const std::int32_t *a = q - lags.of[0], *b = q - lags.of[1], *both = q - lags.span();
    std::int32_t group[group_values];
    if (lags.n == 1) {
      for (std::size_t i = 0; i < group_values; ++i) group[i] = add_wrapping(r[i], a[i]);
    } else {
      for (std::size_t i = 0; i < group_values; ++i)
        group[i] = add_wrapping(r[i], subtract_wrapping(add_wrapping(a[i], b[i]), both[i]));
    }
    std::memcpy(q, group, sizeof group);
  }
}

}  // namespace
}  // namespace taut::planes
