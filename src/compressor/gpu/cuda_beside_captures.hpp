// Scope in which calls of this thread leave captures of other streams alone. While the program captures a
// stream, CUDA otherwise refuses some calls of all threads (allocations, cudaEventQuery), and ends the
// capture.
#pragma once

#include <cuda_runtime.h>

namespace taut::api {

class BesideCaptures {
 public:
  BesideCaptures() noexcept { cudaThreadExchangeStreamCaptureMode(&mode_); }
  BesideCaptures(const BesideCaptures&) = delete;
  ~BesideCaptures() { cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace taut::api
