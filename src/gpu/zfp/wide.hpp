// Encodes and decodes blocks of 256 values, which do not fit the registers of a thread: a warp processes a
// block. Each lane has eight coefficients, so that a plane takes eight ballots. The first lane codes.
#pragma once

#include "gpu/zfp/planes.hpp"

namespace taut::zfp::cuda {

inline constexpr unsigned wide_values = block_values<4>, of_lane = wide_values / warp_lanes;

TAUT_TABLE Sequency<4> wide_order{};

template <class T>
struct WideBlock {
  WordOf<T> integers[wide_values];
  std::uint32_t plane[of_lane];
};

// Transforms along all extents with strides from `Stride` on. Each lane handles two lines.
template <unsigned Stride, class Word, class Simt>
TAUT_DEVICE void transform_wide(const Simt& simt, Word* p) {
  simt.sync_warp();
  for (unsigned i = simt.thread() % warp_lanes; i < wide_values / edge; i += warp_lanes)
    lift<Stride>(p + line<Stride>(i));
  if constexpr (Stride * edge < wide_values) transform_wide<Stride * edge>(simt, p);
}
template <unsigned Stride, class Word, class Simt>
TAUT_DEVICE void restore_wide(const Simt& simt, Word* p) {
  if constexpr (Stride * edge < wide_values) restore_wide<Stride * edge>(simt, p);
  simt.sync_warp();
  for (unsigned i = simt.thread() % warp_lanes; i < wide_values / edge; i += warp_lanes)
    unlift<Stride>(p + line<Stride>(i));
}

// Returns the position of the lowest 1 of a plane that is not below `from`; wide_values if there is none.
template <class Simt>
TAUT_DEVICE unsigned next_one(const Simt& simt, const std::uint32_t* plane, unsigned from) {
  unsigned word = from / 32;
  std::uint32_t bits = plane[word] & all_lanes << from % 32;
  while (bits == 0 && ++word < of_lane) bits = plane[word];
  return bits == 0 ? wide_values : 32 * word + trailing_zeros(simt, bits);
}

// Write and read a plane as write_plane() and read_plane() do.
template <class Simt>
TAUT_DEVICE void write_wide_plane(const Simt& simt, const std::uint32_t* plane, unsigned& n,
                                  BitWriter<Simt>& out) {
  for (unsigned i = 0; i < n; i += 32) out.put(plane[i / 32], n - i < 32 ? n - i : 32);
  while (n < wide_values && out.left() > 0) {
    const unsigned next = next_one(simt, plane, n);
    out.put(next < wide_values ? 1u : 0u, 1);
    if (next == wide_values) return;
    for (; n < next; n += next - n < 32 ? next - n : 32) out.put(0u, next - n < 32 ? next - n : 32);
    if (++n < wide_values) out.put(1u, 1);
  }
}
template <class Simt>
TAUT_DEVICE void read_wide_plane(std::uint32_t* plane, unsigned& n, BitReader<Simt>& in) {
  for (unsigned i = 0; i < wide_values; i += 32) plane[i / 32] = in.take(n < i ? 0 : n - i < 32 ? n - i : 32);
  while (n < wide_values && in.take(1) != 0) {
    const unsigned unknown = wide_values - 1 - n, zeros = in.take_zeros(unknown);
    if (zeros < unknown) in.take(1);
    n += zeros;
    plane[n / 32] |= 1u << n % 32;
    ++n;
  }
}

// Returns the position in the block of value i of a lane, which has rows `lane` and `lane + 32`.
TAUT_DEVICE unsigned place_in_block(unsigned lane, unsigned i) {
  return (lane + i / edge * warp_lanes) * edge + i % edge;
}

// Writes a block. `out` is valid in the first lane.
template <class T, class Simt>
TAUT_DEVICE void write_wide_block(const Simt& simt, WideBlock<T>& shared, const T (&x)[of_lane],
                                  BitWriter<Simt>& out) {
  const unsigned lane = simt.thread() % warp_lanes, exponent = simt.greatest(block_exponent(x));
  if (exponent == 0) return;
  if (lane == 0) out.put(2 * exponent + 1, Number<T>::exponent_bits + 1);
  for (unsigned i = 0; i < of_lane; ++i)
    shared.integers[place_in_block(lane, i)] = to_integer(x[i], scale_up<T>(exponent));
  transform_wide<1>(simt, shared.integers);
  simt.sync_warp();
  WordOf<T> digits[of_lane];
  for (unsigned i = 0; i < of_lane; ++i)
    digits[i] = to_negabinary(shared.integers[wide_order.at[i * warp_lanes + lane]]);
  simt.sync_warp();
  unsigned n = 0;
  TAUT_ROLLED
  for (unsigned k = word_bits<T>; k > 0 && simt.shuffle(out.left(), 0) > 0; --k) {
    for (unsigned i = 0; i < of_lane; ++i) {
      const std::uint32_t part = simt.ballot(digits[i] >> (word_bits<T> - 1) != 0);
      if (lane == i) shared.plane[i] = part;
      digits[i] <<= 1;
    }
    simt.sync_warp();
    if (lane == 0) write_wide_plane(simt, shared.plane, n, out);
    simt.sync_warp();
  }
}

// Reads a block, the inverse of write_wide_block().
template <class T, class Simt>
TAUT_DEVICE void read_wide_block(const Simt& simt, WideBlock<T>& shared, BitReader<Simt>& in,
                                 T (&x)[of_lane]) {
  const unsigned lane = simt.thread() % warp_lanes;
  std::uint32_t exponent = 0, planes = 0;
  if (lane == 0 && in.take(1) != 0) {
    exponent = in.take(Number<T>::exponent_bits);
    planes = planes_of<4, T>(exponent);
  }
  exponent = simt.shuffle(exponent, 0);
  planes = simt.shuffle(planes, 0);
  WordOf<T> digits[of_lane] = {};
  unsigned n = 0, read = 0;
  TAUT_ROLLED
  for (; read < planes && simt.shuffle(in.left(), 0) > 0; ++read) {
    if (lane == 0) read_wide_plane(shared.plane, n, in);
    simt.sync_warp();
    for (unsigned i = 0; i < of_lane; ++i) digits[i] = digits[i] << 1 | (shared.plane[i] >> lane & 1);
    simt.sync_warp();
  }
  for (unsigned i = 0; i < of_lane; ++i)
    shared.integers[wide_order.at[i * warp_lanes + lane]] = of_negabinary(with_zeros(digits[i], read));
  restore_wide<1>(simt, shared.integers);
  simt.sync_warp();
  for (unsigned i = 0; i < of_lane; ++i)
    x[i] = to_value(shared.integers[place_in_block(lane, i)], scale_down<T>(exponent));
  simt.sync_warp();
}

}  // namespace taut::zfp::cuda
