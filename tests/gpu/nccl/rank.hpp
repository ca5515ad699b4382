// One rank of an NCCL communicator in a test, simulated or real.
#pragma once

#include <gtest/gtest.h>

#include "gpu/nccl/fake/control.h"
#include "gpu/nccl/fake/nccl.h"
#include "support/gpu_faults.h"
#include "support/on_gpu.hpp"

namespace taut::test {

// A rank: its number, communicator, and a stream on its GPU.
struct NcclRank {
  int rank = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;

  void finish() const { EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess); }
};

}  // namespace taut::test
