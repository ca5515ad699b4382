// Embedded coding of a block's coefficients: bit planes from the highest down. A plane consists of the bits
// of the coefficients that were reached before. For the remaining coefficients, a bit tells if another 1
// follows, and is followed by the zeros up to that 1.
#pragma once

#include "gpu/zfp/bits.hpp"
#include "gpu/zfp/transform.hpp"

namespace taut::zfp::cuda {

// A plane of `Size` coefficients; the first coefficient's bit is the lowest.
template <unsigned Size>
using Plane = std::conditional_t<Size <= 32, std::uint32_t, std::uint64_t>;

// Removes and returns the top bits of 32 coefficients, or of all if there are fewer.
template <unsigned Size, class Word>
TAUT_DEVICE std::uint32_t take_top(Word* u) {
  std::uint32_t plane = 0;
  for (unsigned i = Size; i-- > 0; u[i] <<= 1)
    plane = plane << 1 | static_cast<std::uint32_t>(u[i] >> (8 * sizeof(Word) - 1));
  return plane;
}
template <unsigned Size, class Word>
TAUT_DEVICE Plane<Size> take_plane(Word (&u)[Size]) {
  if constexpr (Size <= 32) {
    return take_top<Size>(u);
  } else {
    const std::uint64_t low = take_top<32>(u);
    return low | std::uint64_t{take_top<Size - 32>(u + 32)} << 32;
  }
}

// Appends a bit to each coefficient.
template <unsigned Size, class Word>
TAUT_DEVICE void append(Word* u, std::uint32_t plane) {
  for (unsigned i = 0; i < Size; ++i) u[i] = u[i] << 1 | (plane >> i & 1);
}
template <unsigned Size, class Word>
TAUT_DEVICE void append_plane(Word (&u)[Size], Plane<Size> plane) {
  if constexpr (Size <= 32) {
    append<Size>(u, plane);
  } else {
    append<32>(u, static_cast<std::uint32_t>(plane));
    append<Size - 32>(u + 32, static_cast<std::uint32_t>(plane >> 32));
  }
}

// Writes a plane. `n` is the number of coefficients reached so far, and is updated. The 1 of the last
// coefficient needs no bit.
template <unsigned Size, class Simt>
TAUT_DEVICE void write_plane(const Simt& simt, Plane<Size> plane, unsigned& n, BitWriter<Simt>& out) {
  out.put(plane, n);
  plane = without_low(plane, n);
  while (n < Size && out.left() > 0) {
    if (plane == 0) return out.put(std::uint32_t{0}, 1);
    const unsigned zeros = trailing_zeros(simt, plane), last = n + zeros + 1 == Size ? 1 : 0;
    out.put(static_cast<Plane<Size>>(1 | Plane<Size>{2} << zeros), zeros + 2 - last);
    n += zeros + 1;
    plane = without_low(plane, zeros + 1);
  }
}

template <unsigned Size, class Simt>
TAUT_DEVICE Plane<Size> read_plane(unsigned& n, BitReader<Simt>& in) {
  using P = Plane<Size>;
  P plane = in.template take_as<P>(n);
  while (n < Size && in.take(1) != 0) {
    const unsigned unknown = Size - 1 - n, zeros = in.take_zeros(unknown);
    if (zeros < unknown) in.take(1);
    n += zeros + 1;
    plane |= P{1} << (n - 1);
  }
  return plane;
}

// Writes a block. The values are finite, and each is 0 or at least least_at_a_rate in magnitude. A block of
// zeros is one 0 bit, which is there already.
template <unsigned D, class T, class Simt>
TAUT_DEVICE void write_block(const Simt& simt, const T (&x)[block_values<D>], BitWriter<Simt>& out) {
  constexpr unsigned size = block_values<D>;
  const unsigned exponent = block_exponent(x);
  if (exponent == 0) return;
  out.put(2 * exponent + 1, Number<T>::exponent_bits + 1);
  const T scale = scale_up<T>(exponent);
  WordOf<T> p[size], digits[size];
  for (unsigned i = 0; i < size; ++i) p[i] = to_integer(x[i], scale);
  transform<D>(p, digits);
  unsigned n = 0;
  TAUT_ROLLED
  for (unsigned k = word_bits<T>; k > 0 && out.left() > 0; --k)
    write_plane<size>(simt, take_plane<size>(digits), n, out);
}

// Returns the number of planes that zfp reads: planes down to the least number of 64 bits, and a few more.
template <unsigned D, class T>
TAUT_DEVICE unsigned planes_of(unsigned exponent) {
  constexpr unsigned least_exponent = 1074, spare = 2 * D + 2;
  const unsigned planes = exponent + least_exponent + spare - Number<T>::bias;
  return planes < word_bits<T> ? planes : word_bits<T>;
}

// Completes a coefficient of which `planes` planes were read.
template <class Word>
TAUT_DEVICE Word with_zeros(Word digits, unsigned planes) {
  return planes == 0 ? 0 : digits << (8 * sizeof(Word) - planes);
}

template <unsigned D, class T, class Simt>
TAUT_DEVICE void read_block(BitReader<Simt>& in, T (&x)[block_values<D>]) {
  constexpr unsigned size = block_values<D>;
  WordOf<T> digits[size] = {}, p[size];
  unsigned exponent = 0;
  if (in.take(1) != 0) {
    exponent = in.take(Number<T>::exponent_bits);
    unsigned n = 0, planes = planes_of<D, T>(exponent), read = 0;
    TAUT_ROLLED
    for (; read < planes && in.left() > 0; ++read) append_plane<size>(digits, read_plane<size>(n, in));
    for (unsigned i = 0; i < size; ++i) digits[i] = with_zeros(digits[i], read);
  }
  restore<D>(digits, p);
  const T scale = scale_down<T>(exponent);
  for (unsigned i = 0; i < size; ++i) x[i] = to_value(p[i], scale);
}

}  // namespace taut::zfp::cuda
