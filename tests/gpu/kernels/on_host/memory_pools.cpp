#include <algorithm>
#include <atomic>
#include <cstdint>

#include "gpu/kernels/on_host/runtime.hpp"

using taut::on_host::call;
using taut::on_host::noted;

struct StandInPool {
  int device;
};

namespace {

std::atomic<bool> supported{true}, next_free_fails{false};
std::atomic<unsigned long> allocations{0}, trims{0};
std::atomic<unsigned long long> kept_bytes{0};

}  // namespace

namespace taut::shim {

PoolCounts pool_counts() { return {allocations, trims, kept_bytes}; }
void support_pools(bool are) { supported = are; }
bool supports_pools() { return supported; }
void fail_next_free() { next_free_fails = true; }
bool free_fails() { return next_free_fails.exchange(false); }

}  // namespace taut::shim

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  if (attribute != cudaDevAttrMemoryPoolsSupported) return noted(cudaErrorInvalidValue);
  *value = supported ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  static StandInPool pools[] = {{0}, {1}};
  const int device = properties->location.id;
  if (!supported) return noted(cudaErrorNotSupported);
  if (properties->location.type != cudaMemLocationTypeDevice || device < 0 || device > 1)
    return noted(cudaErrorInvalidValue);
  *pool = &pools[device];
  return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { return cudaSuccess; }

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr attribute, void* value) {
  return call(cudaErrorUnknown, [&] {
    if (attribute != cudaMemPoolAttrReleaseThreshold) return cudaErrorInvalidValue;
    kept_bytes = std::max<unsigned long long>(kept_bytes, *static_cast<std::uint64_t*>(value));
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) {
  ++trims;
  return cudaSuccess;
}

// The stream must belong to the pool's device.
cudaError_t cudaMallocFromPoolAsync(void** at, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  int current = 0;
  cudaGetDevice(&current);
  if (current != pool->device) return noted(cudaErrorInvalidValue);
  ++allocations;
  const cudaError_t error = cudaMallocAsync(at, bytes, stream);
  if (error == cudaSuccess) stand_in_note_pooled(*at);
  return error;
}
