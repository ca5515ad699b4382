// Encodes and decodes wide blocks: those of four-dimensional fields, whose 256 values do not fit the
// registers of a thread. A warp transforms one block after the other, and passes their bit planes in memory
// to the coder, where each lane codes a block. In the transform each lane has eight coefficients, so that a
// plane takes eight ballots.
#pragma once

#include "compressor/gpu/zfp/planes.hpp"

namespace taut::zfp::cuda {

inline constexpr unsigned wide_values = block_values<4>, lane_values = wide_values / warp_lanes;

TAUT_TABLE CoefficientOrder<4> wide_order{};

// Number of blocks that a warp codes at a time: eight blocks of any number of bits end at a whole byte.
inline constexpr unsigned wide_blocks = 8;

// Shared memory of a warp. The planes of a block take `lane_values` words each, the top plane first. The
// additional word lets the planes of each block begin in another bank of the memory.
template <class T>
struct WideBlocks {
  WordOf<T> integers[wide_values];
  std::uint32_t planes[wide_blocks][word_bits<T> * lane_values + 1];
};

// Applies the decorrelating transform of zfp along the extents with strides from `Stride` on. Each lane
// processes two lines of four values.
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

// Returns the position of the lowest 1 of a plane at or above `first`; wide_values if there is none.
template <class Simt>
TAUT_DEVICE unsigned next_one(const Simt& simt, const std::uint32_t* plane, unsigned first) {
  unsigned word = first / 32;
  std::uint32_t bits = plane[word] & all_lanes << first % 32;
  while (bits == 0 && ++word < lane_values) bits = plane[word];
  return bits == 0 ? wide_values : 32 * word + trailing_zeros(simt, bits);
}

// Write and read a plane as write_plane() and read_plane() do.
template <class Simt>
TAUT_DEVICE void write_wide_plane(const Simt& simt, const std::uint32_t* plane, unsigned& n,
                                  BitWriter<Simt>& out) {
  for (unsigned i = 0; i < n; i += 32) out.put(low_bits(plane[i / 32], n - i), n - i < 32 ? n - i : 32);
  while (n < wide_values && out.has_room()) {
    const unsigned next = next_one(simt, plane, n);
    if (next == wide_values) return out.put(0, 1);
    out.put_next_one(next - n, next + 1 == wide_values);
    n = next + 1;
  }
}
template <class Simt>
TAUT_DEVICE void read_wide_plane(std::uint32_t* plane, unsigned& n, BitReader<Simt>& in) {
  for (unsigned i = 0; i < wide_values; i += 32) plane[i / 32] = in.take(n < i ? 0 : n - i < 32 ? n - i : 32);
  while (n < wide_values && in.take(1) != 0) {
    n += in.take_zeros(wide_values - 1 - n);
    plane[n / 32] |= 1u << n % 32;
    ++n;
  }
}

// Returns the position in the block of value i of a lane. A lane has lines `lane` and `lane + 32` of four
// values.
TAUT_DEVICE unsigned position_in_block(unsigned lane, unsigned i) {
  return (lane + i / edge * warp_lanes) * edge + i % edge;
}

// Computes the planes of a block with this exponent, which is not 0, from the top plane on: as many as may
// begin within the first `bits` bits of the coded block. Called by a warp.
template <class T, class Simt>
TAUT_DEVICE void make_planes(const Simt& simt, WideBlocks<T>& shared, std::uint32_t* planes,
                             const T (&x)[lane_values], unsigned exponent, unsigned bits) {
  const unsigned lane = simt.thread() % warp_lanes;
  for (unsigned i = 0; i < lane_values; ++i)
    shared.integers[position_in_block(lane, i)] = to_integer(x[i], scale_up<T>(exponent));
  transform_wide<1>(simt, shared.integers);
  simt.sync_warp();
  WordOf<T> digits[lane_values];
  for (unsigned i = 0; i < lane_values; ++i)
    digits[i] = to_negabinary(shared.integers[wide_order.index[i * warp_lanes + lane]]);
  // A coded plane has at least one bit for each coefficient up to the last one that has had a 1.
  unsigned reached = 0;                   // number of these coefficients
  unsigned min_bits = min_block_bits<T>;  // lower bound of the bits of the planes so far
  TAUT_ROLLED
  for (unsigned k = 0; k < word_bits<T> && min_bits < bits; ++k) {
    std::uint32_t own = 0;  // word of the plane that this lane stores
    for (unsigned i = 0; i < lane_values; ++i) {
      const std::uint32_t word = simt.ballot(digits[i] >> (word_bits<T> - 1) != 0);
      if (lane == i) own = word;
      digits[i] <<= 1;
    }
    if (lane < lane_values) planes[k * lane_values + lane] = own;
    min_bits += reached < wide_values ? reached + 1 : reached;
    const unsigned highest = simt.reduce_max(own == 0 ? 0 : 32 * lane + 32 - simt.leading_zeros(own));
    reached = highest > reached ? highest : reached;
  }
  simt.sync_warp();
}

// Writes the planes of a block whose exponent is not 0. Called by a lane.
template <class T, class Simt>
TAUT_DEVICE void write_wide_block(const Simt& simt, const std::uint32_t* planes, unsigned exponent,
                                  BitWriter<Simt>& out) {
  out.put(2 * exponent + 1, FloatFormat<T>::exponent_bits + 1);
  unsigned n = 0;
  TAUT_ROLLED
  for (unsigned k = 0; k < word_bits<T> && out.has_room(); ++k)
    write_wide_plane(simt, planes + k * lane_values, n, out);
}

// Exponent of a block, and number of planes that were read.
struct WideHead {
  unsigned exponent, planes;
};

// Reads a block, the inverse of write_wide_block(). Called by a lane.
template <class T, class Simt>
TAUT_DEVICE WideHead read_wide_block(std::uint32_t* planes, BitReader<Simt>& in) {
  if (in.take(1) == 0) return {0, 0};
  const unsigned exponent = in.take(FloatFormat<T>::exponent_bits),
                 max_planes = planes_to_read<4, T>(exponent);
  unsigned n = 0, read = 0;
  TAUT_ROLLED
  for (; read < max_planes && in.left() > 0; ++read) read_wide_plane(planes + read * lane_values, n, in);
  return {exponent, read};
}

// Computes the values of a block, the inverse of make_planes(). Called by a warp.
template <class T, class Simt>
TAUT_DEVICE void restore_values(const Simt& simt, WideBlocks<T>& shared, const std::uint32_t* planes,
                                const WideHead& head, T (&x)[lane_values]) {
  const unsigned lane = simt.thread() % warp_lanes;
  WordOf<T> digits[lane_values] = {};
  TAUT_ROLLED
  for (unsigned k = 0; k < head.planes; ++k)
    for (unsigned i = 0; i < lane_values; ++i)
      digits[i] = digits[i] << 1 | (planes[k * lane_values + i] >> lane & 1);
  for (unsigned i = 0; i < lane_values; ++i)
    shared.integers[wide_order.index[i * warp_lanes + lane]] =
        from_negabinary(with_zeros(digits[i], head.planes));
  restore_wide<1>(simt, shared.integers);
  simt.sync_warp();
  for (unsigned i = 0; i < lane_values; ++i)
    x[i] = to_value(shared.integers[position_in_block(lane, i)], scale_down<T>(head.exponent));
  simt.sync_warp();
}

}  // namespace taut::zfp::cuda
