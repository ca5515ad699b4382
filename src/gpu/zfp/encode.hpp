// Encodes values to pieces. Boxes with values that are not finite are encoded by mend.hpp.
#pragma once

#include "gpu/zfp/frame.hpp"
#include "gpu/zfp/warp_blocks.hpp"

namespace taut::zfp::cuda {

template <class T>
struct EncodeJob {
  const T* values;
  Field field;
  unsigned bits;        // bits of a block
  std::uint32_t parts;  // thread blocks of a box
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

template <class T, unsigned D>
struct EncodeKernel {
  using Job = EncodeJob<T>;
  static constexpr BlockShape shape = shape_for<D>;
  struct Shared {
    WarpShared<T, D> warps[shape.threads / warp_lanes];
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
        simt, shared.warps[warp], box, part * part_blocks<D> + warp * warp_blocks<D>, job.bits, job.piece(at),
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
