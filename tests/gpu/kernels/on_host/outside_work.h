// Work of other simulated libraries, such as NCCL, in the order of streams.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

namespace taut::on_host {

// Work that runs once the condition, if there is one, is true.
struct OutsideStep {
  std::function<void()> run;
  std::function<bool()> condition = {};
};
using OutsideSteps = std::vector<OutsideStep>;
using BeginOutside = std::function<OutsideSteps(bool by_graph)>;

}  // namespace taut::on_host

#pragma GCC visibility push(default)

// Enqueues the steps that begin(false) returns, one after another. In a captured stream they become a node
// of the graph, and begin(true) is called at each launch. All functions are called with the lock of the
// runtime, and must not call the runtime.
cudaError_t cudaOutsideWork(cudaStream_t stream, taut::on_host::BeginOutside begin);

#pragma GCC visibility pop
