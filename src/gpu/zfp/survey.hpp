// First kernel of encoding: determines the form and the size of each box's piece.
#pragma once

#include "gpu/zfp/finite.hpp"
#include "gpu/zfp/frame.hpp"

namespace taut::zfp::cuda {

template <class T>
struct SurveyJob {
  const T* values;
  Field field;
  unsigned bits;         // bits of a block
  std::uint32_t* index;  // index of the frame
};

// Returns the index entry of a box. `map_bytes` is the size of its map, or 0 if all values are finite.
template <class T>
TAUT_DEVICE Entry entry_of(std::uint32_t values, std::uint32_t blocks, unsigned bits,
                           std::uint32_t map_bytes) {
  const auto raw = static_cast<std::uint32_t>(values * sizeof(T));
  const std::uint32_t bytes = stream_bytes(blocks, bits);
  if (bytes >= raw) return {Form::stored, raw};
  if (map_bytes == 0) return {Form::coded, bytes};
  const bool fits = map_bytes < bytes && (bytes - map_bytes) * 8 / blocks >= least_block_bits<T>;
  return fits ? Entry(Form::mended, bytes) : Entry(Form::stored, raw);
}

// Returns the bits that are left for each block of a box with a map.
TAUT_DEVICE unsigned mended_bits(std::uint32_t bytes, std::uint32_t map_bytes, std::uint32_t blocks,
                                 unsigned bits) {
  const std::uint32_t left = (bytes - map_bytes) * 8 / blocks;
  return left < bits ? left : bits;
}

template <class T, unsigned D>
struct SurveyKernel {
  using Job = SurveyJob<T>;
  static constexpr BlockShape shape{256, 4};
  struct Shared {
    std::uint32_t class_bytes[shape.threads / warp_lanes];
  };

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    constexpr unsigned warps = shape.threads / warp_lanes;
    const unsigned warp = simt.thread() / warp_lanes;
    const Box<D> box(job.field, simt.block());
    const std::uint32_t values = box.values();
    std::uint32_t bytes = 0;  // bytes of the classes
    TAUT_ROLLED
    for (std::uint32_t group = warp; group * group_size < values; group += warps) {
      const std::uint32_t there = group_values(values, group);
      if (finite_values(simt, job.values, box, values, group) != all_of(there))
        bytes += static_cast<std::uint32_t>(class_bytes(there));
    }
    if (simt.thread() % warp_lanes == 0) shared.class_bytes[warp] = bytes;
    simt.barrier();
    if (simt.thread() != 0) return;
    std::uint32_t all = 0;
    for (unsigned i = 0; i < warps; ++i) all += shared.class_bytes[i];
    const std::uint32_t map_bytes = all == 0 ? 0 : static_cast<std::uint32_t>(mark_bytes(values)) + all;
    job.index[simt.block()] = entry_of<T>(values, box.blocks(), job.bits, map_bytes).word;
  }
};

}  // namespace taut::zfp::cuda
