// Tests calls of taut_cuda.h that are captured in graphs: a graph keeps its scratch memory, whatever other
// calls do before it is launched.
#include <cstring>
#include <list>

#include "gpu/kernels/on_host/kernels.hpp"
#include "gpu/runtime/cuda_calls.hpp"

namespace taut::test {
namespace {

int reserve(cudaStream_t stream) {
  for (const char* const coding : {static_cast<const char*>(nullptr), CudaCalls::with_lag})
    if (const int status = TAUT_Cuda_reserve(CudaCalls::n, CudaCalls::f32, coding, stream); status != 0)
      return status;
  return TAUT_Cuda_reserve(CudaCalls::n, CudaCalls::bf16, CudaCalls::exponents, stream);
}

// Prepares a stream for the capture of a call: an accumulation by the same call, all others by a reservation.
int prepare(const CudaCalls& calls, const CudaCalls::Call& call, cudaStream_t stream) {
  if (std::string_view(call.name) != "accumulate") return reserve(stream);
  const int status = call.launch(stream);
  return status == 0 && calls.right(call) ? 0 : status + 1;
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
    EXPECT_EQ(TAUT_Cuda_reserve(CudaCalls::n * 2000, CudaCalls::f32, CudaCalls::coding, stream), 0);
  });
  captured_before(calls, calls.named("decode with a lag"), [](cudaStream_t stream) {
    EXPECT_EQ(TAUT_Cuda_reserve(CudaCalls::n * 4, CudaCalls::f32, CudaCalls::with_lag, stream), 0);
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
  std::list<Stream> streams;  // all of them: a new stream with an old handle would have memory
  for (const CudaCalls::Call& call : calls.all()) {
    SCOPED_TRACE(call.name);
    const Stream& stream = streams.emplace_back();
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

// Services on values are prepared by the same reservation.
TEST(CapturedServices, OnValuesFindTheirMemoryAndKernels) {
  const gpu::DeviceServices& services = *TAUT_Cuda_services();
  std::vector<float> x(CudaCalls::n, 1);
  x[CudaCalls::n / 2] = 8;
  const OnGpu<float> values(x), operand(x), residual(std::vector<float>(x.size()));
  const OnGpu<gpu::DeviceRange> range(1);
  on_host::unload_kernels();
  const Stream stream;
  ASSERT_EQ(reserve(stream), 0);
  const Graph graph(stream, [&] {
    EXPECT_EQ(services.reduce_values(values.data(), operand.data(), x.size(), CudaCalls::f32,
                                     static_cast<int>(Reduction::sum), stream),
              0);
    EXPECT_EQ(services.sum_with_residual(values.data(), 1, values.data(), residual.data(), x.size(),
                                         CudaCalls::f32, 1, stream),
              0);
    EXPECT_EQ(
        services.subtract_from_residual(residual.data(), values.data(), x.size(), CudaCalls::f32, stream), 0);
    EXPECT_EQ(services.divide_values(values.data(), x.size(), CudaCalls::f32, 4, stream), 0);
    EXPECT_EQ(services.range(values.data(), x.size(), CudaCalls::f32, nullptr, 0, range.data(), stream), 0);
  });
  ASSERT_EQ(graph.ended(), cudaSuccess);
  ASSERT_EQ(graph.launch(stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  const gpu::DeviceRange found = range.read()[0];
  EXPECT_EQ(found.done, 1u);
  EXPECT_EQ(found.least, 0.5);
  EXPECT_EQ(found.greatest, 4.0);
  EXPECT_EQ(residual.read(), std::vector<float>(x.size()));
}

}  // namespace
}  // namespace taut::test
