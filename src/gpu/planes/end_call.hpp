// Last kernel of calls that leave chunks to a second kernel: works on these chunks, then ends the call as
// FinishKernel does.
#pragma once

#include "gpu/planes/seal_frame.hpp"

namespace taut::planes::cuda {

// Exact: the kernel for the chunks. FinishJob::blocks is the number of blocks of the launch.
template <class T, class Exact>
struct EndKernel {
  struct Job {
    typename Exact::Job exact;
    FinishJob<T> finish;
  };
  struct Shared {
    typename Exact::Shared exact;
    FinishShared finish;
  };
  static constexpr BlockShape shape = Exact::shape;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    Exact::run(simt, shared.exact, job.exact);
    FinishKernel<T>::run(simt, shared.finish, job.finish);
  }
};

}  // namespace taut::planes::cuda
