// Encoding of the blocks of a tile by one warp. A lane encodes a block; blocks of 256 values (four
// dimensions) are encoded one after the other by all lanes. The bits are assembled in shared memory, and then
// copied to the stream of the tile.
#pragma once

#include "compressor/gpu/zfp/field.hpp"
#include "compressor/gpu/zfp/wide.hpp"

namespace taut::zfp::cuda {

// Number of blocks of a warp in D dimensions. Their bits end at a byte.
template <unsigned D>
inline constexpr unsigned warp_blocks = D == 4 ? wide_blocks : warp_lanes;
// Number of threads of a thread block.
template <unsigned D>
inline constexpr unsigned block_threads = D == 4   ? 32
                                          : D == 3 ? 64
                                                   : 128;
// Number of blocks that a thread block encodes.
template <unsigned D>
inline constexpr unsigned part_blocks = block_threads<D> / warp_lanes* warp_blocks<D>;
template <unsigned D>
inline constexpr BlockShape shape_for{block_threads<D>, 4};

template <class T, unsigned D>
using WideMemory = std::conditional_t<D == 4, WideBlocks<T>, NoMemory>;

// Shared memory of a warp.
template <class T, unsigned D>
struct WarpShared {
  std::uint32_t words[warp_blocks<D> * max_block_bits<T, D> / 32];
  WideMemory<T, D> wide;
  PlaneMemory<D> planes;
};

// Copies the first `bytes` bytes of a stream to any address. `words` holds the stream, its words at
// place_of_word(). Called by a warp.
template <class Simt>
TAUT_DEVICE void copy_bytes(const Simt& simt, const std::uint32_t* words, std::uint32_t bytes,
                            std::uint8_t* to) {
  const unsigned lane = simt.thread() % warp_lanes;
  const auto word = [words](std::uint32_t i) { return words[place_of_word(i)]; };
  const auto byte = [word](std::uint32_t i) { return static_cast<std::uint8_t>(word(i / 4) >> i % 4 * 8); };
  // Bytes up to the first word of `to` (head), whole words, and bytes after the last one (from tail on).
  const auto unaligned = static_cast<std::uint32_t>(0 - reinterpret_cast<std::uintptr_t>(to)) % 4;
  const std::uint32_t head = unaligned < bytes ? unaligned : bytes, whole = (bytes - head) / 4;
  auto* const aligned = reinterpret_cast<std::uint32_t*>(to + head);
  TAUT_ROLLED
  for (std::uint32_t i = lane; i < whole; i += warp_lanes)
    aligned[i] = head == 0 ? word(i) : word(i) >> 8 * head | word(i + 1) << (32 - 8 * head);
  const std::uint32_t tail = head + 4 * whole;
  if (lane < head) to[lane] = byte(lane);
  if (tail + lane < bytes) to[tail + lane] = byte(tail + lane);
}

// Loads a row of a block from its place in the field. Values beyond the row's end: see Block::padded_index().
// load_block() is not used here: its two paths differ in alignment only, and GCC 12 keeps the aligned path
// for all addresses.
template <class T>
TAUT_DEVICE void take_row(const T* from, unsigned width, T* to) {
  if (by_quads<T, edge>(from, width)) {
    const WholeRow<T> whole = *reinterpret_cast<const WholeRow<T>*>(from);
    for (unsigned i = 0; i < edge; ++i) to[i] = whole.values[i];
  } else {
    for (unsigned i = 0; i < edge; ++i) to[i] = from[Block<1>::padded_index(i, width)];
  }
}

// Replaces values below min_magnitude_at_rate (codecs/zfp/tile.hpp) by 0: their scale would overflow in zfp.
template <class T>
TAUT_DEVICE T flush_tiny(T x) {
  constexpr T min_magnitude = static_cast<T>(sizeof(T) == 4 ? 0x1p-96 : 0x1p-960);
  return x < min_magnitude && x > -min_magnitude ? T(0) : x;
}

// Exponent of blocks with values that are not finite: see block_exponent().
template <class T>
inline constexpr unsigned special_exponent = 1u << FloatFormat<T>::exponent_bits;

// Encodes the block of each lane, for the first `blocks` lanes. take(row, width, x) stores the values to be
// coded for a row in x. Returns false, and writes nothing, if values of the lane's block are not finite.
template <class T, unsigned D, class Simt, class Take>
TAUT_DEVICE bool write_side_by_side(const Simt& simt, WarpShared<T, D>& shared, const Tile<D>& tile,
                                    std::uint32_t first, std::uint32_t blocks, unsigned bits,
                                    const Take& take) {
  const unsigned lane = simt.thread() % warp_lanes;
  if (lane >= blocks) return true;
  const Block<D> block(tile, first + lane);
  T x[block_values<D>];
  TAUT_UNROLLED
  for (unsigned row = 0; row < Block<D>::rows; ++row) take(block.row(row), block.width(), x + row * edge);
  for (T& value : x) value = flush_tiny(value);
  const unsigned exponent = block_exponent(x);
  if (exponent == 0 || exponent == special_exponent<T>)
    return exponent == 0;  // a block of zeros is a 0 bit, which the cleared words already hold
  BitWriter<Simt> out(simt, shared.words, lane * bits, bits);
  write_block<D>(simt, shared.planes, x, exponent, out);
  out.flush();
  return true;
}

// Encodes blocks of 256 values. Returns false if some of their values are not finite.
template <class T, class Simt, class Take>
TAUT_DEVICE bool write_in_turn(const Simt& simt, WarpShared<T, 4>& shared, const Tile<4>& tile,
                               std::uint32_t first, std::uint32_t blocks, unsigned bits, const Take& take) {
  const unsigned lane = simt.thread() % warp_lanes;
  unsigned own = 0;  // exponent of the block that this lane writes; 0: it writes nothing
  bool finite = true;
  TAUT_ROLLED
  for (std::uint32_t i = 0; i < blocks; ++i) {
    const Block<4> block(tile, first + i);
    T x[lane_values];
    TAUT_UNROLLED
    for (unsigned k = 0; k < lane_values / edge; ++k)
      take(block.row(lane + k * warp_lanes), block.width(), x + k * edge);
    for (T& value : x) value = flush_tiny(value);
    const unsigned exponent = simt.reduce_max(block_exponent(x));
    finite = finite && exponent != special_exponent<T>;
    if (exponent == 0 || exponent == special_exponent<T>) continue;
    if (i == lane) own = exponent;
    make_planes(simt, shared.wide, shared.wide.planes[i], x, exponent, bits);
  }
  if (own == 0) return finite;
  BitWriter<Simt> out(simt, shared.words, lane * bits, bits);
  write_wide_block<T>(simt, shared.wide.planes[lane], own, out);
  out.flush();
  return finite;
}

// Encodes blocks to the tile's stream, from block `first` on, which is a multiple of warp_blocks. Returns
// false if some values of a lane are not finite.
template <class T, unsigned D, class Simt, class Take>
TAUT_DEVICE bool encode_blocks(const Simt& simt, WarpShared<T, D>& shared, const Tile<D>& tile,
                               std::uint32_t first, unsigned bits, std::uint8_t* stream, const Take& take) {
  const std::uint32_t blocks = tile.blocks();
  if (first >= blocks) return true;
  const std::uint32_t there = blocks - first < warp_blocks<D> ? blocks - first : warp_blocks<D>;
  TAUT_ROLLED
  for (unsigned i = simt.thread() % warp_lanes; 32 * i < warp_blocks<D> * bits; i += warp_lanes)
    shared.words[place_of_word(i)] = 0;
  simt.sync_warp();
  bool finite;
  if constexpr (D == 4) {
    finite = write_in_turn(simt, shared, tile, first, there, bits, take);
  } else {
    finite = write_side_by_side(simt, shared, tile, first, there, bits, take);
  }
  simt.sync_warp();
  copy_bytes(simt, shared.words, stream_bytes(there, bits), stream + first / 8 * bits);
  simt.sync_warp();
  return finite;
}

}  // namespace taut::zfp::cuda
