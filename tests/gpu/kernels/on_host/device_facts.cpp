#include "gpu/kernels/on_host/runtime.hpp"

using taut::on_host::noted;

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= stand_in_devices) return noted(cudaErrorInvalidDevice);
  *properties = {.name = "a simulated GPU",
                 .major = 9,
                 .minor = 0,
                 .multiProcessorCount = 1,
                 .l2CacheSize = 64 << 10,
                 .memoryPoolsSupported = 1,
                 .totalGlobalMem = std::size_t{1} << 30,
                 .sharedMemPerMultiprocessor = 228 << 10};
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) { return noted(cudaErrorNotSupported); }
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) {
  return noted(cudaErrorNotSupported);
}
cudaError_t cudaIpcCloseMemHandle(void*) { return noted(cudaErrorNotSupported); }
