// Common parts of the tests on the simulated runtime (gpu/kernels/on_host): streams, memory and seeds.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "support/gpu_driver.h"
#include "support/gpu_faults.h"

namespace taut::test {

// Runs an action with each seed of 1 to `count`, or with TEST_SEED alone.
template <class Action>
void with_seeds(unsigned count, Action action) {
  const char* const only = std::getenv("TEST_SEED");
  const unsigned long long first = only != nullptr ? std::strtoull(only, nullptr, 10) : 1;
  for (unsigned long long seed = first; seed < first + (only != nullptr ? 1 : count); ++seed) {
    SCOPED_TRACE(testing::Message() << "TEST_SEED=" << seed);
    stand_in_set_seed(seed);
    action();
  }
}

class Stream {
 public:
  explicit Stream(unsigned flags = cudaStreamNonBlocking) {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, flags), cudaSuccess);
  }
  Stream(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// A graph of the work that an action puts on a stream.
class Graph {
 public:
  template <class Action>
  Graph(cudaStream_t stream, Action action) {
    EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    action();
    ended_ = cudaStreamEndCapture(stream, &graph_);
    if (ended_ == cudaSuccess) {
      EXPECT_EQ(cudaGraphInstantiate(&exec_, graph_), cudaSuccess);
    }
  }
  Graph(const Graph&) = delete;
  ~Graph() {
    if (ended_ != cudaSuccess) return;
    cudaGraphExecDestroy(exec_);
    cudaGraphDestroy(graph_);
  }
  cudaError_t ended() const { return ended_; }
  cudaError_t launch(cudaStream_t stream) const { return cudaGraphLaunch(exec_, stream); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  cudaError_t ended_;
};

}  // namespace taut::test
