// The input values of the golden frames: integers by formulas, times powers of two, so that a program in any
// language computes the same bits. tests/golden/golden_test.py has the same formulas.
#pragma once

#include <cstring>
#include <string_view>
#include <vector>

#include "compressor/values/slice.hpp"

namespace taut::test {

// mantissa * 2^exponent, or a special value.
struct GoldenNumber {
  std::int64_t mantissa = 0;
  int exponent = 0;
  enum Special { number, infinity, minus_infinity, nan, minus_zero } special = number;
};

// Layout of floating-point bits; mantissa bits without the hidden one.
struct FloatLayout {
  int bits, mantissa_bits, bias;
};
inline FloatLayout layout_of(DType type) noexcept {
  if (type == DType::f64) return {64, 52, 1023};
  if (type == DType::f16) return {16, 10, 15};
  if (type == DType::bf16) return {16, 7, 127};
  return {32, 23, 127};
}

inline std::uint64_t mixed(std::uint64_t x) noexcept {  // splitmix64
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

// Returns number i of series k of a pattern.
inline GoldenNumber golden_number(std::string_view pattern, std::int64_t i, std::int64_t k) noexcept {
  const std::uint64_t h = mixed(static_cast<std::uint64_t>(i + 65536 * k));
  const std::int64_t noise = static_cast<std::int64_t>(h >> 44) - (1 << 19);
  const std::int64_t triangle = std::abs((i * 7 + 13 * k) % 512 - 256) * 16;
  if (pattern == "ramp") return {i * 3 - 500 + 11 * k, -6};
  if (pattern == "triangle") return {triangle, -8};
  if (pattern == "steps") return {(i / 37 + k) % 9 - 4, 0};
  if (pattern == "noise") return {noise, -12};
  if (pattern == "sparse") return {h % 23 == 0 ? noise : 0, -12};
  if (pattern == "rows") {  // of which a sixteenth differs from those of another series
    const bool differs = mixed(static_cast<std::uint64_t>(i / 32 + 65536 * k)) % 16 == 0;
    return {std::abs(i * 7 % 512 - 256) * 16 + (differs ? noise & 255 : 0), -12};
  }
  if (pattern == "pairs") return {(i % 2 == 0 ? 20000 : -20000) + triangle, -8};
  // Grids: integers times a step beside a large offset; steps and decimals, rounded to multiples of a unit.
  constexpr std::int64_t step = 49517601571415, middle = 2400 * step;
  if (pattern == "packed") return {(triangle / 16 + (noise & 7)) * step + (std::int64_t{1} << 59), -57};
  const std::int64_t printed = triangle + (noise & 7), point = printed * step;
  if (pattern == "units22") return {(point >> 33) - (middle >> 33), -22};
  if (pattern == "units46") return {(point >> 4) - (middle >> 4), -46};
  if (pattern == "printed22") return {((printed << 22) + 500) / 1000, -22};
  if (pattern == "printed46") return {((printed << 46) + 50) / 100, -46};
  if (pattern == "wild") return {noise / 256, static_cast<int>(h % 60) - 40};
  if (pattern == "special") {
    if (h % 16 < 4) return {0, 0, static_cast<GoldenNumber::Special>(1 + h % 16)};
    if (h % 16 == 4) return {h % 32 == 4 ? 3 : -3, 100};
    if (h % 16 == 5) return {5, -140};
    return {noise, -12};
  }
  return {};  // zeros
}

// Rounds towards zero to the precision of the layout; beyond its range gives infinity or zero.
inline std::uint64_t float_bits(GoldenNumber x, FloatLayout f) noexcept {
  const std::uint64_t one = 1, sign = one << (f.bits - 1),
                      infinity = ((one << (f.bits - 1 - f.mantissa_bits)) - 1) << f.mantissa_bits;
  if (x.special == GoldenNumber::minus_zero) return sign;
  if (x.special == GoldenNumber::nan) return infinity | one << (f.mantissa_bits - 1);
  if (x.special != GoldenNumber::number)
    return x.special == GoldenNumber::infinity ? infinity : sign | infinity;
  if (x.mantissa == 0) return 0;
  std::uint64_t m = static_cast<std::uint64_t>(std::abs(x.mantissa));
  int e = x.exponent + f.bias + f.mantissa_bits;  // exponent field once m has its hidden bit
  while (m >> f.mantissa_bits == 0) m <<= 1, --e;
  while (m >> f.mantissa_bits > 1) m >>= 1, ++e;
  const std::uint64_t negative = x.mantissa < 0 ? sign : 0;
  if (e >= 2 * f.bias + 1) return negative | infinity;
  if (e > 0)
    return negative | static_cast<std::uint64_t>(e) << f.mantissa_bits | (m & ~(one << f.mantissa_bits));
  return negative | (e > -f.mantissa_bits ? m >> (1 - e) : 0);
}

// Returns the values' bytes. Integer types take the mantissas modulo their range; complex types take two
// numbers for each value.
inline std::vector<std::byte> golden_values(DType type, std::string_view pattern, std::size_t count,
                                            std::size_t series) {
  const DType component = component_of(type);
  const std::size_t width = size_of(component), n = count * components_of(type);
  std::vector<std::byte> bytes(n * width);
  for (std::size_t i = 0; i < n; ++i) {
    const GoldenNumber x =
        golden_number(pattern, static_cast<std::int64_t>(i), static_cast<std::int64_t>(series));
    const bool integer = info_of(component).family == Family::integer;
    const std::uint64_t bits =
        integer ? static_cast<std::uint64_t>(x.mantissa) : float_bits(x, layout_of(component));
    std::memcpy(bytes.data() + i * width, &bits, width);
  }
  return bytes;
}

}  // namespace taut::test
