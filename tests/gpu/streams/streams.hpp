// Common parts of the tests of calls in the order of streams, on simulated GPUs.
#pragma once

#include <cuda_runtime.h>
#include <taut/taut.h>

#include <string>
#include <vector>

#include "support/gpu_faults.h"
#include "support/on_gpu.hpp"

namespace taut::test {

inline constexpr int count = 6000;
inline constexpr std::size_t bytes = count * sizeof(float);

extern int rank, ranks;

// Reports on stderr, and in the exit code of the program, what does not hold.
void expect(bool holds, const std::string& what);

// Returns values of this rank, different for each `number`.
std::vector<float> values_of(int number);

// A duplicate of MPI_COMM_WORLD with a policy.
class PolicyComm {
 public:
  explicit PolicyComm(const char* policy);
  PolicyComm(const PolicyComm&) = delete;
  ~PolicyComm();
  operator MPI_Comm() const { return comm_; }

  // Returns the result of the blocking call on host memory.
  std::vector<float> sum_of(std::vector<float> values, MPI_Op op = MPI_SUM) const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};
inline constexpr const char* lossy = "abs:1e-3,codec=planes,when=always,min_bytes=1";

class Stream {
 public:
  explicit Stream(unsigned flags = cudaStreamNonBlocking) { cudaStreamCreateWithFlags(&stream_, flags); }
  Stream(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// Memory of the host that streams can write.
class Pinned {
 public:
  explicit Pinned(std::size_t size = bytes) { cudaHostAlloc(&memory_, size, cudaHostAllocPortable); }
  Pinned(const Pinned&) = delete;
  ~Pinned() { cudaFreeHost(memory_); }
  float* data() const { return static_cast<float*>(memory_); }
  std::vector<float> read() const { return {data(), data() + count}; }

 private:
  void* memory_ = nullptr;
};

// A persistent sum of `count` values.
class Sum {
 public:
  Sum(const float* in, float* out, MPI_Comm comm, MPI_Op op = MPI_SUM) {
    const int code = TAUT_Allreduce_init(in, out, count, MPI_FLOAT, op, comm, MPI_INFO_NULL, &request);
    expect(code == MPI_SUCCESS, "Allreduce_init");
  }
  Sum(const Sum&) = delete;
  ~Sum() { TAUT_Request_free(&request); }

  void start_on(cudaStream_t stream) { succeed(TAUT_Cuda_start_enqueue(&request, stream), "start"); }
  void hold(cudaStream_t stream) { succeed(TAUT_Cuda_wait_enqueue(&request, stream), "wait"); }
  void wait() { succeed(TAUT_Wait(&request, MPI_STATUS_IGNORE), "TAUT_Wait"); }
  void run_on(cudaStream_t stream) {
    start_on(stream);
    hold(stream);
  }

  TAUT_Request request = TAUT_REQUEST_NULL;

 private:
  static void succeed(int code, const char* what);
};

// Enqueues a copy, as the kernel would that makes or takes values.
inline void copy(float* to, const float* from, cudaStream_t stream) {
  expect(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream) == cudaSuccess, "cudaMemcpyAsync");
}

void order();   // order.cpp
void misuse();  // errors.cpp
void faults();

}  // namespace taut::test
