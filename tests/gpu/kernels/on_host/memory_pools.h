// Memory pools of CUDA's runtime, on the stand-in for the driver. A pool only counts what is asked of it.
#pragma once

#include <cstddef>

enum cudaDeviceAttr { cudaDevAttrMemoryPoolsSupported = 115 };
enum cudaMemAllocationType { cudaMemAllocationTypePinned = 1 };
enum cudaMemLocationType { cudaMemLocationTypeDevice = 1 };
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold = 4 };
using cudaMemPool_t = struct StandInPool*;

struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  struct {
    cudaMemLocationType type;
    int id;
  } location;
};

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes);
cudaError_t cudaMallocFromPoolAsync(void** at, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream);

namespace taut::shim {

// Counts of the requests to all pools together.
struct PoolCounts {
  unsigned long allocations, trims;
  unsigned long long kept_bytes;  // greatest release threshold
};
PoolCounts pool_counts();

// Lets devices have memory pools, or not: then every call that needs them reports cudaErrorNotSupported.
void support_pools(bool supported);
bool supports_pools();

// Makes the next cudaFree report an error, after it has freed the memory.
void fail_next_free();
bool free_fails();

}  // namespace taut::shim
