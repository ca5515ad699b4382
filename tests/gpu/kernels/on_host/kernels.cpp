#include "gpu/kernels/on_host/kernels.hpp"

#include <array>
#include <cstring>
#include <set>

#include "gpu/kernels/on_host/runtime.hpp"

namespace taut::on_host {
namespace {

std::set<const void*>& loaded() {
  static auto* const all = new std::set<const void*>;
  return *all;
}

void note_loaded(const void* kernel) {
  if (loaded().insert(kernel).second) stand_in_note_load();
}

// Simulations of a device that differ in the number of blocks that run at the same time.
shim::Gpu& any_gpu() {
  static auto* const gpus = new std::array{shim::Gpu(1, 1), shim::Gpu(1, 2), shim::Gpu(1, 5)};
  return (*gpus)[stand_in_random(static_cast<unsigned>(gpus->size()))];
}

// Returns the words of arguments that are addresses of memory of devices.
std::vector<const void*> addresses_in(std::span<const std::byte> arguments) {
  std::vector<const void*> addresses;
  for (std::size_t i = 0; i + sizeof(void*) <= arguments.size(); i += alignof(void*)) {
    const void* word = nullptr;
    std::memcpy(&word, arguments.data() + i, sizeof word);
    if (stand_in_device_of(word) >= 0) addresses.push_back(word);
  }
  return addresses;
}

// One kernel runs at a time, to its end. Its blocks run in an order of their own.
void run(const KernelShape& shape, unsigned blocks, const shim::Gpu::Body& body) {
  if (stand_in_note_kernel() != 0) return;
  shim::Gpu& gpu = any_gpu();
  gpu.reseed(stand_in_random(~0U));
  gpu.launch(blocks, shape.threads, shape.shared_bytes, body);
}

cudaError_t enqueue_kernel(const KernelShape& shape, unsigned blocks, shim::Gpu::Body body,
                           std::vector<const void*> addresses, cudaStream_t handle) {
  constexpr unsigned max_threads = 1024;
  if (blocks == 0 || shape.threads == 0 || shape.threads > max_threads) return cudaErrorInvalidConfiguration;
  StandInStream* const stream = find_stream(handle);
  if (stream != nullptr && stream->capture != nullptr && !loaded().contains(shape.kernel))
    return invalidate(*stream->capture, cudaErrorStreamCaptureUnsupported);
  const int device = current_device();
  const cudaError_t error = enqueue(handle, [=, body = std::move(body), addresses = std::move(addresses)] {
    const Access access(device, addresses);
    run(shape, blocks, body);
  });
  if (error != cudaSuccess) return error;
  note_loaded(shape.kernel);
  stand_in_note_launch();
  return cudaSuccess;
}

}  // namespace

cudaError_t load(const KernelShape& shape) {
  return call(cudaErrorMemoryAllocation, [&] {
    const cudaError_t error = check_no_capture();
    if (error == cudaSuccess) note_loaded(shape.kernel);
    return error;
  });
}

std::size_t loaded_kernels() {
  const std::lock_guard lock(runtime().lock);
  return loaded().size();
}

void unload_kernels() {
  const std::lock_guard lock(runtime().lock);
  loaded().clear();
}

cudaError_t launch(const KernelShape& shape, unsigned blocks, shim::Gpu::Body body,
                   std::span<const std::byte> arguments, cudaStream_t stream) {
  return call(cudaErrorLaunchOutOfResources, [&] {
    return enqueue_kernel(shape, blocks, std::move(body), addresses_in(arguments), stream);
  });
}

}  // namespace taut::on_host
