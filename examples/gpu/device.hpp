// Memory and errors of a GPU, for the examples of this folder.
#pragma once

#include <cuda_runtime.h>
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <vector>

// Ends the program if a call of CUDA has failed.
inline void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Assigns the GPUs of a node to its ranks in round-robin order.
inline void choose_device() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank = 0, devices = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_free(&node);
  check(cudaGetDeviceCount(&devices));
  check(cudaSetDevice(rank % devices));
}

// Array of floats in GPU memory, freed by the destructor.
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    check(cudaMalloc(&memory_, count * sizeof(float)));
  }
  explicit DeviceArray(const std::vector<float>& values) : DeviceArray(values.size()) {
    check(cudaMemcpy(memory_, values.data(), count_ * sizeof(float), cudaMemcpyHostToDevice));
  }
  DeviceArray(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(memory_); }

  float* data() { return static_cast<float*>(memory_); }

  std::vector<float> read() const {
    std::vector<float> values(count_);
    check(cudaMemcpy(values.data(), memory_, count_ * sizeof(float), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::size_t count_;
  void* memory_ = nullptr;
};
