// Tests the simulated runtime's memory in the order of streams, and graphs.
#include "gpu/runtime/gpu.hpp"

namespace taut::test {
namespace memory_test {

constexpr std::size_t bytes = 5000;

cudaError_t set(void* at, int value, cudaStream_t stream) {
  return cudaMemsetAsync(at, value, bytes, stream);
}

int first_byte(const void* at) {
  unsigned char byte = 0;
  stand_in_copy(&byte, at, 1);
  return byte;
}

TEST(SimulatedMemory, ExistsFromItsAllocationInTheStreamToItsEnd) {
  with_seeds(20, [] {
    const Stream stream;
    void* at = nullptr;
    ASSERT_EQ(cudaMallocAsync(&at, bytes, stream), cudaSuccess);
    EXPECT_EQ(stand_in_is_mapped(at), 0);
    ASSERT_EQ(set(at, 1, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(first_byte(at), 1);
    ASSERT_EQ(set(at, 2, stream), cudaSuccess);
    ASSERT_EQ(cudaFreeAsync(at, stream), cudaSuccess);
    EXPECT_EQ(stand_in_is_mapped(at), 1);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(stand_in_is_mapped(at), 0);
  });
}

TEST(SimulatedMemoryDeathTest, EndsTheProgramAfterItsEnd) {
  void* at = nullptr;
  ASSERT_EQ(cudaMalloc(&at, bytes), cudaSuccess);
  ASSERT_EQ(cudaFree(at), cudaSuccess);
  const auto use = [&] {
    cudaMemsetAsync(at, 0, bytes, nullptr);
    cudaStreamSynchronize(nullptr);
  };
  EXPECT_DEATH(use(), "TEST_SEED=");
}

TEST(SimulatedMemory, ThatIsPinnedIsTheHostsToo) {
  void* at = nullptr;
  ASSERT_EQ(cudaHostAlloc(&at, bytes, cudaHostAllocMapped), cudaSuccess);
  auto* const byte = static_cast<unsigned char*>(at);
  *byte = 1;
  const Stream stream;
  ASSERT_EQ(set(at, 2, stream), cudaSuccess);
  EXPECT_EQ(*byte, 1);
  while (*byte == 1) cudaStreamQuery(stream);
  EXPECT_EQ(*byte, 2);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, at), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(cudaFreeHost(at), cudaSuccess);
}

TEST(SimulatedMemory, OfAnImpossibleSizeIsRefused) {
  void* at = nullptr;
  EXPECT_EQ(cudaMalloc(&at, std::size_t{1} << 60), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
}

TEST(SimulatedGraphs, RunWhenTheyAreLaunched) {
  void* at = nullptr;
  ASSERT_EQ(cudaMalloc(&at, bytes), cudaSuccess);
  const Stream stream, other;
  ASSERT_EQ(set(at, 1, stream), cudaSuccess);
  const Graph graph(stream, [&] { EXPECT_EQ(set(at, 2, stream), cudaSuccess); });
  ASSERT_EQ(graph.ended(), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(first_byte(at), 1);
  ASSERT_EQ(graph.launch(other), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(first_byte(at), 2);
  EXPECT_EQ(cudaFree(at), cudaSuccess);
}

TEST(SimulatedGraphs, OwnTheMemoryThatACaptureAllocates) {
  const Stream stream;
  void* at = nullptr;
  const Graph graph(stream, [&] {
    EXPECT_EQ(cudaMallocAsync(&at, bytes, stream), cudaSuccess);
    EXPECT_EQ(set(at, 1, stream), cudaSuccess);
    EXPECT_EQ(cudaFreeAsync(at, stream), cudaSuccess);
  });
  ASSERT_EQ(graph.ended(), cudaSuccess);
  for (int launches = 0; launches < 3; ++launches) {
    EXPECT_EQ(stand_in_is_mapped(at), 0);
    ASSERT_EQ(graph.launch(stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  }
}

TEST(SimulatedGraphs, FollowForksThatJoin) {
  void* at = nullptr;
  ASSERT_EQ(cudaMalloc(&at, bytes), cudaSuccess);
  const Stream stream, fork;
  cudaEvent_t begin, end;
  ASSERT_EQ(cudaEventCreate(&begin), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  const auto forked = [&](bool join) {
    EXPECT_EQ(set(at, 1, stream), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(begin, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(fork, begin), cudaSuccess);
    EXPECT_EQ(set(at, 2, fork), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(end, fork), cudaSuccess);
    if (!join) return;
    EXPECT_EQ(cudaStreamWaitEvent(stream, end), cudaSuccess);
    EXPECT_EQ(set(at, 3, stream), cudaSuccess);
  };
  EXPECT_EQ(Graph(stream, [&] { forked(false); }).ended(), cudaErrorStreamCaptureUnjoined);
  const Graph graph(stream, [&] { forked(true); });
  ASSERT_EQ(graph.ended(), cudaSuccess);
  with_seeds(20, [&] {
    ASSERT_EQ(graph.launch(stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(first_byte(at), 3);
  });
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  EXPECT_EQ(cudaFree(at), cudaSuccess);
}

// A capture ends with an error after a call that it forbids.
TEST(SimulatedGraphs, AreNotCapturedWithCallsThatWait) {
  const Stream stream, blocking(cudaStreamDefault);
  EXPECT_EQ(Graph(stream, [&] { cudaStreamSynchronize(stream); }).ended(), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(Graph(blocking, [&] { cudaMemset(nullptr, 0, 1); }).ended(), cudaErrorStreamCaptureInvalidated);
  void* at = nullptr;
  EXPECT_EQ(Graph(stream, [&] { cudaMalloc(&at, bytes); }).ended(), cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
}

}  // namespace memory_test
}  // namespace taut::test
