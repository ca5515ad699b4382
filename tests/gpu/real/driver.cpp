// The functions of support/gpu_driver.h and support/gpu_faults.h on a real GPU, by CUDA's runtime. What a
// real GPU cannot do ends the program, so that no test passes by it: faults, and memory that is opened to the
// host.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

#include "gpu/real/launches.hpp"
#include "support/gpu_driver.h"
#include "support/gpu_faults.h"

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "real GPU: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(EXIT_FAILURE);
}

// Returns false if there is no memory left. Ends the program if there is no GPU.
bool allocated(cudaError_t error) {
  if (error == cudaErrorMemoryAllocation) return false;
  check(error, "no memory of a GPU");
  return true;
}

[[noreturn]] void refuse(const char* what) {
  std::fprintf(stderr, "real GPU: %s needs simulated GPUs\n", what);
  std::abort();
}

std::mutex lock;
std::set<const void*> pinned;

// A stream of each thread for copies. It waits for no other stream.
cudaStream_t stream_of_copies() {
  thread_local cudaStream_t stream = nullptr;
  if (stream == nullptr) check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  return stream;
}

}  // namespace

int stand_in_is_real(void) { return 1; }

int stand_in_device_count(void) {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  return count;
}

void* stand_in_allocate(size_t bytes, int device) {
  void* at = nullptr;
  const size_t length = bytes + (bytes == 0);
  if (device == stand_in_host) {
    if (!allocated(cudaHostAlloc(&at, length, cudaHostAllocPortable))) return nullptr;
  } else {
    int before = 0;
    check(cudaGetDevice(&before), "cudaGetDevice");
    if (device != before) check(cudaSetDevice(device), "cudaSetDevice");
    const cudaError_t error = cudaMalloc(&at, length);
    if (device != before) check(cudaSetDevice(before), "cudaSetDevice");
    if (!allocated(error)) return nullptr;
    check(cudaMemsetAsync(at, 0xA5, length, stream_of_copies()), "cudaMemsetAsync");
    check(cudaStreamSynchronize(stream_of_copies()), "cudaMemsetAsync");
  }
  const std::lock_guard guard(lock);
  if (device == stand_in_host) pinned.insert(at);
  return at;
}

void stand_in_free(void* at) {
  if (at == nullptr) return;
  bool is_pinned = false;
  {
    const std::lock_guard guard(lock);
    is_pinned = pinned.erase(at) > 0;
  }
  check(is_pinned ? cudaFreeHost(at) : cudaFree(at), "cudaFree");
}

int stand_in_device_of(const void* at) {
  cudaPointerAttributes of{};
  check(cudaPointerGetAttributes(&of, at), "cudaPointerGetAttributes");
  return of.type == cudaMemoryTypeDevice ? of.device
         : of.type == cudaMemoryTypeHost ? stand_in_host
                                         : stand_in_unknown;
}

void stand_in_note_pooled(const void*) {}
int stand_in_is_pooled(const void*) { return 0; }  // only simulated memory is watched

void stand_in_copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_of_copies()), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream_of_copies()), "cudaMemcpyAsync");
}

void stand_in_finish(void) { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

unsigned long stand_in_launches(void) { return taut::test::launches(); }
int stand_in_counts_launches(void) { return taut::test::counts_launches() ? 1 : 0; }

unsigned long stand_in_calls(void) { return 0; }  // calls are not counted

unsigned long stand_in_memories(void) { refuse("a count of allocations"); }
long stand_in_objects(void) { refuse("a count of streams"); }

void stand_in_open_all(void) { refuse("memory of a GPU that the host accesses"); }
void stand_in_close_all(void) { refuse("memory of a GPU that the host accesses"); }
void stand_in_set_seed(unsigned long long) {}  // the order of the work of streams is the GPU's
void stand_in_at_call(unsigned long n, int (*)(void*), void*) {
  if (n != 0) refuse("a call of CUDA that fails");
}
void stand_in_fault_at_kernel(unsigned long n) {
  if (n != 0) refuse("a kernel that faults");
}
unsigned long stand_in_no_memory_at(unsigned long) { refuse("an allocation that fails"); }
void stand_in_limit_bytes(size_t) { refuse("memory with a limit"); }
