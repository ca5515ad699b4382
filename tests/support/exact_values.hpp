// Data with values that are stored exactly, for tests of the planes codec.
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "compressor/codecs/planes/kernels/kernels.hpp"
#include "support/frames.hpp"

namespace taut::test {

inline constexpr double bound = 1e-3;
inline constexpr std::size_t count = 9000;  // two chunks and a part of one
inline std::mt19937_64 random_bits(3);
inline double uniform() { return std::uniform_real_distribution<double>(-1, 1)(random_bits); }

inline std::vector<const char*> kernel_names() {
  std::vector<const char*> names;
  for (const planes::KernelSet* set : planes::kernel_sets())
    if (set->supported()) names.push_back(set->name);
  return names;
}

template <class T>
T special_nan() {  // with a payload and a sign
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  return std::bit_cast<T>(static_cast<Bits>(sizeof(T) == 8 ? 0xFFF8'0000'1234'5678 : 0xFFC1'2345));
}

// Returns a value too large to be coded, but small enough that numbers of the usual size do not vanish beside
// it in a sum.
template <class T>
T outlier() {
  return static_cast<T>((sizeof(T) == 8 ? 1e12 : 5e4) * (1.5 + uniform() / 2) * (uniform() < 0 ? -1 : 1));
}
template <class T>
bool travels_exactly(T x) {
  return !(std::abs(x) < T{2e4});
}

template <class T>
std::vector<T> smooth() {
  const double phase = 3 * uniform();
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i)
    x[i] = static_cast<T>(10 * std::sin(phase + 0.01 * static_cast<double>(i)));
  return x;
}

// Kinds of operands. With layers the whole chunk is stored exactly.
enum class Kind { smooth, fill, other_fill, aside, outliers, nan, infinities, layers, cancelling };

template <class T>
std::vector<T> operand(Kind kind) {
  std::vector<T> x = smooth<T>();
  for (std::size_t i = 0; i < count; ++i) {
    const bool land = i / 37 % 3 == 1;
    if (kind == Kind::fill && land) x[i] = T(1e20);
    if (kind == Kind::other_fill && land) x[i] = T(9.96921e36);
    if (kind == Kind::aside && (i + 11) / 37 % 3 == 1) x[i] = T(1e20);
    if (kind == Kind::outliers && i % 90 == 5) x[i] = outlier<T>();
    if (kind == Kind::nan && i / 4096 == 1) x[i] = special_nan<T>();
    if (kind == Kind::infinities && i % 700 < 3)
      x[i] = std::numeric_limits<T>::infinity() * T(i % 2 == 0 ? 1 : -1);
    if (kind == Kind::layers && i / 4096 != 1) x[i] = outlier<T>();
    if (kind == Kind::cancelling && land) x[i] = T(-1e20);
  }
  return x;
}

inline constexpr int kinds = static_cast<int>(Kind::cancelling) + 1;

}  // namespace taut::test
