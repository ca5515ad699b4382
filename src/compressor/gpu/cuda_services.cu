// The services of libtaut_cuda that libtaut uses (device_services.hpp): device memory, streams and codecs.
#include "compressor/gpu/cuda_services.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "compressor/gpu/cuda_call.hpp"
#include "compressor/gpu/cuda_memory.hpp"

namespace taut::gpu {
namespace {

const char* unavailable_reason() {
  const char* text = "";
  TAUT_Cuda_available(&text);
  return text;
}

int device_of(const void* memory, int* device) {
  cudaPointerAttributes attributes{};
  const cudaError_t error = cudaPointerGetAttributes(&attributes, memory);
  *device = attributes.device;
  return status_of(error);
}

int name_of(int device, char* name, std::size_t bytes) {
  cudaDeviceProp properties{};
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  const std::size_t length = std::min(bytes - 1, std::strlen(properties.name));
  std::memcpy(name, properties.name, length);
  name[length] = 0;
  return status_of(error);
}

int current_device(int* device) { return status_of(cudaGetDevice(device)); }

// Sets the current device, and `previous` to the one before. A change that fails is repeated, because later
// work and memory would go to another device. An error that persists is a fault of the device.
int set_device(int device, int* previous) {
  if (const int status = status_of(cudaGetDevice(previous)); status != 0) return status;
  const int status = status_of(cudaSetDevice(device));
  return status == 0 ? 0 : status_of(cudaSetDevice(device));
}

// Waits for the work of a stream. A wait that fails is repeated, because the caller frees the memory of the
// work next. An error that persists is a fault of the device, on which nothing runs any more.
int wait(void* stream) {
  const int status = status_of(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
  if (status != 0) status_of(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
  return status;
}

// Allocates memory that all streams may use. Pooled memory is allocated on a stream of Taut, for which the
// call waits. A stream of the program could itself wait for the call that needs the memory.
int allocate_once(void** memory, std::size_t bytes, MemoryKind kind) {
  if (kind != MemoryKind::pooled)
    return guarded([&] { return status_of(device_memory().allocate_unordered(memory, bytes, kind)); });
  void* stream = nullptr;
  int status = own_stream(&stream);
  if (status == 0)
    status = status_of(device_memory().allocate(memory, bytes, static_cast<cudaStream_t>(stream)));
  if (status != 0) return status;
  status = wait(stream);
  if (status != 0) drop_error(device_memory().free(*memory, static_cast<cudaStream_t>(stream)));
  return status;
}

// Repeats an allocation on the device that fails for want of memory: pooled memory that was freed is there once
// Taut's stream has got to that point, and cudaMalloc gets it if the pool gives it back.
int allocate(void** memory, std::size_t bytes, MemoryKind kind) {
  const RelaxedCaptureScope scope;
  const int status = allocate_once(memory, bytes, kind);
  const bool may_be_repeated = status == static_cast<int>(Status::out_of_memory) && kind != MemoryKind::pinned;
  if (!may_be_repeated || !device_memory().has_pool()) return status;
  void* stream = nullptr;
  if (const int failed = own_stream(&stream); failed != 0) return failed;
  if (const int failed = wait(stream); failed != 0) return failed;
  device_memory().trim_pool();
  return allocate_once(memory, bytes, kind);
}

// Frees memory on which all work is complete. On the legacy stream the free would wait for the streams of the
// program, and so would the next allocation of that memory.
void free_memory(void* memory, MemoryKind kind) {
  const RelaxedCaptureScope scope;
  if (kind != MemoryKind::pooled) return device_memory().free_unordered(memory);
  void* stream = nullptr;
  if (own_stream(&stream) == 0) drop_error(device_memory().free(memory, static_cast<cudaStream_t>(stream)));
}

int copy(void* to, const void* from, std::size_t bytes) {
  const cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr);
  return error == cudaSuccess ? wait(nullptr) : status_of(error);
}

// Functions that DeviceServices::at_release has registered.
struct ReleaseHooks {
  std::mutex mutex;
  std::vector<void (*)()> hooks;
};

ReleaseHooks& release_hooks() {
  static ReleaseHooks hooks;
  return hooks;
}

void at_release(void (*hook)()) {
  const std::lock_guard lock(release_hooks().mutex);
  release_hooks().hooks.push_back(hook);
}

int copy_on(void* to, const void* from, std::size_t bytes, void* stream) {
  return status_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(stream)));
}

int query(void* stream, int* idle) {
  const RelaxedCaptureScope scope;
  const cudaError_t error = cudaStreamQuery(static_cast<cudaStream_t>(stream));
  *idle = error == cudaSuccess;
  if (error != cudaErrorNotReady) return status_of(error);
  cudaGetLastError();  // clears cudaErrorNotReady, which the next launch would report as its own error
  return 0;
}

}  // namespace

void run_release_hooks() {
  const std::lock_guard lock(release_hooks().mutex);
  for (const auto hook : release_hooks().hooks) hook();
}

}  // namespace taut::gpu

extern "C" const taut::gpu::DeviceServices* TAUT_Cuda_services(void) {
  using namespace taut::gpu;
  static constexpr DeviceServices services{.version = device_services_version,
                                           .available = TAUT_Cuda_available,
                                           .last_error = unavailable_reason,
                                           .device_of = device_of,
                                           .name_of = name_of,
                                           .current_device = current_device,
                                           .set_device = set_device,
                                           .allocate = allocate,
                                           .free = free_memory,
                                           .at_release = at_release,
                                           .copy = copy,
                                           .copy_on = copy_on,
                                           .wait = wait,
                                           .query = query,
                                           .own_stream = own_stream,
                                           .open_stream = open_stream,
                                           .close_stream = close_stream,
                                           .follow = follow,
                                           .stream_number = stream_number,
                                           .is_captured = is_captured,
                                           .capture_number = capture_number,
                                           .record = record,
                                           .has_happened = has_happened,
                                           .free_event = free_event,
                                           .wait_for_word = wait_for_word,
                                           .codec = device_codec,
                                           .reduce_values = reduce_values,
                                           .reduce_widely = reduce_widely,
                                           .sum_with_residual = sum_with_residual,
                                           .subtract_from_residual = subtract_from_residual,
                                           .note_failures = note_failures,
                                           .divide_values = divide_values,
                                           .range = range_of_values};
  return &services;
}
