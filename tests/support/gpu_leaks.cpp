// Tests on simulated GPUs fail if memory, streams, events or graphs are left when the program ends.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>

#include "support/gpu_driver.h"

namespace taut::test {

// Number of allocations that are never freed: words that streams wait for
// (communication/gpu/stream_order.cpp), and what tests add.
#ifdef TAUT_KEPT_MEMORIES
std::atomic<unsigned long> most_kept = TAUT_KEPT_MEMORIES;
#else
std::atomic<unsigned long> most_kept = 0;
#endif

namespace {

// Frees the scratch memory of libtaut_cuda, if it was opened.
void release_scratch() {
  void* const library = dlopen("libtaut_cuda.so.0", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return;
  int (*release)() = nullptr;
  *reinterpret_cast<void**>(&release) = dlsym(library, "TAUT_Cuda_release");
  EXPECT_EQ(release(), 0);
}

class NoLeaks final : public testing::Environment {
  void TearDown() override {
    stand_in_finish();
    release_scratch();
    stand_in_finish();
    EXPECT_LE(stand_in_memories(), most_kept);
    EXPECT_LE(stand_in_objects(), stand_in_devices);  // Taut's own streams
  }
};

const auto* const environment = testing::AddGlobalTestEnvironment(new NoLeaks);

}  // namespace
}  // namespace taut::test
