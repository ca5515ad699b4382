// Implements the services that libtaut uses: device memory, and waiting for a stream.
#include "gpu/cuda_call.hpp"
#include "gpu/device_services.hpp"

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

int use(int device, int* before) {
  const cudaError_t error = cudaGetDevice(before);
  return status_of(error == cudaSuccess ? cudaSetDevice(device) : error);
}

int allocate(void** memory, std::size_t bytes) { return status_of(device_memory().allocate(memory, bytes, nullptr)); }

void give_back(void* memory) { device_memory().free(memory, nullptr); }

int wait(void* stream) { return status_of(cudaStreamSynchronize(static_cast<cudaStream_t>(stream))); }

int copy(void* to, const void* from, std::size_t bytes) {
  const cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr);
  return error == cudaSuccess ? wait(nullptr) : status_of(error);
}

}  // namespace
}  // namespace taut::api

extern "C" const taut::api::DeviceServices* TAUT_Cuda_services(void) {
  using namespace taut::api;
  static constexpr DeviceServices services{
      device_services_version, TAUT_Cuda_available, why, device_of, use, allocate, give_back, copy, wait,
      TAUT_Encode_cuda,          TAUT_Decode_cuda,         TAUT_Frame_add_cuda,
      TAUT_Encode_lagged_cuda,   TAUT_Decode_lagged_cuda,
      TAUT_Encode_lossless_cuda, TAUT_Decode_lossless_cuda};
  return &services;
}
