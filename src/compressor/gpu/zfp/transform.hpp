// Converts values of a block to the integers that zfp codes, and back: a common exponent, a lifted transform
// along each extent, negabinary digits. All integer arithmetic wraps around, as it does in zfp at low rates.
#pragma once

#include "compressor/gpu/zfp/coefficient_order.hpp"
#include "compressor/gpu/zfp/format.hpp"

namespace taut::zfp::cuda {

// Returns half of a signed integer, rounded down.
template <class Word>
TAUT_DEVICE Word half(Word x) {
  return static_cast<Word>(static_cast<std::make_signed_t<Word>>(x) >> 1);
}

// Applies zfp's lifted transform to four values at intervals of `Stride`; unlift() undoes it but for
// rounding.
template <unsigned Stride, class Word>
TAUT_DEVICE void lift(Word* p) {
  Word x = p[0], y = p[Stride], z = p[2 * Stride], w = p[3 * Stride];
  x = half(x + w), w -= x;
  z = half(z + y), y -= z;
  x = half(x + z), z -= x;
  w = half(w + y), y -= w;
  w += half(y), y -= half(w);
  p[0] = x, p[Stride] = y, p[2 * Stride] = z, p[3 * Stride] = w;
}

template <unsigned Stride, class Word>
TAUT_DEVICE void unlift(Word* p) {
  Word x = p[0], y = p[Stride], z = p[2 * Stride], w = p[3 * Stride];
  y += half(w), w -= half(y);
  y += w, w = 2 * w - y;
  z += x, x = 2 * x - z;
  y += z, z = 2 * z - y;
  w += x, x = 2 * x - w;
  p[0] = x, p[Stride] = y, p[2 * Stride] = z, p[3 * Stride] = w;
}

// Returns the index of the first value of line i along the extent with that stride.
template <unsigned Stride>
TAUT_DEVICE unsigned line(unsigned i) {
  return i / Stride * Stride * edge + i % Stride;
}

// Transform along the extents with strides from `Stride` on, and back.
template <unsigned D, unsigned Stride, class Word>
TAUT_DEVICE void transform_from(Word (&p)[block_values<D>]) {
  for (unsigned i = 0; i < block_values<D> / edge; ++i) lift<Stride>(p + line<Stride>(i));
  if constexpr (Stride * edge < block_values<D>) transform_from<D, Stride * edge>(p);
}
template <unsigned D, unsigned Stride, class Word>
TAUT_DEVICE void restore_from(Word (&p)[block_values<D>]) {
  if constexpr (Stride * edge < block_values<D>) restore_from<D, Stride * edge>(p);
  for (unsigned i = 0; i < block_values<D> / edge; ++i) unlift<Stride>(p + line<Stride>(i));
}

// Mask that converts numbers to negabinary digits.
template <class Word>
inline constexpr Word negabinary_mask = static_cast<Word>(0xAAAAAAAAAAAAAAAA);

template <class Word>
TAUT_DEVICE Word to_negabinary(Word x) {
  return (x + negabinary_mask<Word>)^negabinary_mask<Word>;
}
template <class Word>
TAUT_DEVICE Word from_negabinary(Word digits) {
  return (digits ^ negabinary_mask<Word>)-negabinary_mask<Word>;
}

// Convert integers to negabinary coefficients in the order of the stream, and back.
template <unsigned D, class Word>
TAUT_DEVICE void transform(Word (&p)[block_values<D>], Word (&digits)[block_values<D>]) {
  transform_from<D, 1>(p);
  constexpr CoefficientOrder<D> order;
  for (unsigned i = 0; i < block_values<D>; ++i) digits[i] = to_negabinary(p[order.index[i]]);
}
template <unsigned D, class Word>
TAUT_DEVICE void restore(const Word (&digits)[block_values<D>], Word (&p)[block_values<D>]) {
  constexpr CoefficientOrder<D> order;
  for (unsigned i = 0; i < block_values<D>; ++i) p[order.index[i]] = from_negabinary(digits[i]);
  restore_from<D, 1>(p);
}

// Returns 2^e, or 0 if 2^e is less than the least number of the type.
template <class T>
TAUT_DEVICE T power_of_two(int e) {
  using Format = FloatFormat<T>;
  constexpr int least_normal = 1 - static_cast<int>(Format::bias),
                fraction = static_cast<int>(Format::fraction_bits);
  using Bits = typename Format::Bits;
  if (e >= least_normal)
    return std::bit_cast<T>(static_cast<Bits>(e + static_cast<int>(Format::bias)) << Format::fraction_bits);
  const int bit = e - least_normal + fraction;
  return std::bit_cast<T>(bit < 0 ? Bits{0} : Bits{1} << bit);
}

// Returns the biased exponent of a block as zfp writes it: that of the power of two above all values. Returns
// 0 if all values are 0.
template <class T, unsigned Size>
TAUT_DEVICE unsigned block_exponent(const T (&x)[Size]) {
  WordOf<T> greatest = 0;
  for (unsigned i = 0; i < Size; ++i) {
    const WordOf<T> magnitude = std::bit_cast<WordOf<T>>(x[i]) << 1;
    greatest = magnitude > greatest ? magnitude : greatest;
  }
  return greatest == 0 ? 0 : static_cast<unsigned>(greatest >> (FloatFormat<T>::fraction_bits + 1)) + 1;
}

// Return the factor that converts a value near 2^e to an integer of two bits less than the word's, and its
// inverse.
template <class T>
TAUT_DEVICE T scale_up(unsigned exponent) {
  return power_of_two<T>(static_cast<int>(word_bits<T> - 2 + FloatFormat<T>::bias) -
                         static_cast<int>(exponent));
}
template <class T>
TAUT_DEVICE T scale_down(unsigned exponent) {
  return power_of_two<T>(static_cast<int>(exponent) -
                         static_cast<int>(word_bits<T> - 2 + FloatFormat<T>::bias));
}

template <class T>
TAUT_DEVICE WordOf<T> to_integer(T x, T scale) {
  return static_cast<WordOf<T>>(static_cast<std::make_signed_t<WordOf<T>>>(scale * x));
}

// Converts an integer to a value. The magnitude is limited to the greatest number, where zfp would return an
// infinity.
template <class T>
TAUT_DEVICE T to_value(WordOf<T> integer, T scale) {
  constexpr T greatest = std::numeric_limits<T>::max();
  const T x = scale * static_cast<T>(static_cast<std::make_signed_t<WordOf<T>>>(integer));
  return x > greatest ? greatest : x < -greatest ? -greatest : x;
}

}  // namespace taut::zfp::cuda
