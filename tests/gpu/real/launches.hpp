// Counts the kernels that this process has launched on a real GPU, by CUPTI.
#pragma once

namespace taut::test {

// Returns false if CUPTI (libcupti.so.13 or .12) cannot be used, so that launches() would stay 0.
bool counts_launches();

unsigned long launches();

}  // namespace taut::test
