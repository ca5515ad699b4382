// Encodes the tiles of a field to records. Each record is written at the place that it has if no tile is
// stored because of its values. Tiles with values that are not finite are left to repair.hpp.
#pragma once

#include "compressor/gpu/zfp/frame.hpp"
#include "compressor/gpu/zfp/warp_blocks.hpp"

namespace taut::zfp::cuda {

template <class T>
struct EncodeJob {
  const T* values;
  Field field;
  RecordPositions positions;
  unsigned bits;        // bits of a block
  std::uint32_t parts;  // thread blocks of a tile
  std::uint32_t* frame;
  Scratch* scratch;
  ResultPlace result;
  std::uint32_t header[header_words];  // without payload_bytes, checksum

  TAUT_DEVICE std::uint32_t* index() const { return frame + header_words + extent_words(field.dims); }
  TAUT_DEVICE std::uint8_t* records() const {
    return reinterpret_cast<std::uint8_t*>(frame) + frame_header_bytes + front_bytes(field.dims, field.tiles);
  }
};

// Writes values i, i + step ... of a tile to a stored record.
template <class T, unsigned D>
TAUT_DEVICE void store_tile(const T* field, const Tile<D>& tile, std::uint8_t* record, std::uint32_t i,
                            std::uint32_t step) {
  const std::uint32_t values = tile.values();
  TAUT_ROLLED
  for (; i < values; i += step) std::memcpy(record + i * sizeof(T), &field[tile.place(i)], sizeof(T));
}

// Number of thread blocks of EncodeKernel that a multiprocessor must hold: see BlockShape.
template <class T, unsigned D>
inline constexpr unsigned encoding_blocks = D == 2   ? (sizeof(T) == 4 ? 12 : 9)
                                            : D == 3 ? (sizeof(T) == 4 ? 10 : 6)
                                                     : 4;

template <class T, unsigned D>
struct EncodeKernel {
  using Job = EncodeJob<T>;
  static constexpr BlockShape shape{block_threads<D>, encoding_blocks<T, D>};
  struct Shared {
    WarpShared<T, D> warps[shape.threads / warp_lanes];
  };

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const std::uint32_t index = simt.block() / job.parts, part = simt.block() % job.parts;
    const Tile<D> tile(job.field, index);
    const IndexEntry entry = entry_of<T>(tile.values(), tile.blocks(), job.bits, 0);
    if (part == 0 && simt.thread() == 0) job.index()[index] = entry.word;
    std::uint8_t* const record = job.records() + job.positions.template record_position<D>(job.field, index);
    if (entry.form() == Form::stored)
      return store_tile(job.values, tile, record, part * shape.threads + simt.thread(),
                        job.parts * shape.threads);
    const unsigned warp = simt.thread() / warp_lanes;
    const bool finite = encode_blocks(
        simt, shared.warps[warp], tile, part * part_blocks<D> + warp * warp_blocks<D>, job.bits, record,
        [&job](const Row& row, unsigned width, T* x) { take_row(job.values + row.place, width, x); });
    if (!finite) job.scratch->tiles()[index].special = 1;
  }
};

}  // namespace taut::zfp::cuda
