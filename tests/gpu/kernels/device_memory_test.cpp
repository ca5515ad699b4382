// Tests the device memory that calls take for themselves: how much they reserve, where it comes from, and
// what becomes of it when CUDA refuses.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "compressor/gpu/device_services.hpp"
#include "gpu/kernels/patterns.hpp"
#include "support/gpu_faults.h"
#include "support/on_gpu.hpp"

namespace taut {
namespace device_memory_test {

using test::OnGpu;

constexpr int f32 = static_cast<int>(DType::f32);

// Size of this process's address space.
std::size_t mapped_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Encodes some values on the device. Returns the status of the call, or else of its kernels.
int encode(std::size_t n = 5000) {
  const OnGpu<float> values(make<float>(Pattern::walk, n, 1));
  const OnGpu<std::byte> frame(64 + 8 * n);
  const OnGpu<TAUT_Cuda_result> result(1);
  const int status = TAUT_Encode_enqueue(values.data(), n, f32, "abs:1e-3", frame.data(), frame.size(),
                                         result.data(), nullptr);
  return status != 0 ? status : static_cast<int>(result.read()[0].status);
}

// Frees scratch memory once nothing is in flight.
int release() {
  stand_in_finish();
  return TAUT_Cuda_release();
}

// Memory for TAUT_Frame_accumulate_enqueue takes as much as the values, and few programs make that call.
TEST(CudaReserve, TakesASmallPartOfTheValues) {
  constexpr std::size_t n = std::size_t{1} << 26, values = n * sizeof(float);
  const std::size_t before = mapped_bytes();
  ASSERT_EQ(TAUT_Cuda_reserve(n, f32, nullptr, nullptr), 0);
  EXPECT_LT(mapped_bytes() - before, values / 4);
  EXPECT_EQ(release(), 0);
  EXPECT_EQ(TAUT_Cuda_reserve(5000, f32, "abs:1e-3", nullptr), 0);
  EXPECT_EQ(TAUT_Cuda_reserve(5000, TAUT_ERR_CUDA, "abs:1e-3", nullptr),
            static_cast<int>(Status::invalid_type));
}

// Whichever call of the runtime fails.
TEST(CudaMemory, IsNotLostWhenACallFails) {
  const gpu::DeviceServices& services = *TAUT_Cuda_services();
  const unsigned long before = stand_in_memories();
  int status = 1;
  for (unsigned long n = 1; status != 0; ++n) {
    void* memory = nullptr;
    stand_in_at_call(n, nullptr, nullptr);
    status = services.allocate(&memory, 1000, gpu::MemoryKind::pooled);
    stand_in_at_call(0, nullptr, nullptr);
    if (status == 0) services.free(memory, gpu::MemoryKind::pooled);
    stand_in_finish();
    EXPECT_EQ(stand_in_memories(), before) << "call " << n;
  }
  EXPECT_GT(shim::pool_counts().kept_bytes, 1u << 20) << "of the pool, whose creation failed once";
}

// The caller frees the memory of the work next, whatever the status.
TEST(CudaMemory, IsUsedByNoWorkAfterAWaitThatFails) {
  const gpu::DeviceServices& services = *TAUT_Cuda_services();
  const OnGpu<float> values(make<float>(Pattern::walk, 5000, 1));
  const OnGpu<std::byte> frame(64 + 8 * 5000);
  const OnGpu<TAUT_Cuda_result> result(1);
  for (unsigned seed = 1; seed <= 8; ++seed) {  // which work runs by itself is drawn
    stand_in_set_seed(seed);
    ASSERT_EQ(services.copy_on(result.data(), frame.data(), sizeof(TAUT_Cuda_result), nullptr), 0);
    ASSERT_EQ(TAUT_Encode_enqueue(values.data(), 5000, f32, "abs:1e-3", frame.data(), frame.size(),
                                  result.data(), nullptr),
              0);
    stand_in_at_call(1, nullptr, nullptr);
    EXPECT_EQ(services.wait(nullptr), TAUT_ERR_CUDA);
    stand_in_at_call(0, nullptr, nullptr);
    EXPECT_EQ(result.peek(1)[0].done, 1u) << seed;
  }
}

TEST(CudaMemory, IsOnTheDeviceThoughOneChangeToItFails) {
  if (stand_in_device_count() < 2) GTEST_SKIP() << "there is one GPU";
  const gpu::DeviceServices& services = *TAUT_Cuda_services();
  int before = -1, here = -1;
  stand_in_at_call(1, nullptr, nullptr);
  EXPECT_EQ(services.set_device(1, &before), 0);
  stand_in_at_call(0, nullptr, nullptr);
  EXPECT_EQ(before, 0);
  EXPECT_EQ(services.set_device(0, &here), 0);
  EXPECT_EQ(here, 1);
}

// A program finds no error of an allocation that succeeds at last, nor of a free, in cudaGetLastError.
TEST(CudaMemory, ThatIsKeptMakesRoomForOthers) {
  const gpu::DeviceServices& services = *TAUT_Cuda_services();
  for (const gpu::MemoryKind kind :
       {gpu::MemoryKind::plain, gpu::MemoryKind::pinned, gpu::MemoryKind::pooled}) {
    void *kept = nullptr, *other = nullptr;
    ASSERT_EQ(services.allocate(&kept, 1000, gpu::MemoryKind::plain), 0);
    services.free(kept, gpu::MemoryKind::plain);
    std::vector<void*> all;
    while (void* const memory = stand_in_allocate(16, 0)) all.push_back(memory);
    shim::fail_next_free();
    EXPECT_EQ(services.allocate(&other, 1 << 20, kind), 0);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_EQ(stand_in_device_of(kept), stand_in_unknown);
    for (void* const memory : all) stand_in_free(memory);
    services.free(other, kind);
  }
}

// Scratch memory of another stream than the captured one.
TEST(CudaMemory, MakesRoomBesideACapture) {
  const gpu::DeviceServices& services = *TAUT_Cuda_services();
  ASSERT_EQ(encode(), 0) << "loads the kernels";
  const OnGpu<float> values(make<float>(Pattern::walk, 5000, 1));
  const OnGpu<std::byte> frame(64 + 8 * 5000);
  const OnGpu<TAUT_Cuda_result> result(1);
  cudaStream_t captured = nullptr, other = nullptr;
  for (cudaStream_t* const stream : {&captured, &other})
    ASSERT_EQ(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), cudaSuccess);
  void* kept[4] = {};
  for (void*& memory : kept) ASSERT_EQ(services.allocate(&memory, 1000, gpu::MemoryKind::plain), 0);
  for (void* const memory : kept) services.free(memory, gpu::MemoryKind::plain);
  std::vector<void*> all;
  while (void* const memory = stand_in_allocate(16, 0)) all.push_back(memory);
  ASSERT_EQ(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(TAUT_Encode_enqueue(values.data(), 5000, f32, "abs:1e-3", frame.data(), frame.size(),
                                result.data(), other),
            0);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(captured, &graph), cudaSuccess);
  EXPECT_EQ(stand_in_device_of(kept[0]), stand_in_unknown);
  for (void* const memory : all) stand_in_free(memory);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(release(), 0);
  for (const cudaStream_t stream : {captured, other}) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST(CudaMemory, KeepsSomeBetweenCallsInAPoolOfItsOwn) {
  const gpu::DeviceServices& services = *TAUT_Cuda_services();
  const shim::PoolCounts before = shim::pool_counts();
  void* memory = nullptr;
  ASSERT_EQ(services.allocate(&memory, 1000, gpu::MemoryKind::pooled), 0);
  services.free(memory, gpu::MemoryKind::pooled);
  EXPECT_EQ(shim::pool_counts().allocations, before.allocations + 1);
  EXPECT_GT(shim::pool_counts().kept_bytes, 1u << 20);
  EXPECT_LT(shim::pool_counts().kept_bytes, 1u << 30) << "a program needs the memory of its card itself";
  EXPECT_EQ(shim::pool_counts().trims, before.trims);
  EXPECT_EQ(release(), 0);
  EXPECT_GT(shim::pool_counts().trims, before.trims);
}

TEST(CudaMemory, NeedsNoPools) {
  shim::support_pools(false);
  EXPECT_EQ(encode(), 0);
  EXPECT_EQ(encode(1000000), 0) << "scratch memory that grows";
  void* memory = nullptr;
  const gpu::DeviceServices& services = *TAUT_Cuda_services();
  ASSERT_EQ(services.allocate(&memory, 1000, gpu::MemoryKind::pooled), 0);
  shim::fail_next_free();
  services.free(memory, gpu::MemoryKind::pooled);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_EQ(release(), 0);
  shim::support_pools(true);
  EXPECT_EQ(encode(), 0);
}

TEST(CudaMemory, ThatRunsOutIsToldAsSuch) {
  std::vector<void*> all;
  while (void* const memory = stand_in_allocate(16, 0)) all.push_back(memory);
  EXPECT_EQ(TAUT_Cuda_reserve(5000, f32, nullptr, nullptr), static_cast<int>(Status::out_of_memory));
  for (void* const memory : all) stand_in_free(memory);
  EXPECT_EQ(encode(), 0);
}

TEST(CudaMemory, IsFreedOnceThoughCudaReportsAnError) {
  ASSERT_EQ(encode(), 0);
  shim::fail_next_free();
  EXPECT_EQ(release(), TAUT_ERR_CUDA);
  const OnGpu<std::byte> others(1 << 16);  // may take the place of the scratch memory
  EXPECT_EQ(release(), 0);
  EXPECT_EQ(others.read().size(), others.size());
  EXPECT_EQ(encode(), 0);
}

}  // namespace device_memory_test
}  // namespace taut
