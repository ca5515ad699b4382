// Quantises values: converts them to integers and back, one value at a time; z is the quantiser, with step
// and bound. The reference is quantiser.hpp; tests/gpu/kernels compares these functions with it, and with the
// loops of general_kernels.cpp, bit for bit. No operation may be fused or reordered: compile with
// -fmad=false.
#pragma once

#include <algorithm>

#include "compressor/codecs/planes/format/quantiser.hpp"
#include "compressor/gpu/simt/simt.hpp"
#include "compressor/values/reduction.hpp"

namespace taut::planes::cuda {

// Returns the integer in a number that was rounded by adding 0x1.8p52: the addition rounds to the nearest
// integer, ties to even, and leaves it in the lowest bits of the sum. float32 uses 0x1.8p23 alike.
TAUT_DEVICE std::int64_t integer_in(double shifted) {
  return static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(shifted) -
                                   std::bit_cast<std::uint64_t>(0x1.8p52));
}

template <class T>
TAUT_DEVICE BitsOf<T> bits_of(T value) {
  return std::bit_cast<BitsOf<T>>(value);
}

// Returns the multiple of the step that q stands for, rounded to T.
template <class T>
TAUT_DEVICE T multiple(std::int64_t q, double step) {
  return static_cast<T>(static_cast<double>(q) * step);
}

// Computes the integer in the small range, in the arithmetic of T. Returns false if the integer is not in
// that range.
template <class T>
TAUT_DEVICE bool quantise_small(T x, const Quantiser<T>& z, std::int32_t& q) {
  if constexpr (sizeof(T) == 8) {
    const std::int64_t v = integer_in(x * z.inverse + 0x1.8p52);
    q = static_cast<std::int32_t>(v);
    return static_cast<std::uint64_t>(v) + (1u << small_bits) < 2u << small_bits;
  } else {
    const float shifted = static_cast<float>(x) * z.inverse + 0x1.8p23f;
    const std::uint32_t v = std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0x1.8p23f);
    q = static_cast<std::int32_t>(v);
    return v + (1u << small_bits) < 2u << small_bits;
  }
}

// Computes the integer of up to `bits` bits, in double arithmetic. Returns false if no integer is within the
// bound.
template <class T>
TAUT_DEVICE bool quantise_to(T value, const Quantiser<T>& z, double reciprocal, int bits, std::int64_t& q) {
  const double step = static_cast<double>(z.step), x = static_cast<double>(value);
  const double shifted = x * reciprocal + 0x1.8p52, integer = shifted - 0x1.8p52;
  const double range = static_cast<double>(std::int64_t{1} << bits);
  const double error = x - static_cast<double>(static_cast<T>(integer * step));
  q = integer_in(shifted);
  return integer < range && integer >= -range && (error < 0 ? -error : error) <= z.bound;
}

// Parameters of the large range, beside the quantiser. The bound is rounded down to the type, and no greater
// than the step: the integer next to a value is never farther away.
template <class T>
struct LargeRange {
  double reciprocal;
  ComputedIn<T> bound;

  static LargeRange make(const Quantiser<T>& z) {
    const double exact = std::min(z.bound, static_cast<double>(z.step));
    auto bound = static_cast<ComputedIn<T>>(exact);
    if (bound > exact) bound = std::nextafter(bound, ComputedIn<T>{0});
    return {1 / static_cast<double>(z.step), bound};
  }
};

// Computes the integer, of up to 22 bits, of a value in a chunk that is not small. Returns false if no
// integer is within the bound. An integer beyond 32 bits is truncated, and its multiple is then farther from
// x than the bound. The multiple is rounded once, and so is the same as if it were computed in double. The
// difference of two close numbers is exact.
template <class T>
TAUT_DEVICE bool quantise_large(T x, const Quantiser<T>& z, const LargeRange<T>& range, std::int32_t& q) {
  if constexpr (is_half<T>) {
    std::int64_t v = 0;
    const bool good = quantise_to(x, z, range.reciprocal, large_bits, v);
    q = static_cast<std::int32_t>(v);
    return good;
  } else {
    const bool is_small = quantise_small(x, z, q);
    if constexpr (sizeof(T) ==
                  4) {  // a small value keeps its integer, as on the CPU; float64 computes both alike
      const double shifted = static_cast<double>(x) * range.reciprocal + 0x1.8p52;
      q = is_small ? q : static_cast<std::int32_t>(std::bit_cast<std::uint64_t>(shifted));
    }
    const T error = x - static_cast<T>(q) * z.step;
    return static_cast<std::uint32_t>(q) + (1u << large_bits) < 2u << large_bits &&
           (error < 0 ? -error : error) <= range.bound;
  }
}

// Returns true if the small integers of a thread's values can be used although packed integers are exact: no
// value is below the range of numbers (computed as any_below_numbers() does), and the step is below its
// limit.
template <class T, std::size_t N>
TAUT_DEVICE bool has_no_packed(const T (&x)[N], const Quantiser<T>& z) {
  using Word = typename NumberRange<T>::Word;
  Word min_twice = ~Word{0};
  for (unsigned i = 0; i < N; ++i) {
    const Word twice = std::bit_cast<Word>(x[i]) * 2 - 1;
    min_twice = twice < min_twice ? twice : min_twice;
  }
  return min_twice >= 2 * NumberRange<T>::least - 1 && z.step < safe_step_limit<T>;
}

// Returns the value that a decoder restores: the multiple of its integer, or the value itself if it is sent
// exactly.
template <class T>
TAUT_DEVICE T value_as_decoded(T x, const Quantiser<T>& z, const LargeRange<T>& range) {
  if (z.exact_bits && is_packed(x)) return x;
  const double step = static_cast<double>(z.step);
  if constexpr (std::is_same_v<T, float>) {
    std::int32_t q = 0;
    if (quantise_large(x, z, range, q)) return static_cast<float>(q) * z.step;
  } else {
    std::int64_t q = 0;
    if (quantise_to(x, z, range.reciprocal, value_bits<T>, q)) return multiple<T>(q, step);
  }
  if (!z.snaps) return x;
  const double s = static_cast<double>(x) / step;
  return s < 0x1p52 && s > -0x1p52 ? static_cast<T>(rint(s) * step) : x;
}

// Returns true if a value is a multiple of the step, q times it, as on_grid() of quantiser.hpp does.
template <class T>
TAUT_DEVICE bool is_multiple(T value, double step, std::int64_t& q) {
  const double s = static_cast<double>(value) / step;
  if (!(s < 0x1p45 && s > -0x1p45)) return false;
  q = integer_in(s + 0x1.8p52);
  return within(q, value_bits<T>) && bits_of(multiple<T>(q, step)) == bits_of(value);
}

}  // namespace taut::planes::cuda
