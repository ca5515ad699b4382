// The large range in double arithmetic, as plain loops that the compiler vectorises for each kernel set.
#pragma once

#include "codecs/planes/quantiser.hpp"

namespace taut::planes {
namespace {  // one copy for each kernel set, compiled with its instructions

// Values that fail are marked as escaped; false when there are any.
template <class T>
bool quantise_large(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q) noexcept {
  const double scale = 1 / static_cast<double>(z.step), step = z.step, bound = z.bound;
  std::uint64_t failed = 0;
  for (std::size_t i = 0; i < groups * group_values; ++i) {
    const double x = values[i], s = x * scale;
    const double shifted = s + 0x1.8p52, integer = shifted - 0x1.8p52;
    const double error = x - static_cast<double>(static_cast<T>(integer * step));
    std::uint64_t good = all_ones_if((integer < 0x1p22) & (integer >= -0x1p22) & (std::abs(error) <= bound));
    std::uint64_t bits = std::bit_cast<std::uint64_t>(shifted);
    if constexpr (sizeof(T) == 4) {  // what is small is quantised as in a small chunk
      const float rounded = values[i] * z.inverse + 0x1.8p23f;
      const std::uint32_t small_q =
          std::bit_cast<std::uint32_t>(rounded) - std::bit_cast<std::uint32_t>(0x1.8p23f);
      const std::uint64_t is_small = all_ones_if(small_q + (1u << small_bits) < 2u << small_bits);
      bits = (bits & ~is_small) | (small_q & is_small);
      good |= is_small;
    }
    failed |= ~good;
    q[i] = static_cast<std::int32_t>((bits & good) | (~good & std::uint64_t{1} << 31));
  }
  return failed == 0;
}

template <class T>
void dequantise_large(const std::int32_t* q, std::size_t groups, const Quantiser<T>& z, T* values) noexcept {
  const double step = z.step;
  for (std::size_t i = 0; i < groups * group_values; ++i)
    values[i] = static_cast<T>(static_cast<double>(q[i]) * step);
}

}  // namespace
}  // namespace taut::planes
