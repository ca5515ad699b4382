// Launches the kernels of each call, in order, with their memory. Launcher: see
// compressor/gpu/planes/calls.hpp.
#pragma once

#include "compressor/gpu/zfp/decode.hpp"
#include "compressor/gpu/zfp/repair.hpp"

namespace taut::zfp::cuda {

// Returns the size of the scratch memory for a call on a field of `tiles` tiles.
inline std::size_t scratch_bytes(std::size_t tiles) { return sizeof(Scratch) + sizeof(TileState) * tiles; }

// Returns an upper bound on the size of any frame of the field; at most Codec::max_bytes().
template <class T>
std::uint64_t max_frame_bytes(const Field& field, double rate) {
  const std::uint64_t front = frame_header_bytes + front_bytes(field.dims, field.tiles);
  const std::uint64_t row = field.extent[max_dims - 1], whole = field.tile_extent[max_dims - 1];
  if (field.dims > 1 || rate < min_fixed_rate || row == 0) {
    std::uint64_t values = 1;
    for (const std::uint32_t n : field.extent) values *= n;
    return front + values * sizeof(T);
  }
  const auto tile_bytes = [rate](std::uint64_t values) {
    const std::uint32_t coded =
        stream_bytes(blocks_along(static_cast<std::uint32_t>(values)), block_bits<T>(rate, edge));
    return std::min<std::uint64_t>(values * sizeof(T), coded);
  };
  return front + (field.tiles - 1) * tile_bytes(whole) + tile_bytes(row - (field.tiles - 1) * whole);
}

struct CallMemory {
  Scratch* scratch;
  ResultPlace result;
};

// Returns the number of thread blocks for the largest tile of a field.
template <unsigned D>
std::uint32_t parts_of(const Field& field) {
  std::uint32_t blocks = 1;
  for (const std::uint32_t n : field.tile_extent) blocks *= blocks_along(n);
  return std::max((blocks + part_blocks<D> - 1) / part_blocks<D>, 1u);
}

// Runs action.operator()<D>() for a field of D dimensions.
template <class Action>
void on_dims(const Field& field, Action action) {
  if (field.dims == 1) return action.template operator()<1>();
  if (field.dims == 2) return action.template operator()<2>();
  if (field.dims == 3) return action.template operator()<3>();
  return action.template operator()<4>();
}

// Encodes values: frame <- values. `header` gives type, count and bound, which is a rate; the frame has room
// for max_frame_bytes().
template <class T, class Launcher>
void encode(Launcher& launcher, const T* values, const Field& field, FrameHeader header, std::byte* frame,
            const CallMemory& memory) {
  header.parameters[0] = static_cast<std::uint8_t>(field.dims);
  const unsigned bits = block_bits<T>(header.bound.value, 1u << 2 * field.dims);
  bool fixed = true;  // all records have the same size whether their values are finite or not
  EncodeJob<T> job{};
  job.values = values;
  job.field = field;
  job.positions = record_positions(field, [&](std::uint32_t values_of_tile, std::uint32_t blocks) {
    fixed = fixed && is_fixed<T>(values_of_tile, blocks, bits);
    return entry_of<T>(values_of_tile, blocks, bits, 0).bytes();
  });
  job.bits = bits;
  job.frame = reinterpret_cast<std::uint32_t*>(frame);
  job.scratch = memory.scratch;
  job.result = memory.result;
  write_header(header, std::as_writable_bytes(std::span(job.header)));
  on_dims(field, [&]<unsigned D>() {
    job.parts = parts_of<D>(field);
    if (field.tiles > 0) launcher.template launch<EncodeKernel<T, D>>(field.tiles * job.parts, job);
    if (!fixed) {
      launcher.template launch<ClassifyKernel<T, D>>(field.tiles, job);
      const std::uint32_t* const index = job.frame + header_words + extent_words(D);
      launcher.template launch<PlaceKernel>(1, {index, field.tiles, memory.scratch});
    }
    launcher.template launch<RepairKernel<T, D>>(std::max(field.tiles, 1u), job);
  });
}

// Decodes a frame: values <- frame.
template <class T, class Launcher>
void decode(Launcher& launcher, const Source& source, T* values, const Field& field, std::uint64_t count,
            const CallMemory& memory) {
  launcher.template launch<OpenKernel>(1, {source, field, count, dtype_of<T>, memory.scratch});
  on_dims(field, [&]<unsigned D>() {
    const DecodeJob<T> job{source, values, field, parts_of<D>(field), memory.scratch, memory.result};
    launcher.template launch<DecodeKernel<T, D>>(std::max(field.tiles * job.parts, 1u), job);
  });
}

}  // namespace taut::zfp::cuda
