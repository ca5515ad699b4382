#include "compressor/codecs/mpc/rounding.hpp"

#include "compressor/values/number_range.hpp"

namespace taut::mpc {
namespace {

// Excludes packed integers from the rounded range.
template <class T>
void keep_packed(Rounding& r) noexcept {
  r.least_normal = NumberRange<T>::least;
  r.range = NumberRange<T>::end - NumberRange<T>::least;
}

constexpr unsigned mantissa_bits(DType type) noexcept {
  switch (type) {
    case DType::f64: return 52;
    case DType::f16: return 10;
    case DType::bf16: return 7;
    default: return 23;
  }
}

}  // namespace

Rounding Rounding::within(double bound, DType type, PackedBits packed) noexcept {
  const unsigned all = mantissa_bits(type), sign = 8 * static_cast<unsigned>(size_of(type)) - 1;
  // `half` is half of the spacing around 1 with `bits` mantissa bits; |x - x'| / |x| is greatest at
  // x = 1 + half. The test is half / (1 + half) <= bound. It is exact: the difference of two numbers of
  // similar size is not rounded, nor is the product with a power of two.
  unsigned bits = 0;
  double half = 0.5;
  while (bits < all && !(half - bound <= bound * half)) {
    ++bits;
    half /= 2;
  }
  Rounding r{.dropped = all - bits};
  if (r.dropped == 0) return r;
  const std::uint64_t infinity = (std::uint64_t{1} << sign) - (std::uint64_t{1} << all);
  r.least_normal = std::uint64_t{1} << all;
  r.range = infinity - (std::uint64_t{1} << (r.dropped - 1)) - r.least_normal;
  if (packed == PackedBits::exact && type == DType::f32) keep_packed<float>(r);
  if (packed == PackedBits::exact && type == DType::f64) keep_packed<double>(r);
  return r;
}

}  // namespace taut::mpc
