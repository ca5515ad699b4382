// Conversion of large-range integers to values, as a plain loop that the compiler vectorises for each kernel
// set.
#pragma once

#include "codecs/planes/format/quantiser.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

// Returns a float that rounds to the same half as q. The bits of q far below the last bit of a half are
// replaced by one sticky bit.
inline float float_for_half(std::int32_t q) noexcept {
  const std::int32_t jammed = (q & ~0xFF) | ((q & 0xFF) != 0 ? 0x80 : 0);
  return static_cast<float>((q >= 1 << 24) | (q <= -(1 << 24)) ? jammed : q);
}

template <class T>
void dequantise_large(const std::int32_t* q, std::size_t groups, const Quantiser<T>& z, T* values) noexcept {
  const double step = static_cast<double>(z.step);
  for (std::size_t i = 0; i < groups * group_values; ++i) {
    if constexpr (is_half<T>) {  // the step is a power of two
      values[i] = static_cast<T>(float_for_half(q[i]) * z.step);
    } else {
      values[i] = static_cast<T>(static_cast<double>(q[i]) * step);
    }
  }
}

}  // namespace
}  // namespace taut::planes
