// Decodes the records of a frame to values. A thread decodes a block; a warp decodes a block of 256 values.
// No thread or warp waits for another. Records that tile.cpp rejects are rejected here. A repaired record
// begins with the map of the values that are not finite (ClassMap), before the bit stream.
#pragma once

#include "compressor/gpu/zfp/finite.hpp"
#include "compressor/gpu/zfp/frame.hpp"
#include "compressor/gpu/zfp/warp_blocks.hpp"

namespace taut::zfp::cuda {

template <class T>
struct DecodeJob {
  Source source;
  T* values;
  Field field;
  std::uint32_t parts;  // thread blocks of a tile
  Scratch* scratch;
  ResultPlace result;
};

template <class T, unsigned D>
struct DecodeShared {
  ClassMap map;
  WideMemory<T, D> wide;
  PlaneMemory<D> planes[block_threads<D> / warp_lanes];
};

template <class T, unsigned D, class Simt>
class TileDecoder {
 public:
  TAUT_DEVICE TileDecoder(const Simt& simt, DecodeShared<T, D>& shared, const DecodeJob<T>& job,
                          std::uint32_t tile, std::uint32_t part)
      : simt_(simt),
        shared_(shared),
        job_(job),
        tile_(job.field, tile),
        values_(tile_.values()),
        blocks_(tile_.blocks()),
        part_(part),
        entry_(job.source.frame[header_words + extent_words(D) + tile]),
        record_at_(frame_header_bytes + front_bytes(D, job.field.tiles) + job.scratch->tiles()[tile].record) {
  }

  // Decodes the record of the tile. Returns false if the record is malformed.
  TAUT_DEVICE bool decode() {
    const auto raw = static_cast<std::uint32_t>(values_ * sizeof(T));
    const unsigned bits = job_.scratch->opened.bits;
    if (entry_.form() == Form::stored) {
      if (entry_.bytes() != raw) return false;
      copy();
      return true;
    }
    if (entry_.form() > Form::repaired || entry_.bytes() > raw ||
        entry_.bytes() != stream_bytes(blocks_, bits))
      return false;
    const bool repaired = entry_.form() == Form::repaired;
    if (repaired && !read_marks()) return false;
    const std::uint32_t map_bytes = repaired ? shared_.map.bytes : 0;
    const unsigned block_bits = repaired_bits(entry_.bytes(), map_bytes, blocks_, bits);
    if (block_bits < min_block_bits<T>) return false;
    decode_blocks(map_bytes, block_bits, repaired);
    return true;
  }

 private:
  static constexpr unsigned threads = block_threads<D>;

  TAUT_DEVICE const std::uint8_t* record() const {
    return reinterpret_cast<const std::uint8_t*>(job_.source.frame) + record_at_;
  }

  // Copies the values of a stored record.
  TAUT_DEVICE void copy() const {
    TAUT_ROLLED
    for (std::uint32_t i = part_ * threads + simt_.thread(); i < values_; i += job_.parts * threads) {
      T x;
      std::memcpy(&x, record() + i * sizeof(T), sizeof(T));
      job_.values[tile_.place(i)] = x;
    }
  }

  // Reads the marks of the map, and computes its size. Returns false if the record has not all of the map.
  TAUT_DEVICE bool read_marks() {
    if (entry_.bytes() < mark_bytes(values_)) return false;
    if (simt_.thread() < warp_lanes) {
      const unsigned lane = simt_.thread();
      const auto groups = static_cast<std::uint32_t>(class_groups(values_));
      std::uint32_t marks = 0;
      for (unsigned k = 0; k < 4; ++k)
        if (4 * lane + k < mark_bytes(values_)) marks |= std::uint32_t{record()[4 * lane + k]} << 8 * k;
      const std::uint32_t there = groups > 32 * lane ? groups - 32 * lane : 0;
      shared_.map.marks[lane] = low_bits(marks, there < 32 ? there : 32);
      simt_.sync_warp();
      shared_.map.count(simt_, values_);
    }
    simt_.barrier();
    return shared_.map.bytes <= entry_.bytes();
  }

  // Decodes the blocks of this part, which have `bits` bits each. `stream` is the byte of the record at which
  // the bit stream begins.
  TAUT_DEVICE void decode_blocks(std::uint32_t stream, unsigned bits, bool repaired) const {
    const FrameWords words{job_.source.frame, job_.source.bytes};
    const std::uint64_t first = 8 * (record_at_ + stream);
    const auto reader = [&](std::uint32_t i) {
      return BitReader<Simt>(simt_, words, first + std::uint64_t{i} * bits, bits);
    };
    if constexpr (D == 4) {
      decode_wide(reader, repaired);
    } else {
      const std::uint32_t i = part_ * part_blocks<D> + simt_.thread();
      if (i < blocks_) decode_own(i, reader(i), repaired);
    }
  }

  TAUT_DEVICE void decode_own(std::uint32_t i, BitReader<Simt> in, bool repaired) const {
    T x[block_values<D>];
    read_block<D>(simt_, shared_.planes[simt_.thread() / warp_lanes], in, x);
    const Block<D> block(tile_, i);
    TAUT_UNROLLED
    for (unsigned row = 0; row < Block<D>::rows; ++row) write_row(block, row, x + row * edge, repaired);
  }
  // Decodes blocks of 256 values. Called by a warp.
  template <class Reader>
  TAUT_DEVICE void decode_wide(const Reader& reader, bool repaired) const {
    const std::uint32_t first = part_ * part_blocks<D>, lane = simt_.thread();
    WideHead own{0, 0};
    if (lane < wide_blocks && first + lane < blocks_) {
      BitReader<Simt> in = reader(first + lane);
      own = read_wide_block<T>(shared_.wide.planes[lane], in);
    }
    simt_.sync_warp();
    TAUT_ROLLED
    for (unsigned i = 0; i < wide_blocks && first + i < blocks_; ++i) {
      const WideHead head{simt_.shuffle(own.exponent, i), simt_.shuffle(own.planes, i)};
      T x[lane_values];
      restore_values(simt_, shared_.wide, shared_.wide.planes[i], head, x);
      const Block<D> block(tile_, first + i);
      TAUT_UNROLLED
      for (unsigned k = 0; k < lane_values / edge; ++k)
        write_row(block, lane + k * warp_lanes, x + k * edge, repaired);
    }
  }

  // Writes a row of four values of a block.
  TAUT_DEVICE void write_row(const Block<D>& block, unsigned number, const T* x, bool repaired) const {
    const Row row = block.row(number);
    WholeRow<T> whole;
    for (unsigned i = 0; i < edge; ++i) whole.values[i] = x[i];
    if (repaired) repair(row, block.width(), whole.values);
    if (!block.has(number)) return;
    T* const to = job_.values + row.place;
    if (by_quads<T, edge>(to, block.width())) return store_as(to, whole);
    for (unsigned i = 0; i < edge; ++i)
      if (i < block.width()) to[i] = whole.values[i];
  }

  // Replaces the values of a row that were not finite.
  TAUT_DEVICE void repair(const Row& row, unsigned width, T (&x)[edge]) const {
    for (unsigned c = 0; c < edge; ++c) {
      const std::uint32_t i = row.number + c, group = i / group_size, in_group = i % group_size;
      if (c >= width || !shared_.map.is_marked(group)) continue;
      const unsigned byte = record()[shared_.map.classes_at(simt_, values_, group) + in_group / 4];
      const auto value_class = static_cast<ValueClass>(byte >> in_group % 4 * 2 & 3);
      if (value_class != ValueClass::finite) x[c] = special(value_class);
    }
  }
  TAUT_DEVICE static T special(ValueClass value_class) {
    constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    return value_class == ValueClass::nan ? nan : value_class == ValueClass::infinity ? infinity : -infinity;
  }

  const Simt& simt_;
  DecodeShared<T, D>& shared_;
  const DecodeJob<T>& job_;
  const Tile<D> tile_;
  std::uint32_t values_, blocks_, part_;
  IndexEntry entry_;
  std::uint64_t record_at_;  // byte of the frame at which the record begins
};

template <class T, unsigned D>
struct DecodeKernel {
  using Job = DecodeJob<T>;
  using Shared = DecodeShared<T, D>;
  static constexpr BlockShape shape = shape_for<D>;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const std::uint32_t tile = simt.block() / job.parts, part = simt.block() % job.parts;
    const std::uint32_t tiles = job.field.tiles;
    if (tile < tiles && job.scratch->opened.status == 0) {
      const bool good = TileDecoder<T, D, Simt>(simt, shared, job, tile, part).decode();
      if (!good && simt.thread() == 0)
        simt.atomic_max(&job.scratch->control.failure, code(Status::corrupt_frame));
    }
    end_call_if_last(simt, *job.scratch, tiles > 0 ? tiles * job.parts : 1, job.result);
  }
};

}  // namespace taut::zfp::cuda
