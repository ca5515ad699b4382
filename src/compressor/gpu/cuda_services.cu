// Implements the services that libtaut uses: device memory, and waiting for a stream.
#include "compressor/gpu/cuda_services.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "compressor/gpu/cuda_call.hpp"
#include "compressor/gpu/cuda_memory.hpp"

namespace taut::api {
namespace {

const char* why() {
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

// A change that fails is repeated: work and memory would go to another device. If the error persists, it is a
// fault of the device.
int use(int device, int* before) {
  if (const int status = status_of(cudaGetDevice(before)); status != 0) return status;
  const int status = status_of(cudaSetDevice(device));
  return status == 0 ? 0 : status_of(cudaSetDevice(device));
}

// A wait that fails is repeated: the memory of the work is freed next. If the error persists, it is a fault of the
// device, on which nothing runs any more.
int wait(void* stream) {
  const auto waited_for = static_cast<cudaStream_t>(stream);
  const int status = status_of(cudaStreamSynchronize(waited_for));
  if (status != 0) status_of(cudaStreamSynchronize(waited_for));
  return status;
}

// Other streams may use pooled memory once the allocating stream has got to the allocation. That is Taut's own,
// because a stream of the program may wait for the call that needs the memory.
int allocate(void** memory, std::size_t bytes, MemoryKind kind) {
  const RelaxedCaptureScope scope;
  if (kind != MemoryKind::pooled)
    return guarded([&] { return status_of(device_memory().allocate_unordered(memory, bytes, kind)); });
  void* stream = nullptr;
  int status = own_stream(&stream);
  if (status == 0)
    status = status_of(device_memory().allocate(memory, bytes, static_cast<cudaStream_t>(stream)));
  if (status != 0) return status;
  status = wait(stream);
  if (status != 0) device_memory().free(*memory, static_cast<cudaStream_t>(stream));
  return status;
}

// All work on the memory is done. The legacy stream would wait for the streams of the program, and memory that it
// frees could be allocated again only behind that.
void give_back(void* memory, MemoryKind kind) {
  const RelaxedCaptureScope scope;
  if (kind != MemoryKind::pooled) return device_memory().free_unordered(memory);
  void* stream = nullptr;
  if (own_stream(&stream) == 0) device_memory().free(memory, static_cast<cudaStream_t>(stream));
}

int copy(void* to, const void* from, std::size_t bytes) {
  const cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr);
  return error == cudaSuccess ? wait(nullptr) : status_of(error);
}

struct ReleaseHooks {
  std::mutex mutex;
  std::vector<void (*)()> all;
};

ReleaseHooks& release_hooks() {
  static ReleaseHooks hooks;
  return hooks;
}

void at_release(void (*trim)()) {
  const std::lock_guard lock(release_hooks().mutex);
  release_hooks().all.push_back(trim);
}

int copy_on(void* to, const void* from, std::size_t bytes, void* stream) {
  return status_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(stream)));
}

int query(void* stream, int* idle) {
  const RelaxedCaptureScope scope;
  const cudaError_t error = cudaStreamQuery(static_cast<cudaStream_t>(stream));
  *idle = error == cudaSuccess;
  if (error != cudaErrorNotReady) return status_of(error);
  cudaGetLastError();  // the next launch must not take the answer for its own error
  return 0;
}

}  // namespace

void run_release_hooks() {
  const std::lock_guard lock(release_hooks().mutex);
  for (const auto trim : release_hooks().all) trim();
}

}  // namespace taut::api

extern "C" const taut::api::DeviceServices* TAUT_Cuda_services(void) {
  using namespace taut::api;
  static constexpr DeviceServices services{
      .version = device_services_version,
      .available = TAUT_Cuda_available,
      .why = why,
      .device_of = device_of,
      .name_of = name_of,
      .use = use,
      .allocate = allocate,
      .free = give_back,
      .at_release = at_release,
      .copy = copy,
      .copy_on = copy_on,
      .wait = wait,
      .query = query,
      .own_stream = own_stream,
      .open_stream = open_stream,
      .close_stream = close_stream,
      .follow = follow,
      .is_captured = is_captured,
      .record = record,
      .has_happened = has_happened,
      .free_event = free_event,
      .wait_for_word = wait_for_word,
      .codec = device_codec,
      .reduce_values = reduce_values,
      .divide_values = divide_values,
      .range = range_of_values};
  return &services;
}
