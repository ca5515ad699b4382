// Tests calls of taut_cuda.h that are captured in graphs: a graph keeps its scratch memory, whatever other
// calls do before it is launched.
#include <cstring>

#include "gpu/kernels/on_host/kernels.hpp"
#include "gpu/runtime/cuda_calls.hpp"

namespace taut::test {
namespace {

int reserve(std::size_t count, cudaStream_t stream) {
  for (const auto of_calls : {TAUT_Cuda_reserve, TAUT_Cuda_reserve_accumulate, TAUT_Cuda_reserve_lagged})
    if (const int status = of_calls(count, CudaCalls::f32, stream); status != 0) return status;
  return 0;
}

// Prepares the capture of a call.
int prepare(const CudaCalls& calls, const CudaCalls::Call& call, cudaStream_t stream) {
  if (call.reservable) return reserve(CudaCalls::n, stream);
  const int status = call.launch(stream);
  EXPECT_TRUE(calls.right(call));
  return status;
}

// Captures a call, lets something happen, and launches the graph.
template <class Happens>
void captured_before(const CudaCalls& calls, const CudaCalls::Call& call, Happens happens) {
  SCOPED_TRACE(call.name);
  const Stream stream, other;
  ASSERT_EQ(prepare(calls, call, stream), 0);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  int status = 0;
  const Graph graph(stream, [&] { status = call.launch(stream); });
  ASSERT_EQ(status, 0);
  ASSERT_EQ(graph.ended(), cudaSuccess);
  happens(stream);
  for (int launches = 0; launches < 3; ++launches) {
    ASSERT_EQ(graph.launch(other), cudaSuccess);
    ASSERT_TRUE(calls.right(call));
  }
  ASSERT_EQ(call.launch(stream), 0);
  ASSERT_TRUE(calls.right(call));
}

TEST(CapturedCalls, KeepTheirScratchMemoryWhenLargerCallsNeedMore) {
  const CudaCalls calls;
  captured_before(calls, calls.named("encode"), [](cudaStream_t stream) {
    EXPECT_EQ(TAUT_Cuda_reserve(CudaCalls::n * 2000, CudaCalls::f32, stream), 0);
  });
  captured_before(calls, calls.named("decode with a lag"), [](cudaStream_t stream) {
    EXPECT_EQ(TAUT_Cuda_reserve_lagged(CudaCalls::n * 4, CudaCalls::f32, stream), 0);
  });
}

TEST(CapturedCalls, KeepTheirScratchMemoryWhenAllIsReleased) {
  const CudaCalls calls;
  for (const CudaCalls::Call& call : calls.all())
    captured_before(calls, call, [](cudaStream_t) {
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      EXPECT_EQ(TAUT_Cuda_release(), 0);
    });
}

// The first launch of a kernel may load it, which a capture does not permit.
TEST(CapturedCalls, FindTheirKernelsLoaded) {
  const CudaCalls calls;
  on_host::unload_kernels();
  const Stream stream;
  for (const CudaCalls::Call& call : calls.all()) {
    SCOPED_TRACE(call.name);
    ASSERT_EQ(prepare(calls, call, stream), 0);
    int status = 0;
    const Graph graph(stream, [&] { status = call.launch(stream); });
    ASSERT_EQ(status, 0);
    ASSERT_EQ(graph.ended(), cudaSuccess);
    ASSERT_EQ(graph.launch(stream), cudaSuccess);
    ASSERT_TRUE(calls.right(call));
  }
}

// A capture does not allocate, as the graph would own the memory.
TEST(CapturedCalls, NeedMemoryThatWasReservedBefore) {
  const CudaCalls calls;
  for (const CudaCalls::Call& call : calls.all()) {
    SCOPED_TRACE(call.name);
    const Stream stream;
    int status = 0;
    const Graph graph(stream, [&] { status = call.launch(stream); });
    EXPECT_EQ(status, TAUT_ERR_CUDA);
    const char* why = "";
    EXPECT_EQ(TAUT_Cuda_available(&why), 1);
    EXPECT_NE(std::strstr(why, "TAUT_Cuda_reserve"), nullptr) << why;
    EXPECT_EQ(graph.ended(), cudaSuccess);
    ASSERT_EQ(call.launch(stream), 0);
    ASSERT_TRUE(calls.right(call));
  }
}

}  // namespace
}  // namespace taut::test
