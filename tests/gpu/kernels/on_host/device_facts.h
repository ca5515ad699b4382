// Properties and versions in CUDA's runtime. Memory cannot be shared with other processes.
#pragma once

#include <cstddef>

struct cudaDeviceProp {
  char name[256];
  int major, minor, multiProcessorCount, l2CacheSize, memoryPoolsSupported;
  std::size_t totalGlobalMem, sharedMemPerMultiprocessor;
};
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);

struct cudaIpcMemHandle_t {
  char reserved[64];
};
enum { cudaIpcMemLazyEnablePeerAccess = 1 };
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* at);
cudaError_t cudaIpcOpenMemHandle(void** at, cudaIpcMemHandle_t handle, unsigned flags);
cudaError_t cudaIpcCloseMemHandle(void* at);
