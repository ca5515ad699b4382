// Devices and streams, events, and waiting.
#include <algorithm>

#include "gpu/kernels/on_host/runtime.hpp"

using namespace taut::on_host;

struct StandInEvent {
  WorkRef at;  // null: never recorded
  CaptureRef capture;
  std::vector<std::size_t> captured;
};

namespace taut::on_host {
namespace {

StandInStream* new_stream(StandInStream::Kind kind, int device) {
  static unsigned long long streams = 0;
  return new StandInStream{kind, device, ++streams};
}

// Handles of destroyed streams. CUDA may give them to new streams.
std::vector<StandInStream*>& destroyed() {
  static auto* const all = new std::vector<StandInStream*>;
  return *all;
}

cudaError_t create(cudaStream_t* stream, unsigned flags) {
  const auto kind = (flags & cudaStreamNonBlocking) != 0 ? StandInStream::Kind::non_blocking
                                                         : StandInStream::Kind::blocking;
  StandInStream* const made = new_stream(kind, current_device());
  *stream = made;
  if (!destroyed().empty()) {
    *stream = destroyed().back();
    destroyed().pop_back();
    **stream = *made;
    delete made;
  }
  runtime().streams.push_back(*stream);
  stand_in_note_objects(1);
  return cudaSuccess;
}

cudaError_t wait_event(cudaStream_t handle, const StandInEvent& event) {
  StandInStream* const stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (event.capture != nullptr) {
    if (std::ranges::find(runtime().captures, event.capture) == runtime().captures.end())
      return cudaErrorInvalidValue;
    if (stream->capture != nullptr && stream->capture != event.capture)
      return cudaErrorStreamCaptureIsolation;
    stream->capture = event.capture;
    stream->captured.insert(stream->captured.end(), event.captured.begin(), event.captured.end());
    return cudaSuccess;
  }
  if (stream->capture != nullptr) return invalidate(*stream->capture, cudaErrorStreamCaptureIsolation);
  std::vector<WorkRef> after = predecessors(*stream);
  after.push_back(event.at);
  stream->tail = runtime().schedule.add(stream->device, std::move(after), {});
  return cudaSuccess;
}

cudaError_t record(StandInEvent& event, cudaStream_t handle) {
  StandInStream* const stream = find_stream(handle);
  if (stream == nullptr || stream->device != current_device()) return cudaErrorInvalidResourceHandle;
  event = {};
  if (stream->capture != nullptr) {
    event.capture = stream->capture;
    event.captured = stream->captured;
    return cudaSuccess;
  }
  const cudaError_t error = enqueue(handle, {});
  event.at = stream->tail;
  return error;
}

void finish_all() {
  const std::lock_guard lock(runtime().lock);
  for (int device = 0; device < stand_in_devices; ++device) runtime().schedule.finish_device(device);
}

cudaError_t state_of(const WorkRef& work) {
  runtime().schedule.advance();
  return work == nullptr || work->done ? cudaSuccess : cudaErrorNotReady;
}

}  // namespace

Runtime& runtime() {
  static auto* const only = [] {
    auto* const made = new Runtime;
    for (int device = 0; device < stand_in_devices; ++device)
      made->legacy[static_cast<std::size_t>(device)] = new_stream(StandInStream::Kind::legacy, device);
    stand_in_set_finish(finish_all);
    return made;
  }();
  return *only;
}

int& current_device() {
  thread_local int device = 0;
  return device;
}

bool& in_host_function() {
  thread_local bool inside = false;
  return inside;
}

StandInStream* find_stream(cudaStream_t handle) {
  const auto device = static_cast<std::size_t>(current_device());
  if (handle == nullptr || handle == cudaStreamLegacy) return runtime().legacy[device];
  if (handle == cudaStreamPerThread) {
    thread_local std::array<StandInStream*, stand_in_devices> own = {};
    if (own[device] == nullptr) {
      own[device] = new_stream(StandInStream::Kind::blocking, current_device());
      runtime().streams.push_back(own[device]);
    }
    return own[device];
  }
  const auto found = std::ranges::find(runtime().streams, handle);
  return found != runtime().streams.end() ? *found : nullptr;
}

// Work of the legacy stream follows all work of blocking streams, and the other way round.
std::vector<WorkRef> predecessors(const StandInStream& stream) {
  std::vector<WorkRef> before{stream.tail};
  if (stream.kind == StandInStream::Kind::blocking)
    before.push_back(runtime().legacy[static_cast<std::size_t>(stream.device)]->tail);
  if (stream.kind == StandInStream::Kind::legacy)
    for (const StandInStream* const other : runtime().streams)
      if (other->device == stream.device && other->kind == StandInStream::Kind::blocking)
        before.push_back(other->tail);
  return before;
}

cudaError_t enqueue(cudaStream_t handle, Body run, bool frees) {
  StandInStream* const stream = find_stream(handle);
  if (stream == nullptr || stream->device != current_device()) return cudaErrorInvalidResourceHandle;
  if (stream->capture != nullptr) return capture_node(*stream, std::move(run));
  if (stream->kind == StandInStream::Kind::legacy)
    for (const StandInStream* const other : runtime().streams)
      if (other->kind == StandInStream::Kind::blocking && other->capture != nullptr)
        return invalidate(*other->capture, cudaErrorStreamCaptureImplicit);
  stream->tail = runtime().schedule.add(stream->device, predecessors(*stream), std::move(run), frees);
  return cudaSuccess;
}

cudaError_t finish_stream(cudaStream_t handle) {
  const StandInStream* const stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->capture != nullptr) return invalidate(*stream->capture, cudaErrorStreamCaptureUnsupported);
  runtime().schedule.finish(WorkRef(stream->tail));
  return cudaSuccess;
}

}  // namespace taut::on_host

cudaError_t cudaGetDeviceCount(int* count) {
  *count = stand_in_devices;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = current_device();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  return call(cudaErrorUnknown, [&] {
    if (device < 0 || device >= stand_in_devices) return cudaErrorInvalidDevice;
    current_device() = device;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  stand_in_note_wait();
  return call(cudaErrorUnknown, [] {
    for (const CaptureRef& capture : runtime().captures)
      if (capture->origin->device == current_device())
        return invalidate(*capture, cudaErrorStreamCaptureUnsupported);
    runtime().schedule.finish_device(current_device());
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return call(cudaErrorMemoryAllocation, [&] { return create(stream, flags); });
}

// Work of the stream still runs.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::lock_guard lock(runtime().lock);
  if (std::erase(runtime().streams, stream) == 0) return noted(cudaErrorInvalidResourceHandle);
  destroyed().push_back(stream);
  stand_in_note_objects(-1);
  return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return call(cudaErrorUnknown, [&] {
    const StandInStream* const stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream->capture != nullptr) return invalidate(*stream->capture, cudaErrorStreamCaptureUnsupported);
    *id = stream->id;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  stand_in_note_wait();
  return call(cudaErrorUnknown, [&] { return finish_stream(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return call(cudaErrorUnknown, [&] {
    const StandInStream* const stream = find_stream(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream->capture != nullptr) return invalidate(*stream->capture, cudaErrorStreamCaptureUnsupported);
    return state_of(stream->tail);
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call(cudaErrorUnknown, [&] { return wait_event(stream, *event); });
}

// The function must not call the runtime.
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* of) {
  return call(cudaErrorUnknown, [&] {
    return enqueue(stream, [=] {
      in_host_function() = true;
      function(of);
      in_host_function() = false;
    });
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return call(cudaErrorMemoryAllocation, [&] {
    *event = new StandInEvent{};
    stand_in_note_objects(1);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  stand_in_note_objects(-1);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call(cudaErrorUnknown, [&] { return record(*event, stream); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  stand_in_note_wait();
  return call(cudaErrorUnknown, [&] {
    if (event->capture != nullptr) return invalidate(*event->capture, cudaErrorStreamCaptureUnsupported);
    runtime().schedule.finish(event->at);
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call(cudaErrorUnknown, [&] {
    if (const cudaError_t error = check_no_capture(); error != cudaSuccess) return error;
    if (event->capture != nullptr) return invalidate(*event->capture, cudaErrorStreamCaptureUnsupported);
    return state_of(event->at);
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return call(cudaErrorUnknown, [&] {
    if (from->at == nullptr || to->at == nullptr) return cudaErrorInvalidResourceHandle;
    if (!from->at->done || !to->at->done) return cudaErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(to->at->ended - from->at->ended).count();
    return cudaSuccess;
  });
}
