#include "compressor/frame/packed_integers.hpp"

#include <limits>

#include "compressor/frame/sample.hpp"
#include "compressor/values/number_range.hpp"

namespace taut {
namespace {

// Counts over the pieces of a message: values, subnormal values, and pairs of adjacent values by kind and by
// the difference of their exponents.
struct PairCounts {
  std::size_t values = 0, subnormals = 0;
  std::size_t far_normals = 0;  // pairs of normal numbers that are far apart
  // Pairs of a normal and a subnormal number: near each other, as in values that fade to 0; and far apart, as
  // an integer beside a number.
  std::size_t declines = 0, jumps = 0;

  PackedIntegers result() const noexcept {
    constexpr std::size_t one_in = 64;
    const bool small = subnormals > 0 && declines <= jumps;
    // One number out of place counts as such a word too if other words are no numbers.
    if (far_normals > 0 && (small || far_normals * one_in >= values)) return PackedIntegers::large;
    return small ? PackedIntegers::small : PackedIntegers::none;
  }
};

template <class T>
inline constexpr std::int32_t far_apart = sizeof(T) == 8 ? 128 : 48;

// Marker in place of the exponent field of a value that is left out.
constexpr std::int32_t no_exponent = -1;

template <class T>
void count_pairs(const T* x, std::size_t n, PairCounts& pairs) noexcept {
  using Numbers = NumberRange<T>;
  using Word = typename Numbers::Word;
  constexpr Word infinity = magnitude_bits(std::numeric_limits<T>::infinity());
  Word top = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Word m = magnitude_bits(x[i]);
    top = m < infinity && m > top ? m : top;
  }
  std::int32_t exponent[Pieces::most_values];
  for (std::size_t i = 0; i < n; ++i) {
    const Word m = magnitude_bits(x[i]);
    const bool counts = (m != 0) & (m < infinity) & ((m != top) | (m < Numbers::least));
    exponent[i] = counts ? static_cast<std::int32_t>(m >> Numbers::fraction_bits) : no_exponent;
  }
  constexpr auto least = static_cast<std::int32_t>(Numbers::least >> Numbers::fraction_bits);
  pairs.values += n;
  for (std::size_t i = 0; i < n; ++i) pairs.subnormals += (exponent[i] >= 0) & (exponent[i] < least);
  for (std::size_t i = 1; i < n; ++i) {
    const std::int32_t a = exponent[i - 1], b = exponent[i], distance = a < b ? b - a : a - b;
    const bool both = (a >= 0) & (b >= 0), far = distance >= far_apart<T>;
    const bool first = a < least, second = b < least;
    pairs.far_normals += both & far & !first & !second;
    pairs.jumps += both & far & (first != second);
    pairs.declines += both & !far & (first != second);
  }
}

template <class T>
PackedIntegers find_in_pieces(const T* x, std::size_t count) noexcept {
  PairCounts counts;
  const Pieces pieces(count);
  for (std::size_t i = 0; i < pieces.count; ++i) count_pairs(x + pieces.first(i), pieces.values, counts);
  return counts.result();
}

}  // namespace

PackedIntegers find_packed_integers(ConstSlice values) noexcept {
  const ConstSlice parts{values.components()};
  switch (parts.type) {
    case DType::f32: return find_in_pieces(static_cast<const float*>(parts.data), parts.count);
    case DType::f64: return find_in_pieces(static_cast<const double*>(parts.data), parts.count);
    default: return PackedIntegers::none;
  }
}

}  // namespace taut
