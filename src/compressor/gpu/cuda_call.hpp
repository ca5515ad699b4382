// Common parts of the calls of taut_cuda.h: launching kernels on a stream, and turning CUDA errors into
// statuses.
#pragma once

#include <taut/taut_cuda.h>

#include <new>
#include <string>
#include <type_traits>

#include "compressor/base/status.hpp"
#include "compressor/gpu/cuda_scratch.hpp"
#include "compressor/gpu/device_services.hpp"
#include "compressor/gpu/simt/frame.hpp"
#include "compressor/gpu/simt/kernel.cuh"

namespace taut::gpu {

// Text of the last error of this thread.
inline std::string& last_error() {
  thread_local std::string text;
  return text;
}

// Returns the status of an error, and notes its text. The runtime forgets the error, which it would report
// again for a later call.
inline int status_of(cudaError_t error) {
  if (error == cudaSuccess) return 0;
  cudaGetLastError();
  last_error() = cudaGetErrorString(error);
  return error == cudaErrorMemoryAllocation ? static_cast<int>(Status::out_of_memory) : TAUT_ERR_CUDA;
}

// Exception of a call that could not launch one of its kernels.
struct LaunchFailed {
  cudaError_t error;
};

// Launches kernels on a stream. Throws LaunchFailed.
struct StreamLauncher {
  cudaStream_t stream;

  template <class Kernel>
  void launch(unsigned blocks, const typename Kernel::Job& job) {
    const cudaError_t error = cuda::launch<Kernel>(blocks, job, stream);
    if (error != cudaSuccess) throw LaunchFailed{error};
  }
};

// Loads the kernels of a call instead of launching them. A capture must not be the first to use a kernel:
// loading may wait for the device.
struct KernelLoader {
  template <class Kernel>
  void launch(unsigned, const typename Kernel::Job&) {
    CudaScratch::check(cuda::load<Kernel>());
  }
};

// Returns the status of action(), or the status of the exception that the action throws.
template <class Action>
int guarded(Action action) noexcept {
  CudaCall call;
  try {
    return action();
  } catch (const LaunchFailed& failed) {
    call.abandon_scratch();
    return status_of(failed.error);
  } catch (cudaError_t error) {
    return status_of(error);
  } catch (NotReserved) {
    last_error() =
        "the stream is captured and has too little scratch memory: call TAUT_Cuda_reserve with the coding, "
        "or the same call once, before the capture";
    return TAUT_ERR_CUDA;
  } catch (const Error& error) {
    last_error() = error.what();
    return static_cast<int>(error.status());
  } catch (const std::bad_alloc&) {
    return static_cast<int>(Status::out_of_memory);
  }
}

inline bool is_type(int type) {
  return type >= 0 && type <= 255 && is_dtype(static_cast<std::uint8_t>(type));
}
inline bool aligned(const void* p, std::size_t to) { return reinterpret_cast<std::uintptr_t>(p) % to == 0; }

// Returns where kernels write a result. `polled`: the result begins a PolledResult, which also receives the
// header of the frame.
inline cuda::ResultPlace result_at(TAUT_Cuda_result* result, bool polled = false) {
  std::uint32_t* const header = polled ? reinterpret_cast<PolledResult*>(result)->header : nullptr;
  return {reinterpret_cast<cuda::CallResult*>(result), header};
}
static_assert(sizeof(TAUT_Cuda_result) == sizeof(cuda::CallResult));
static_assert(sizeof(PolledResult::header) == frame_header_bytes && std::is_standard_layout_v<PolledResult>);

// Returns the first status other than 0 of action(item), for each item in order.
template <class Item, class Action>
int one_by_one(const Item* items, int n, Action action) noexcept {
  for (int i = 0; i < n; ++i)
    if (const int status = action(items[i]); status != 0) return status;
  return 0;
}

}  // namespace taut::gpu
