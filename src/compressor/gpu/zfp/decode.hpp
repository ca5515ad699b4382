// Decodes pieces to values. A thread decodes a block; a block of 256 values is decoded by a warp. No thread
// or warp waits for another. Pieces that piece.cpp rejects are rejected here.
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
  std::uint32_t parts;  // thread blocks of a box
  Scratch* scratch;
  CallResult* result;
};

template <class T, unsigned D>
struct DecodeShared {
  Marks marks;
  WideOrNothing<T, D> wide;
  PlaneMemory<D> planes[block_threads<D> / warp_lanes];
};

template <class T, unsigned D, class Simt>
class BoxDecoder {
 public:
  TAUT_DEVICE BoxDecoder(const Simt& simt, DecodeShared<T, D>& shared, const DecodeJob<T>& job,
                         std::uint32_t box, std::uint32_t part)
      : simt_(simt),
        shared_(shared),
        job_(job),
        box_(job.field, box),
        values_(box_.values()),
        blocks_(box_.blocks()),
        part_(part),
        entry_(job.source.frame[header_words + extent_words(D) + box]),
        at_(frame_header_bytes + front_bytes(D, job.field.boxes) + job.scratch->boxes()[box].piece) {}

  // Decodes the piece of the box. Returns false if the piece is malformed.
  TAUT_DEVICE bool decode() {
    const auto raw = static_cast<std::uint32_t>(values_ * sizeof(T));
    const unsigned bits = job_.scratch->opened.bits;
    if (entry_.form() == Form::stored) {
      if (entry_.bytes() != raw) return false;
      copy();
      return true;
    }
    if (entry_.form() > Form::mended || entry_.bytes() > raw || entry_.bytes() != stream_bytes(blocks_, bits))
      return false;
    const bool mended = entry_.form() == Form::mended;
    if (mended && !read_marks()) return false;
    const std::uint32_t map = mended ? shared_.marks.bytes : 0;
    const unsigned left = mended_bits(entry_.bytes(), map, blocks_, bits);
    if (left < least_block_bits<T>) return false;
    decode_blocks(map, left, mended);
    return true;
  }

 private:
  static constexpr unsigned threads = block_threads<D>;

  TAUT_DEVICE const std::uint8_t* piece() const {
    return reinterpret_cast<const std::uint8_t*>(job_.source.frame) + at_;
  }

  TAUT_DEVICE void copy() const {
    TAUT_ROLLED
    for (std::uint32_t i = part_ * threads + simt_.thread(); i < values_; i += job_.parts * threads) {
      T x;
      std::memcpy(&x, piece() + i * sizeof(T), sizeof(T));
      job_.values[box_.place(i)] = x;
    }
  }

  // Reads the map. Returns false if the map is incomplete.
  TAUT_DEVICE bool read_marks() {
    if (entry_.bytes() < mark_bytes(values_)) return false;
    if (simt_.thread() < warp_lanes) {
      const unsigned lane = simt_.thread();
      const auto groups = static_cast<std::uint32_t>(class_groups(values_));
      std::uint32_t marks = 0;
      for (unsigned k = 0; k < 4; ++k)
        if (4 * lane + k < mark_bytes(values_)) marks |= std::uint32_t{piece()[4 * lane + k]} << 8 * k;
      const std::uint32_t there = groups > 32 * lane ? groups - 32 * lane : 0;
      shared_.marks.of[lane] = low_bits(marks, there < 32 ? there : 32);
      simt_.sync_warp();
      shared_.marks.count(simt_, values_);
    }
    simt_.barrier();
    return shared_.marks.bytes <= entry_.bytes();
  }

  // Decodes the blocks of this part. `stream` is the byte of the piece at which the bit stream begins.
  TAUT_DEVICE void decode_blocks(std::uint32_t stream, unsigned bits, bool mended) const {
    const FrameWords words{job_.source.frame, job_.source.bytes};
    const std::uint64_t first = 8 * (at_ + stream);
    const auto reader = [&](std::uint32_t i) {
      return BitReader<Simt>(simt_, words, first + std::uint64_t{i} * bits, bits);
    };
    if constexpr (D == 4) {
      decode_wide(reader, mended);
    } else {
      const std::uint32_t i = part_ * part_blocks<D> + simt_.thread();
      if (i < blocks_) decode_own(i, reader(i), mended);
    }
  }

  TAUT_DEVICE void decode_own(std::uint32_t i, BitReader<Simt> in, bool mended) const {
    T x[block_values<D>];
    read_block<D>(simt_, shared_.planes[simt_.thread() / warp_lanes], in, x);
    const Block<D> block(box_, i);
    TAUT_UNROLLED
    for (unsigned row = 0; row < Block<D>::rows; ++row) put_row(block, row, x + row * edge, mended);
  }
  // Decodes blocks of 256 values. Called by a warp.
  template <class Reader>
  TAUT_DEVICE void decode_wide(const Reader& reader, bool mended) const {
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
      T x[of_lane];
      use_planes(simt_, shared_.wide, shared_.wide.planes[i], head, x);
      const Block<D> block(box_, first + i);
      TAUT_UNROLLED
      for (unsigned k = 0; k < of_lane / edge; ++k)
        put_row(block, lane + k * warp_lanes, x + k * edge, mended);
    }
  }

  TAUT_DEVICE void put_row(const Block<D>& block, unsigned number, const T* x, bool mended) const {
    const Row row = block.row(number);
    WholeRow<T> whole;
    for (unsigned i = 0; i < edge; ++i) whole.of[i] = x[i];
    if (mended) mend(row, block.width(), whole.of);
    if (!block.has(number)) return;
    T* const to = job_.values + row.place;
    if (by_quads<T, edge>(to, block.width())) return store_as(to, whole);
    for (unsigned i = 0; i < edge; ++i)
      if (i < block.width()) to[i] = whole.of[i];
  }

  TAUT_DEVICE void mend(const Row& row, unsigned width, T (&x)[edge]) const {
    for (unsigned c = 0; c < edge; ++c) {
      const std::uint32_t i = row.number + c, group = i / group_size, of_group = i % group_size;
      if (c >= width || !shared_.marks.has(group)) continue;
      const unsigned byte = piece()[shared_.marks.place(simt_, values_, group) + of_group / 4];
      const auto found = static_cast<ValueClass>(byte >> of_group % 4 * 2 & 3);
      if (found != ValueClass::finite) x[c] = special(found);
    }
  }
  TAUT_DEVICE static T special(ValueClass of) {
    constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    return of == ValueClass::nan ? nan : of == ValueClass::infinity ? infinity : -infinity;
  }

  const Simt& simt_;
  DecodeShared<T, D>& shared_;
  const DecodeJob<T>& job_;
  const Box<D> box_;
  std::uint32_t values_, blocks_, part_;
  Entry entry_;
  std::uint64_t at_;  // byte of the frame at which the piece begins
};

template <class T, unsigned D>
struct DecodeKernel {
  using Job = DecodeJob<T>;
  using Shared = DecodeShared<T, D>;
  static constexpr BlockShape shape = shape_for<D>;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const std::uint32_t box = simt.block() / job.parts, part = simt.block() % job.parts;
    const std::uint32_t boxes = job.field.boxes;
    if (box < boxes && job.scratch->opened.status == 0) {
      const bool good = BoxDecoder<T, D, Simt>(simt, shared, job, box, part).decode();
      if (!good && simt.thread() == 0) simt.raise(&job.scratch->control.failure, code(Status::corrupt_frame));
    }
    close(simt, *job.scratch, boxes > 0 ? boxes * job.parts : 1, job.result);
  }
};

}  // namespace taut::zfp::cuda
