// Implements the services that order calls in streams: events that the host polls, and streams that wait for
// a word of host memory.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "compressor/gpu/cuda_call.hpp"
#include "compressor/gpu/cuda_memory.hpp"
#include "compressor/gpu/cuda_services.hpp"

namespace taut::gpu {
namespace {

cudaStream_t handle(void* stream) { return static_cast<cudaStream_t>(stream); }

// Creates a stream that waits for no other stream. Its priority differs from that of usual streams: streams
// of one priority can share a hardware queue, where a stream that waits for the host would delay it.
cudaError_t create_own_stream(cudaStream_t& stream) {
  int least = 0, greatest = 0;
  const cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
  return error == cudaSuccess ? cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest)
                              : error;
}

// Type of cuStreamWaitValue32 (CUDA driver API, "Stream memory operations"). The result has the number of a
// cudaError_t.
using WaitValue = int (*)(cudaStream_t stream, unsigned long long address, std::uint32_t value,
                          unsigned flags);
constexpr unsigned until_reached = 0;  // CU_STREAM_WAIT_VALUE_GEQ, cyclic

// Finds the function in the driver, which alone has it. Version 2, of CUDA 11.7, works without options of the
// driver.
cudaError_t find_wait_value(WaitValue& wait_value) {
  constexpr unsigned version = 11070;
  cudaDriverEntryPointQueryResult answer{};
  void* function = nullptr;
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &function, version, cudaEnableDefault, &answer);
  wait_value = reinterpret_cast<WaitValue>(function);
  return error == cudaSuccess && wait_value == nullptr ? cudaErrorNotSupported : error;
}

struct OwnStream {
  int device;
  cudaStream_t stream;
  bool open;
};

// Streams that are open, and those that were closed, for later use: scratch memory belongs to a stream, so
// that each new stream would take more memory.
struct OwnStreams {
  std::mutex lock;
  std::vector<OwnStream> all;
};
OwnStreams& own_streams() {
  static auto* const streams = new OwnStreams;
  return *streams;
}

// An event, for one user at a time.
struct Event {
  int device = 0;
  cudaEvent_t event = nullptr;
};

// Events that nobody uses. They are used again rather than destroyed: cudaEventDestroy waits for calls of
// CUDA in other threads, which may wait for a stream.
struct FreeEvents {
  std::mutex lock;
  std::vector<Event*> all;
};
FreeEvents& free_events() {
  static auto* const free = new FreeEvents;
  return *free;
}

void give_back(Event* event) {
  FreeEvents& free = free_events();
  const std::lock_guard lock(free.lock);
  free.all.push_back(event);
}

// Records an event on a stream of the current device. Throws cudaError_t.
Event* recorded(void* stream) {
  int device = 0;
  CudaScratch::check(cudaGetDevice(&device));
  const auto take = [&]() -> Event* {
    FreeEvents& free = free_events();
    const std::lock_guard lock(free.lock);
    const auto found = std::ranges::find(free.all, device, &Event::device);
    if (found == free.all.end()) return nullptr;
    Event* const event = *found;
    free.all.erase(found);
    return event;
  };
  Event* event = take();
  if (event == nullptr) {
    auto made = std::make_unique<Event>(Event{device, nullptr});
    CudaScratch::check(cudaEventCreateWithFlags(&made->event, cudaEventDisableTiming));
    event = made.release();
  }
  const cudaError_t error = cudaEventRecord(event->event, handle(stream));
  if (error == cudaSuccess) return event;
  give_back(event);
  throw error;
}

void destroy_events() {
  FreeEvents& free = free_events();
  const std::lock_guard lock(free.lock);
  for (Event* const event : free.all) drop_error(cudaEventDestroy(event->event)), delete event;
  free.all.clear();
}

// Prepares the current device before a stream first waits for the host: CUDA would make Taut wait for that
// stream when it loads a kernel or allocates local memory, and a new stream may make it wait too.
cudaError_t prepare_device() {
  static std::mutex mutex;
  static std::set<int> prepared;
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return error;
  const std::lock_guard lock(mutex);
  if (prepared.contains(device)) return cudaSuccess;
  const RelaxedCaptureScope scope;
  void *own = nullptr, *other = nullptr;
  if (own_stream(&own) != 0 || open_stream(&other) != 0) return cudaErrorUnknown;
  close_stream(other);
  const cudaError_t error = cuda::load_all(handle(own));
  if (error == cudaSuccess) prepared.insert(device);
  return error;
}

}  // namespace

int own_stream(void** stream) noexcept {
  static std::mutex mutex;
  static std::map<int, cudaStream_t> streams;  // by device; never destroyed
  return guarded([&] {
    int device = 0;
    if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess) return status_of(error);
    const std::lock_guard lock(mutex);
    cudaStream_t& own = streams[device];
    const cudaError_t error = own == nullptr ? create_own_stream(own) : cudaSuccess;
    *stream = own;
    return status_of(error);
  });
}

int open_stream(void** stream) noexcept {
  return guarded([&] {
    OwnStream own{0, nullptr, true};
    CudaScratch::check(cudaGetDevice(&own.device));
    OwnStreams& streams = own_streams();
    const std::lock_guard lock(streams.lock);
    const auto found = std::ranges::find_if(
        streams.all, [&](const OwnStream& one) { return !one.open && one.device == own.device; });
    if (found == streams.all.end()) {
      streams.all.reserve(streams.all.size() + 1);
      CudaScratch::check(create_own_stream(own.stream));
      streams.all.push_back(own);
    } else {
      found->open = true;
      own = *found;
    }
    *stream = own.stream;
    return 0;
  });
}

void close_stream(void* stream) noexcept {
  OwnStreams& streams = own_streams();
  const std::lock_guard lock(streams.lock);
  std::ranges::find(streams.all, handle(stream), &OwnStream::stream)->open = false;
}

void release_streams() noexcept {
  OwnStreams& streams = own_streams();
  const std::lock_guard lock(streams.lock);
  std::erase_if(streams.all, [](const OwnStream& one) {
    if (!one.open) drop_error(cudaStreamDestroy(one.stream));
    return !one.open;
  });
  destroy_events();
}

int follow(void* stream, void* before) noexcept {
  return guarded([&] {
    Event* const event = recorded(before);
    const cudaError_t error = cudaStreamWaitEvent(handle(stream), event->event, 0);
    give_back(event);  // the wait is for the point that is recorded now
    return status_of(error);
  });
}

int is_captured(void* stream, int* captured) noexcept {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(handle(stream), &status);
  *captured = error == cudaErrorStreamCaptureImplicit || status != cudaStreamCaptureStatusNone;
  const int code = status_of(error);
  return *captured != 0 ? 0 : code;
}

int stream_number(void* stream, unsigned long long* number) noexcept {
  const RelaxedCaptureScope scope;
  return status_of(cudaStreamGetId(handle(stream), number));
}

int capture_number(void* stream, unsigned long long* number) noexcept {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return status_of(cudaStreamGetCaptureInfo(handle(stream), &status, number));
}

int record(void** event, void* stream) noexcept {
  return guarded([&] {
    *event = recorded(stream);
    return 0;
  });
}

int has_happened(void* event, int* happened) noexcept {
  const RelaxedCaptureScope scope;
  const cudaError_t error = cudaEventQuery(static_cast<const Event*>(event)->event);
  *happened = error == cudaSuccess;
  if (error != cudaErrorNotReady) return status_of(error);
  cudaGetLastError();  // the next launch must not take the answer for its own error
  return 0;
}

void free_event(void* event) noexcept { give_back(static_cast<Event*>(event)); }

int wait_for_word(const std::uint32_t* word, std::uint32_t value, void* stream) noexcept {
  return guarded([&] {
    WaitValue wait_value = nullptr;
    CudaScratch::check(find_wait_value(wait_value));
    CudaScratch::check(prepare_device());
    const auto address = reinterpret_cast<std::uintptr_t>(word);
    device_memory().note_wait(word, value);
    return status_of(static_cast<cudaError_t>(wait_value(handle(stream), address, value, until_reached)));
  });
}

}  // namespace taut::gpu
