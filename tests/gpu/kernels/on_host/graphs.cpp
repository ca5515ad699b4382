// Captures of streams, and launches of graphs. A launch turns each node into work, in the order of the graph.
#include "gpu/kernels/on_host/graphs.hpp"

#include <algorithm>

#include "gpu/kernels/on_host/runtime.hpp"

using namespace taut::on_host;

namespace {

// Nodes of a graph, and the memory that belongs to it.
struct Nodes {
  std::vector<Node> all;

  explicit Nodes(std::vector<Node> nodes) : all(std::move(nodes)) {}
  Nodes(const Nodes&) = delete;
  ~Nodes() {
    for (const Node& node : all)
      if (node.allocated != nullptr) stand_in_free(node.allocated);
  }
};

}  // namespace

struct StandInGraph {
  std::shared_ptr<const Nodes> nodes;
};

struct StandInGraphExec {
  std::shared_ptr<const Nodes> nodes;
  WorkRef last = {};  // end of the latest launch, which the next one follows
};

namespace taut::on_host {
namespace {

// True if all nodes without successors are among `joined`.
bool joins_all(const std::vector<Node>& nodes, const std::vector<std::size_t>& joined) {
  std::vector<bool> followed(nodes.size());
  for (const Node& node : nodes)
    for (const std::size_t before : node.after) followed[before] = true;
  for (const std::size_t node : joined) followed[node] = true;
  return std::ranges::find(followed, false) == followed.end();
}

// How far calls of this thread mind captures.
cudaStreamCaptureMode& mode_of_thread() {
  thread_local auto mode = cudaStreamCaptureModeGlobal;
  return mode;
}

cudaError_t begin(cudaStream_t handle, cudaStreamCaptureMode mode) {
  StandInStream* const stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->kind == StandInStream::Kind::legacy) return cudaErrorStreamCaptureUnsupported;
  if (stream->capture != nullptr) return cudaErrorInvalidValue;
  static unsigned long long captures = 0;
  stream->capture = std::make_shared<Capture>(Capture{stream, mode, std::this_thread::get_id(), ++captures});
  runtime().captures.push_back(stream->capture);
  return cudaSuccess;
}

cudaError_t end(cudaStream_t handle, cudaGraph_t* graph) {
  StandInStream* const stream = find_stream(handle);
  *graph = nullptr;
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  const CaptureRef capture = stream->capture;
  if (capture == nullptr || capture->origin != stream) return cudaErrorStreamCaptureUnmatched;
  const std::vector<std::size_t> joined = stream->captured;
  for (StandInStream* const other : runtime().streams) {
    if (other->capture != capture) continue;
    other->capture = nullptr;
    other->captured.clear();
  }
  std::erase(runtime().captures, capture);
  if (capture->invalid) return cudaErrorStreamCaptureInvalidated;
  if (!joins_all(capture->nodes, joined)) return cudaErrorStreamCaptureUnjoined;
  *graph = new StandInGraph{std::make_shared<const Nodes>(std::move(capture->nodes))};
  stand_in_note_objects(1);
  return cudaSuccess;
}

cudaError_t launch(StandInGraphExec& exec, cudaStream_t handle) {
  StandInStream* const stream = find_stream(handle);
  if (stream == nullptr || stream->capture != nullptr) return cudaErrorInvalidResourceHandle;
  std::vector<WorkRef> before = predecessors(*stream), all;
  before.push_back(exec.last);
  const WorkRef start = runtime().schedule.add(stream->device, std::move(before), {});
  for (const Node& node : exec.nodes->all) {
    std::vector<WorkRef> after{start};
    for (const std::size_t k : node.after) after.push_back(all[k]);
    all.push_back(node.begin ? add_steps(node.device, std::move(after), node.begin(true))
                             : runtime().schedule.add(node.device, std::move(after), node.run));
  }
  all.push_back(start);
  exec.last = stream->tail =
      runtime().schedule.add(stream->device, std::move(all), [keeps_memory = exec.nodes] {});
  return cudaSuccess;
}

}  // namespace

cudaError_t invalidate(Capture& capture, cudaError_t error) {
  capture.invalid = true;
  return error;
}

WorkRef add_steps(int device, std::vector<WorkRef> after, OutsideSteps steps) {
  WorkRef last;
  for (OutsideStep& step : steps) {
    last = runtime().schedule.add(device, std::move(after), std::move(step.run));
    last->condition = std::move(step.condition);
    after = {last};
  }
  return last;
}

cudaError_t capture_node(StandInStream& stream, Body run, void* allocated, BeginOutside begin) {
  Capture& capture = *stream.capture;
  if (capture.invalid) return cudaErrorStreamCaptureInvalidated;
  capture.nodes.push_back({stream.device, std::move(run), stream.captured, allocated, std::move(begin)});
  stream.captured = {capture.nodes.size() - 1};
  return cudaSuccess;
}

cudaError_t check_no_capture() {
  if (mode_of_thread() == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  for (const CaptureRef& capture : runtime().captures) {
    const bool own = capture->thread == std::this_thread::get_id();
    if ((capture->mode == cudaStreamCaptureModeGlobal && mode_of_thread() == cudaStreamCaptureModeGlobal) ||
        (capture->mode == cudaStreamCaptureModeThreadLocal && own))
      return invalidate(*capture, cudaErrorStreamCaptureUnsupported);
  }
  return cudaSuccess;
}

}  // namespace taut::on_host

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, mode_of_thread());
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return call(cudaErrorUnknown, [&] { return begin(stream, mode); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return call(cudaErrorUnknown, [&] { return end(stream, graph); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return call(cudaErrorUnknown, [&] {
    const StandInStream* const stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    const auto captures = [](const StandInStream* other) {
      return other->kind == StandInStream::Kind::blocking && other->capture != nullptr;
    };
    if (stream->kind == StandInStream::Kind::legacy && std::ranges::any_of(runtime().streams, captures))
      return cudaErrorStreamCaptureImplicit;
    *status = stream->capture == nullptr ? cudaStreamCaptureStatusNone
              : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                         : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* number) {
  const cudaError_t error = cudaStreamIsCapturing(handle, status);
  if (error != cudaSuccess || *status == cudaStreamCaptureStatusNone) return error;
  return call(cudaErrorUnknown, [&] {
    *number = find_stream(handle)->capture->number;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  return call(cudaErrorMemoryAllocation, [&] {
    *exec = new StandInGraphExec{graph->nodes};
    stand_in_note_objects(1);
    return cudaSuccess;
  });
}

// A graph whose memory is still allocated, by its launch before, cannot be launched.
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return call(cudaErrorLaunchOutOfResources, [&] {
    for (const Node& node : exec->nodes->all)
      if (node.allocated != nullptr && stand_in_is_mapped(node.allocated) != 0) return cudaErrorInvalidValue;
    return launch(*exec, stream);
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  stand_in_note_objects(-1);
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  stand_in_note_objects(-1);
  return cudaSuccess;
}
