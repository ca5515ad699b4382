// Last kernel of calls that leave chunks to a second kernel: works on these chunks, then ends the call.
#pragma once

#include "compressor/gpu/planes/seal_frame.hpp"

namespace taut::planes::cuda {

// Exact: the kernel for the chunks.
template <class Exact>
struct EndKernel {
  struct Job {
    typename Exact::Job exact;
    FrameSeal seal;
  };
  struct Shared {
    typename Exact::Shared exact;
    std::uint32_t header[header_words];
  };
  static constexpr BlockShape shape = Exact::shape;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    Exact::run(simt, shared.exact, job.exact);
    const FrameSeal& seal = job.seal;
    if (arrives_last(simt, seal.scratch->control, seal.blocks)) seal_frame(simt, seal, 0, shared.header);
  }
};

}  // namespace taut::planes::cuda
