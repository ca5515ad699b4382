// Graphs, and captures of streams into graphs.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <thread>
#include <vector>

#include "gpu/kernels/on_host/outside_work.h"
#include "gpu/kernels/on_host/work.hpp"

namespace taut::on_host {

struct Node {
  int device;
  Body run;
  std::vector<std::size_t> after;  // nodes that this node follows
  void* allocated;                 // memory that the node maps, or null
  BeginOutside begin = {};         // of work of other libraries, at each launch
};

struct Capture {
  StandInStream* origin;
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  unsigned long long number;
  bool invalid = false;
  std::vector<Node> nodes = {};
};
using CaptureRef = std::shared_ptr<Capture>;

// Appends a node to the capture of a stream.
cudaError_t capture_node(StandInStream& stream, Body run, void* allocated = nullptr, BeginOutside begin = {});

// Adds steps to the work of a device, which follow `after` and each other. Returns the last one.
WorkRef add_steps(int device, std::vector<WorkRef> after, OutsideSteps steps);

// Ends a capture with a failure, because of a call that is forbidden during a capture. Returns `error`.
cudaError_t invalidate(Capture& capture, cudaError_t error);

// Returns an error if a capture forbids this thread the calls that are not enqueued, such as cudaMalloc.
cudaError_t check_no_capture();

}  // namespace taut::on_host
