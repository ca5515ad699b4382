#include "communication/transports/memory_kinds.hpp"

#include <gtest/gtest.h>

namespace taut {
namespace {

TEST(MemoryKinds, DevicesOfCuda) {
  for (const char* const kinds :
       {"cuda", "cuda:device", "mpi,system,cuda:host:device", "cuda:managed:device,mpi"})
    EXPECT_TRUE(lists_cuda_devices(kinds)) << kinds;
  for (const char* const kinds :
       {"", "mpi,system", "cuda:host", "cuda:host:managed,rocm:device", "mycuda", ","})
    EXPECT_FALSE(lists_cuda_devices(kinds)) << kinds;
}

}  // namespace
}  // namespace taut
