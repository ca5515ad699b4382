// State of the simulated runtime, and the common parts of its calls.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <mutex>

#include "gpu/kernels/on_host/graphs.hpp"
#include "gpu/kernels/on_host/work.hpp"
#include "support/gpu_driver.h"
#include "support/gpu_faults.h"

struct StandInStream {
  enum class Kind { legacy, blocking, non_blocking } kind;
  int device;
  unsigned long long id;
  taut::on_host::WorkRef tail = {};  // last work of the stream
  taut::on_host::CaptureRef capture = {};
  std::vector<std::size_t> captured = {};  // nodes of the capture that the stream's next node follows
};

namespace taut::on_host {

struct Runtime {
  std::mutex lock;
  Schedule schedule;
  std::array<StandInStream*, stand_in_devices> legacy = {};
  std::vector<StandInStream*> streams;  // all but the legacy streams
  std::vector<CaptureRef> captures;     // those that have not ended
};
Runtime& runtime();

int& current_device();
bool& in_host_function();  // true while this thread runs a function of cudaLaunchHostFunc

// Remembers an error for cudaGetLastError. Returns the error.
cudaError_t noted(cudaError_t error);

// Runs the body of a call, which may fail: with `failure` if the test wants it, or as body() does.
template <class Action>
cudaError_t call(cudaError_t failure, Action body) {
  if (in_host_function()) return noted(cudaErrorNotPermitted);
  if (stand_in_note_call() != 0) return noted(failure);
  const std::lock_guard lock(runtime().lock);
  if (stand_in_faulted() != 0) return noted(cudaErrorIllegalAddress);
  const cudaError_t error = body();
  return noted(stand_in_faulted() != 0 ? cudaErrorIllegalAddress : error);
}

// Returns the stream of a handle, as the current device and this thread understand it; null: no such stream.
StandInStream* find_stream(cudaStream_t handle);

// Returns the work that the next work of a stream follows, by the rules of implicit order.
std::vector<WorkRef> predecessors(const StandInStream& stream);

// Appends work to a stream, or to the graph that the stream is captured in. `frees`: see Work.
cudaError_t enqueue(cudaStream_t stream, Body run, bool frees = false);

// Scope in which the memories that contain some addresses are accessible, if they are those of a device.
class Access {
 public:
  Access(int device, std::vector<const void*> addresses) : device_(device), addresses_(std::move(addresses)) {
    for (const void* const at : addresses_) stand_in_open(at, device_);
  }
  Access(const Access&) = delete;
  ~Access() {
    for (const void* const at : addresses_) stand_in_close(at, device_);
  }

 private:
  int device_;
  std::vector<const void*> addresses_;
};

// Runs all work of a stream.
cudaError_t finish_stream(cudaStream_t stream);

}  // namespace taut::on_host
