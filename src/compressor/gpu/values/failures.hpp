// Kernel that notes failures of decoders whose results the host does not read one by one.
#pragma once

#include "compressor/gpu/simt/frame.hpp"

namespace taut::values::cuda {

using namespace taut::cuda;

struct NoteFailuresJob {
  const CallResult* results;
  std::uint32_t n;
  std::uint32_t* failed;  // in pinned memory
  std::uint32_t* header;  // of a frame; null: none
};

// Sets *failed, which the host sets back, to 1 if a result is no success, and the header to zeros.
struct NoteFailuresKernel {
  using Job = NoteFailuresJob;
  struct Shared {};
  static constexpr BlockShape shape{warp_lanes, 1};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    for (std::uint32_t i = simt.thread(); i < job.n; i += warp_lanes) {
      if (job.results[i].status == 0) continue;
      for (unsigned k = 0; job.header != nullptr && k < header_words; ++k) job.header[k] = 0;
      simt.signal_host(job.failed);
    }
  }
};

}  // namespace taut::values::cuda
