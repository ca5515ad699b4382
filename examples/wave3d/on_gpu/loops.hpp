// Loops over arrays in the memory of a GPU; on_host/loops.hpp describes the functions.
#pragma once

#include "memory.hpp"

namespace wave3d {

template <class Body>
__global__ void run_on_gpu(int cells, Body body) {
  const auto row = static_cast<int>(blockIdx.x);
  for (auto i = static_cast<int>(threadIdx.x); i < cells; i += static_cast<int>(blockDim.x))
    body(row, i, i + 1);
}

template <class Body>
void for_each(int rows, int cells, const Body& body) {
  constexpr unsigned threads = 128;
  if (rows == 0 || cells == 0) return;
  run_on_gpu<<<static_cast<unsigned>(rows), threads>>>(cells, body);
  check(cudaGetLastError());
}

inline void finish_loops() { check(cudaDeviceSynchronize()); }

}  // namespace wave3d
