// Launches of kernels that encode or decode several frames together.
#pragma once

#include "compressor/gpu/cuda_call.hpp"
#include "compressor/gpu/simt/batch.hpp"

namespace taut::gpu {

// Returns true if kernels can access the memory. An access to other memory would end the CUDA context.
inline bool is_accessible(const DeviceFrameItem& item, std::size_t value_bytes) {
  return item.result != nullptr && aligned(item.result, alignof(TAUT_Cuda_result)) && item.frame != nullptr &&
         aligned(item.frame, 16) && aligned(item.values, value_bytes) &&
         (item.values != nullptr || item.count == 0);
}

// Calls enqueue(launcher, item, memory_of(item, i)) for each item, and launches each kernel once for up to
// max_items items. All memory is reserved first: no kernel is launched if a captured stream lacks some.
template <class MemoryOf, class Enqueue>
void launch_items(const DeviceFrameItem* items, int n, void* stream, MemoryOf memory_of, Enqueue enqueue) {
  for (int i = 0; i < n; ++i) memory_of(items[i], i);
  StreamLauncher launcher{static_cast<cudaStream_t>(stream)};
  if (n == 1) return enqueue(launcher, items[0], memory_of(items[0], 0));
  cuda::BatchLauncher batch(launcher);
  for (int i = 0; i < n; ++i) {
    batch.begin_item();
    enqueue(batch, items[i], memory_of(items[i], i));
    if ((i + 1) % static_cast<int>(cuda::max_items) == 0) batch.launch_all();
  }
  batch.launch_all();
}

// Loads the kernels that enqueue(launcher) launches, for one frame and for several. No kernel runs.
template <class Enqueue>
void load_kernels_of_items(Enqueue enqueue) {
  KernelLoader loader;
  enqueue(loader);
  cuda::BatchLauncher batch(loader);
  batch.begin_item();
  enqueue(batch);
  batch.launch_all();
}

}  // namespace taut::gpu
