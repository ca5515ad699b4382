// Graphs, and captures of streams into graphs.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <thread>
#include <vector>

#include "gpu/kernels/on_host/work.hpp"

namespace taut::on_host {

struct Node {
  int device;
  Body run;
  std::vector<std::size_t> after;  // nodes that this node follows
  void* allocated;                 // memory that the node maps, or null
};

struct Capture {
  StandInStream* origin;
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  bool invalid = false;
  std::vector<Node> nodes = {};
};
using CaptureRef = std::shared_ptr<Capture>;

// Appends a node to the capture of a stream.
cudaError_t capture_node(StandInStream& stream, Body run, void* allocated = nullptr);

// Ends a capture with a failure, because of a call that is forbidden during a capture. Returns `error`.
cudaError_t invalidate(Capture& capture, cudaError_t error);

// Returns an error if a capture forbids this thread the calls that are not enqueued, such as cudaMalloc.
cudaError_t check_no_capture();

}  // namespace taut::on_host
