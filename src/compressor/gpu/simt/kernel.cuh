// Launches kernels on threads of CUDA or HIP.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#if defined(__HIP__)
#include "compressor/gpu/simt/hip_thread.hpp"
#else
#include "compressor/gpu/simt/simt.hpp"
#endif

namespace taut::cuda {

// The second number of __launch_bounds__: CUDA counts the blocks on a multiprocessor, HIP the wavefronts on
// each of the four (gfx11: two) SIMD units of a compute unit.
#if defined(__HIP__)
using DeviceThread = HipThread;
constexpr unsigned launch_bound(BlockShape shape) {
  const unsigned wavefronts = shape.threads * shape.on_multiprocessor / (4 * 64);
  return wavefronts < 1 ? 1 : wavefronts > 8 ? 8 : wavefronts;
}
#else
using DeviceThread = CudaThread;
constexpr unsigned launch_bound(BlockShape shape) { return shape.on_multiprocessor; }
#endif

template <class Kernel>
__global__ void __launch_bounds__(Kernel::shape.threads, launch_bound(Kernel::shape))
    entry(const __grid_constant__ typename Kernel::Job job) {
#if defined(__HIP__)  // clang refuses an object with a constructor, which would do nothing
  alignas(typename Kernel::Shared) __shared__ std::byte memory[sizeof(typename Kernel::Shared)];
  auto& shared = *reinterpret_cast<typename Kernel::Shared*>(memory);
#else
  __shared__ typename Kernel::Shared shared;
#endif
  Kernel::run(DeviceThread{}, shared, job);
}

// Entry of the list of all kernels that this library can launch.
struct ListedKernel {
  explicit ListedKernel(const void* function) : kernel(function), next(first) { first = this; }

  const void* kernel;
  const ListedKernel* next;
  static inline constinit const ListedKernel* first = nullptr;
};
template <class Kernel>
inline const ListedKernel listed_kernel{reinterpret_cast<const void*>(entry<Kernel>)};

// Launches a kernel, and thereby puts it on the list. Returns the error of this launch: cudaGetLastError would
// return earlier errors too.
template <class Kernel>
cudaError_t launch(unsigned blocks, const typename Kernel::Job& job, cudaStream_t stream) {
  static_cast<void>(&listed_kernel<Kernel>);
  void* arguments[] = {const_cast<typename Kernel::Job*>(&job)};
  return cudaLaunchKernel(entry<Kernel>, dim3(blocks), dim3(Kernel::shape.threads), arguments, 0, stream);
}

// Loads a kernel on the current device.
template <class Kernel>
cudaError_t load() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, entry<Kernel>);
}

// Bytes of local memory of a thread. No kernel of this library needs more (ctest -R cuda.nvcc).
constexpr unsigned local_bytes = 1024;

// Kernel that only uses local memory, so that the driver allocates it.
template <unsigned bytes>
__global__ void use_local_memory(const unsigned* from, unsigned* to) {
  volatile unsigned own[bytes / sizeof(unsigned)];
  own[threadIdx.x] = from == nullptr ? threadIdx.x : *from;
  if (to != nullptr) *to = own[own[threadIdx.x] % 32];
}

// Loads all kernels of this library on the current device, and lets the driver allocate the local memory that
// they need. It would do both at the first launch of a kernel, and wait for the streams of the device.
template <unsigned bytes = local_bytes>
cudaError_t load_all(cudaStream_t stream) {
  using LoadFunction = int (*)(cudaFunction_t);  // cuFuncLoad of the driver, from CUDA 12.4 on
  cudaDriverEntryPointQueryResult answer{};
  void* load = nullptr;
  if (cudaGetDriverEntryPointByVersion("cuFuncLoad", &load, 12040, cudaEnableDefault, &answer) != cudaSuccess)
    cudaGetLastError();
  for (const ListedKernel* one = ListedKernel::first; one != nullptr; one = one->next) {
    cudaFuncAttributes attributes;
    cudaFunction_t function = nullptr;
    cudaError_t error = cudaFuncGetAttributes(&attributes, one->kernel);
    if (error == cudaSuccess) error = cudaGetFuncBySymbol(&function, one->kernel);
    if (error == cudaSuccess && load != nullptr)
      error = static_cast<cudaError_t>(reinterpret_cast<LoadFunction>(load)(function));
    if (error != cudaSuccess) return error;
  }
  use_local_memory<bytes><<<1, 32, 0, stream>>>(nullptr, nullptr);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

}  // namespace taut::cuda
