// Kernel after encoding, for fields whose boxes are not all of fixed sizes: determines the form and the size
// of the piece of each box with values that are not finite.
#pragma once

#include "compressor/gpu/zfp/encode.hpp"
#include "compressor/gpu/zfp/finite.hpp"

namespace taut::zfp::cuda {

template <class T, unsigned D>
struct SurveyKernel {
  using Job = EncodeJob<T>;
  static constexpr BlockShape shape{256, 4};
  struct Shared {
    std::uint32_t class_bytes[shape.threads / warp_lanes];
  };

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    constexpr unsigned warps = shape.threads / warp_lanes;
    const unsigned warp = simt.thread() / warp_lanes;
    if (job.scratch->boxes()[simt.block()].special == 0) return;
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
    std::uint32_t map_bytes = static_cast<std::uint32_t>(mark_bytes(values));
    for (unsigned i = 0; i < warps; ++i) map_bytes += shared.class_bytes[i];
    const Entry entry = entry_of<T>(values, box.blocks(), job.bits, map_bytes);
    job.index()[simt.block()] = entry.word;
    if (entry.form() == Form::stored) job.scratch->control.again = 1;
  }
};

}  // namespace taut::zfp::cuda
