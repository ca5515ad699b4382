// Decodes frames with references, and frames without any: the kernels of decode.hpp, which add the integers
// of the references to what planes give.
#pragma once

#include "compressor/gpu/planes/decode.hpp"

namespace taut::planes::cuda {

template <class T>
struct ReferencedDecodeJob : DecodeJob<T, ExpectedReferences> {
  ReferenceArrays<T> arrays;
};

template <class T>
struct ReferencedDecodeKernel {
  using Job = ReferencedDecodeJob<T>;
  using Shared = DecodeShared;
  static constexpr BlockShape shape{chunk_threads, resident_predicted_blocks};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    ChunkDecoder<T, Simt, Job>(simt, shared, job, shared.frame).run();
  }
};

template <class T>
struct ReferencedExactKernel {
  using Job = ReferencedDecodeJob<T>;
  using Shared = DecodeExactShared;
  // One block on a multiprocessor is enough, because few chunks need this kernel.
  static constexpr BlockShape shape{chunk_threads, 1};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    ChunkDecoder<T, Simt, Job>(simt, shared.decode, job, job.scratch->opened.total).run_exact(shared.q);
  }
};

}  // namespace taut::planes::cuda
