// values -> pieces, those of boxes with values that are not finite left out: a block a thread, its bits put
// together with those of its warp in shared memory.
#pragma once

#include "codecs/zfp/cuda/frame.hpp"
#include "codecs/zfp/cuda/planes.hpp"

namespace taut::zfp::cuda {

template <class T>
struct EncodeJob {
  const T* values;
  Field field;
  unsigned bits;        // of a block
  std::uint32_t parts;  // thread blocks a box
  std::uint32_t* frame;
  Scratch* scratch;
  CallResult* result;

  TAUT_DEVICE Entry entry(std::uint32_t box) const {
    return frame[header_words + extent_words(field.dims) + box];
  }
  TAUT_DEVICE std::uint8_t* piece(std::uint32_t box) const {
    return reinterpret_cast<std::uint8_t*>(frame) + frame_header_bytes +
           front_bytes(field.dims, field.boxes) + scratch->pieces()[box];
  }
};

// Of kernels that have a thread a block, whose registers hold all of its values.
template <unsigned D>
inline constexpr unsigned block_threads = D == 3 ? 64 : 128;
template <unsigned D>
inline constexpr BlockShape shape_for{block_threads<D>, 4};

// Room for the blocks of a warp: as many words as a block has bits.
template <class T, unsigned D>
struct WarpBits {
  std::uint32_t words[most_block_bits<T, D>];
};

// Bytes that words begin with, to any place. By a warp.
template <class Simt>
TAUT_DEVICE void copy_bytes(const Simt& simt, const std::uint32_t* words, std::uint32_t bytes,
                            std::uint8_t* to) {
  const unsigned lane = simt.thread() % warp_lanes;
  const auto byte = [words](std::uint32_t i) { return static_cast<std::uint8_t>(words[i / 4] >> i % 4 * 8); };
  const auto unaligned = static_cast<std::uint32_t>(0 - reinterpret_cast<std::uintptr_t>(to)) % 4;
  const std::uint32_t head = unaligned < bytes ? unaligned : bytes, whole = (bytes - head) / 4;
  auto* const aligned = reinterpret_cast<std::uint32_t*>(to + head);
  TAUT_ROLLED
  for (std::uint32_t i = lane; i < whole; i += warp_lanes)
    aligned[i] = head == 0 ? words[i] : words[i] >> 8 * head | words[i + 1] << (32 - 8 * head);
  const std::uint32_t tail = head + 4 * whole;
  if (lane < head) to[lane] = byte(lane);
  if (tail + lane < bytes) to[tail + lane] = byte(tail + lane);
}

// A row of a block, at its place in the field. Behind its end: see Block::instead.
template <class T>
TAUT_DEVICE void take_row(const T* from, unsigned width, T* to) {
  if (width == edge) {
    T x[edge];
    load_block(from, width, x);
    for (unsigned i = 0; i < edge; ++i) to[i] = x[i];
  } else {
    for (unsigned i = 0; i < edge; ++i) to[i] = from[Block<1>::instead(i, width)];
  }
}

// At a rate zfp's scale would overflow of smaller values.
template <class T>
TAUT_DEVICE T without_least(T x) {
  constexpr T least = static_cast<T>(sizeof(T) == 4 ? 0x1p-96 : 0x1p-960);
  return x < least && x > -least ? T(0) : x;
}

// A warp's blocks of a box from `first` on, which is a multiple of 32, to the box's stream. take(row, width,
// x): the values that are coded of a row.
template <class T, unsigned D, class Simt, class Take>
TAUT_DEVICE void encode_blocks(const Simt& simt, WarpBits<T, D>& shared, const Box<D>& box,
                               std::uint32_t first, unsigned bits, std::uint8_t* stream, const Take& take) {
  const unsigned lane = simt.thread() % warp_lanes;
  const std::uint32_t blocks = box.blocks();
  if (first >= blocks) return;
  TAUT_ROLLED
  for (unsigned i = lane; i < bits; i += warp_lanes) shared.words[i] = 0;
  simt.sync_warp();
  if (first + lane < blocks) {
    const Block<D> block(box, first + lane);
    T x[block_values<D>];
    TAUT_UNROLLED
    for (unsigned row = 0; row < Block<D>::rows; ++row) take(block.row(row), block.width(), x + row * edge);
    for (T& value : x) value = without_least(value);
    BitWriter<Simt> out(simt, shared.words, lane * bits, bits);
    write_block<D>(simt, x, out);
    out.flush();
  }
  simt.sync_warp();
  const std::uint32_t there = blocks - first < warp_lanes ? blocks - first : warp_lanes;
  copy_bytes(simt, shared.words, stream_bytes(there, bits), stream + first / 8 * bits);
  simt.sync_warp();
}

template <class T, unsigned D>
struct EncodeKernel {
  using Job = EncodeJob<T>;
  static constexpr BlockShape shape = shape_for<D>;
  struct Shared {
    WarpBits<T, D> warps[shape.threads / warp_lanes];
  };

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const std::uint32_t at = simt.block() / job.parts, part = simt.block() % job.parts;
    const Box<D> box(job.field, at);
    const Form form = job.entry(at).form();
    if (form == Form::stored) return store(simt, job, box, job.piece(at), part);
    if (form == Form::mended) return;
    const unsigned warp = simt.thread() / warp_lanes;
    encode_blocks(
        simt, shared.warps[warp], box, part * shape.threads + warp * warp_lanes, job.bits, job.piece(at),
        [&job](const Row& row, unsigned width, T* x) { take_row(job.values + row.place, width, x); });
  }

 private:
  template <class Simt>
  TAUT_DEVICE static void store(const Simt& simt, const Job& job, const Box<D>& box, std::uint8_t* piece,
                                std::uint32_t part) {
    const std::uint32_t values = box.values();
    TAUT_ROLLED
    for (std::uint32_t i = part * shape.threads + simt.thread(); i < values; i += job.parts * shape.threads)
      std::memcpy(piece + i * sizeof(T), &job.values[box.place(i)], sizeof(T));
  }
};

}  // namespace taut::zfp::cuda
