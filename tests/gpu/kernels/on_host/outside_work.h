// Work of other simulated libraries, such as NCCL, in the order of streams.
#pragma once

#include <cuda_runtime.h>

#include <functional>

#pragma GCC visibility push(default)

// Enqueues run(), which runs once condition() is true. Both are called with the lock of the runtime, and must
// not call the runtime. Work with a condition cannot be captured.
cudaError_t cudaOutsideWork(cudaStream_t stream, std::function<void()> run, std::function<bool()> condition);

#pragma GCC visibility pop
