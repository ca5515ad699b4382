// Memory of the devices, and pinned memory of the host.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "gpu/kernels/on_host/runtime.hpp"

using namespace taut::on_host;

namespace {

// Kind of an allocation on a device: by cudaMalloc, in the order of a stream, or by a node of a graph.
enum class Kind { plain, ordered, of_graph };

std::map<void*, Kind>& kinds() {
  static auto* const all = new std::map<void*, Kind>;
  return *all;
}

cudaError_t reserve(void** at, std::size_t bytes, int device) {
  *at = stand_in_reserve(bytes, device);
  return *at != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t allocate(void** at, std::size_t bytes, int device) {
  if (const cudaError_t error = check_no_capture(); error != cudaSuccess) return error;
  if (const cudaError_t error = reserve(at, bytes, device); error != cudaSuccess) return error;
  stand_in_map(*at);
  kinds()[*at] = Kind::plain;
  return cudaSuccess;
}

// The memory exists once the stream has got there.
cudaError_t allocate_ordered(void** at, std::size_t bytes, cudaStream_t handle) {
  StandInStream* const stream = find_stream(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t error = reserve(at, bytes, stream->device); error != cudaSuccess) return error;
  const bool captured = stream->capture != nullptr;
  const Body map = [memory = *at] { stand_in_map(memory); };
  const cudaError_t error = captured ? capture_node(*stream, map, *at) : enqueue(handle, map);
  if (error == cudaSuccess) {
    kinds()[*at] = captured ? Kind::of_graph : Kind::ordered;
  } else {
    stand_in_free(*at);
  }
  return error;
}

cudaError_t free_ordered(void* at, cudaStream_t handle) {
  const auto found = kinds().find(at);
  if (found == kinds().end()) return cudaErrorInvalidValue;
  if (found->second == Kind::of_graph)
    return enqueue(
        handle, [at] { stand_in_unmap(at); }, true);
  const StandInStream* const stream = find_stream(handle);
  if (stream != nullptr && stream->capture != nullptr)
    return invalidate(*stream->capture, cudaErrorInvalidValue);
  const cudaError_t error = enqueue(
      handle, [at] { stand_in_free(at); }, true);
  if (error == cudaSuccess) kinds().erase(found);
  return error;
}

// Ends the program if a stream waits for the host. A real call waits for that stream then, and launches of
// other threads wait for the call.
void expect_no_wait(const char* call) {
  if (!runtime().schedule.waits_for_host()) return;
  std::fprintf(stderr, "simulated GPU: %s while a stream waits for the host: a GPU may wait for ever\n",
               call);
  std::abort();
}

// Waits for the device, unless the memory was allocated in the order of a stream: then the caller has waited.
cudaError_t free_now(void* at) {
  if (at == nullptr) return cudaSuccess;
  if (const cudaError_t error = check_no_capture(); error != cudaSuccess) return error;
  const auto found = kinds().find(at);
  if (found == kinds().end()) return cudaErrorInvalidValue;
  if (found->second == Kind::plain) runtime().schedule.finish_device(stand_in_device_of(at));
  if (found->second == Kind::of_graph) {
    stand_in_unmap(at);
  } else {
    stand_in_free(at);
    kinds().erase(found);
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* at) {
  const int device = stand_in_device_of(at);
  void* const address = const_cast<void*>(at);
  if (device == stand_in_unknown) {
    *attributes = {cudaMemoryTypeUnregistered, 0, nullptr, address};
  } else if (device == stand_in_host) {
    *attributes = {cudaMemoryTypeHost, 0, address, address};
  } else {
    *attributes = {cudaMemoryTypeDevice, device, address, nullptr};
  }
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** at, std::size_t bytes) {
  return call(cudaErrorMemoryAllocation, [&] { return allocate(at, bytes, current_device()); });
}

cudaError_t cudaMallocAsync(void** at, std::size_t bytes, cudaStream_t stream) {
  if (!taut::shim::supports_pools()) return noted(cudaErrorNotSupported);
  return call(cudaErrorMemoryAllocation, [&] { return allocate_ordered(at, bytes, stream); });
}

cudaError_t cudaFree(void* at) {
  const std::lock_guard lock(runtime().lock);
  if (at != nullptr) expect_no_wait("cudaFree");
  const cudaError_t error = free_now(at);
  return noted(error == cudaSuccess && taut::shim::free_fails() ? cudaErrorUnknown : error);
}

cudaError_t cudaFreeAsync(void* at, cudaStream_t stream) {
  if (!taut::shim::supports_pools()) return noted(cudaErrorNotSupported);
  const std::lock_guard lock(runtime().lock);
  return noted(free_ordered(at, stream));
}

cudaError_t cudaHostAlloc(void** at, std::size_t bytes, unsigned) {
  return call(cudaErrorMemoryAllocation, [&] { return allocate(at, bytes, stand_in_host); });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  if (stand_in_device_of(host) != stand_in_host) return noted(cudaErrorInvalidValue);
  *device = host;
  return cudaSuccess;
}

// Does not wait for work that uses the memory.
cudaError_t cudaFreeHost(void* at) {
  const std::lock_guard lock(runtime().lock);
  if (at != nullptr) expect_no_wait("cudaFreeHost");
  if (at != nullptr && kinds().erase(at) == 0) return noted(cudaErrorInvalidValue);
  stand_in_free(at);
  return cudaSuccess;
}
