// Implements the services that libtaut uses: device memory, and waiting for a stream.
#include "gpu/cuda_call.hpp"
#include "gpu/device_services.hpp"

namespace taut::api {
namespace {

int status_of(cudaError_t error) {
  if (error != cudaSuccess) last_error() = cudaGetErrorString(error);
  if (error == cudaErrorMemoryAllocation) return static_cast<int>(Status::out_of_memory);
  return error == cudaSuccess ? 0 : TAUT_ERR_CUDA;
}

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

int use(int device, int* before) {
  const cudaError_t error = cudaGetDevice(before);
  return status_of(error == cudaSuccess ? cudaSetDevice(device) : error);
}

int allocate(void** memory, std::size_t bytes) { return status_of(cudaMallocAsync(memory, bytes, nullptr)); }

void give_back(void* memory) { cudaFreeAsync(memory, nullptr); }

int wait(void* stream) { return status_of(cudaStreamSynchronize(static_cast<cudaStream_t>(stream))); }

int copy(void* to, const void* from, std::size_t bytes) {
  const cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr);
  return error == cudaSuccess ? wait(nullptr) : status_of(error);
}

int allocate_pinned(void** memory, std::size_t bytes) {
  return status_of(cudaHostAlloc(memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped));
}

void free_pinned(void* memory) { cudaFreeHost(memory); }

int copy_on(void* to, const void* from, std::size_t bytes, void* stream) {
  return status_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(stream)));
}

int query(void* stream, int* idle) {
  const cudaError_t error = cudaStreamQuery(static_cast<cudaStream_t>(stream));
  *idle = error == cudaSuccess;
  return error == cudaErrorNotReady ? 0 : status_of(error);
}

int encode_lossless(const void* values, std::size_t count, int type, int distance, double relative, int exact_bits,
                    void* frame, std::size_t capacity, TAUT_Cuda_result* result, void* stream) {
  if (exact_bits != 0 && relative > 0) return TAUT_ERR_CUDA_NEEDS_HOST;
  return TAUT_Encode_lossless_cuda(values, count, type, distance, relative, frame, capacity, result, stream);
}

// Arithmetic on values that has no kernel: the host does the work.
int reduce_values(void*, const void*, std::size_t, int, int, void*) { return TAUT_ERR_CUDA_NEEDS_HOST; }
int divide_values(void*, std::size_t, int, int, void*) { return TAUT_ERR_CUDA_NEEDS_HOST; }
int range(const void*, std::size_t, int, const double*, int, DeviceRange*, void*) { return TAUT_ERR_CUDA_NEEDS_HOST; }

}  // namespace
}  // namespace taut::api

extern "C" const taut::api::DeviceServices* TAUT_Cuda_services(void) {
  using namespace taut::api;
  static constexpr DeviceServices services{
      .version = device_services_version,
      .available = TAUT_Cuda_available,
      .why = why,
      .device_of = device_of,
      .use = use,
      .allocate = allocate,
      .free = give_back,
      .allocate_pinned = allocate_pinned,
      .free_pinned = free_pinned,
      .copy = copy,
      .copy_on = copy_on,
      .wait = wait,
      .query = query,
      .encode = TAUT_Encode_cuda,
      .decode = TAUT_Decode_cuda,
      .decode_add = TAUT_Decode_add_cuda,
      .add_frames = TAUT_Frame_add_cuda,
      .accumulate = TAUT_Frame_accumulate_cuda,
      .encode_lagged = TAUT_Encode_lagged_cuda,
      .decode_lagged = TAUT_Decode_lagged_cuda,
      .decode_add_lagged = TAUT_Decode_add_lagged_cuda,
      .encode_lossless = encode_lossless,
      .decode_lossless = TAUT_Decode_lossless_cuda,
      .decode_add_lossless = TAUT_Decode_add_lossless_cuda,
      .encode_rate = TAUT_Encode_rate_cuda,
      .decode_rate = TAUT_Decode_rate_cuda,
      .reduce_values = reduce_values,
      .divide_values = divide_values,
      .range = range};
  return &services;
}
