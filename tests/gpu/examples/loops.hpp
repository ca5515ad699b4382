// Loops of examples/wave3d as work of simulated GPUs, in the order of the default stream.
#pragma once

#include <cuda_runtime.h>

#include "gpu/kernels/on_host/outside_work.h"
#include "memory.hpp"
#include "support/gpu_driver.h"

namespace wave3d {

template <class Body>
void for_each(int rows, int cells, const Body& body) {
  const auto run = [=] {
    stand_in_open_all();  // memory of GPUs is inaccessible to the host
    for (int row = 0; row < rows; ++row)
      for (int i = 0; i < cells; ++i) body(row, i, i + 1);
    stand_in_close_all();
  };
  check(cudaOutsideWork(nullptr, [=](bool) { return taut::on_host::OutsideSteps{{run}}; }));
}

inline void finish_loops() { check(cudaDeviceSynchronize()); }

}  // namespace wave3d
