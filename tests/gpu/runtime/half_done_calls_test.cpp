// Tests that a call that stops halfway, an earlier error, or another thread on the stream harms no call of
// taut_cuda.h after it.
#include <atomic>
#include <thread>

#include "compressor/base/status.hpp"
#include "gpu/runtime/cuda_calls.hpp"

namespace taut::test {
namespace {

// Lets the k-th call of the runtime in a call fail. Returns true if there was one.
bool stopped_at(unsigned long k, const CudaCalls::Call& call, cudaStream_t stream) {
  const unsigned long before = stand_in_calls();
  stand_in_at_call(k, nullptr, nullptr);
  const int status = call.launch(stream);
  stand_in_at_call(0, nullptr, nullptr);
  if (stand_in_calls() < before + k) return false;
  EXPECT_TRUE(status == TAUT_ERR_CUDA || status == static_cast<int>(Status::out_of_memory)) << status;
  return true;
}

TEST(CallsThatStopHalfway, LeaveTheNextOneRight) {
  const CudaCalls calls;
  for (const CudaCalls::Call& call : calls.all()) {
    for (unsigned long k = 1;; ++k) {
      SCOPED_TRACE(testing::Message() << call.name << ", stopped at " << k);
      stand_in_set_seed(k);
      const Stream fresh;
      const bool stopped = stopped_at(k, call, fresh);
      for (int again = 0; again < 2; ++again) {
        ASSERT_EQ(call.launch(fresh), 0);
        ASSERT_TRUE(calls.right(call));
      }
      if (!stopped) break;
    }
  }
}

// The scratch memory exists already.
TEST(CallsThatStopHalfway, LeaveTheNextOneRightInScratchMemoryOfOthers) {
  const CudaCalls calls;
  const Stream stream;
  for (const CudaCalls::Call& call : calls.all()) {
    for (unsigned long k = 1; stopped_at(k, call, stream); ++k) {
      SCOPED_TRACE(testing::Message() << call.name << ", stopped at " << k);
      ASSERT_EQ(call.launch(stream), 0);
      ASSERT_TRUE(calls.right(call));
    }
    ASSERT_TRUE(calls.right(call)) << call.name;
  }
}

TEST(ErrorsOfTheProgram, StopNoCall) {
  const CudaCalls calls;
  const Stream stream, other;
  for (const CudaCalls::Call& call : calls.all()) {
    SCOPED_TRACE(call.name);
    void* at = nullptr;
    ASSERT_EQ(cudaMalloc(&at, std::size_t{1} << 60), cudaErrorMemoryAllocation);
    ASSERT_EQ(call.launch(stream), 0);
    ASSERT_EQ(call.launch(stream), 0);
    EXPECT_TRUE(calls.right(call));
  }
}

// A thread that begins a call at the k-th call of the runtime in a call of this thread.
struct OtherThread {
  std::function<int()> launch;
  std::atomic<bool> done{false};
  std::thread thread = {};

  void begin() {
    thread = std::thread([this] {
      EXPECT_EQ(launch(), 0);
      done = true;
    });
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    while (!done && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  }

  // Makes this thread's call. Returns false if it calls the runtime less than k times; both calls have ended.
  bool begins_in(unsigned long k, const std::function<int()>& call) {
    const auto begin_of = [](void* other) {
      static_cast<OtherThread*>(other)->begin();
      return 0;
    };
    stand_in_at_call(k, begin_of, this);
    EXPECT_EQ(call(), 0);
    stand_in_at_call(0, nullptr, nullptr);
    if (!thread.joinable()) return false;
    thread.join();
    return true;
  }
};

// Calls of other threads wait until a call has launched all its kernels.
TEST(CallsOfTwoThreads, DoNotMixTheirKernelsOnAStream) {
  const CudaCalls ours, others;
  for (const std::size_t kind : {0, 2, 7, 11}) {
    bool began = true;
    for (unsigned long k = 1; began; ++k) {
      SCOPED_TRACE(testing::Message() << ours.all()[kind].name << ", other thread at " << k);
      const Stream stream;
      ASSERT_EQ(ours.all()[kind].launch(stream), 0);
      OtherThread other{[&] { return others.all()[kind].launch(stream); }};
      began = other.begins_in(k, [&] { return ours.all()[kind].launch(stream); });
      ASSERT_TRUE(ours.right(ours.all()[kind]));
      ASSERT_TRUE(!began || others.right(others.all()[kind]));
    }
  }
}

// The service that takes two kernels keeps the stream's turn, too; the other services on values take one.
TEST(CallsOfTwoThreads, DoNotMixTheKernelsOfARange) {
  const gpu::DeviceServices& services = *TAUT_Cuda_services();
  constexpr std::size_t n = 9000;
  const OnGpu<float> ones(std::vector<float>(n, 1)), twos(std::vector<float>(n, 2));
  const OnGpu<gpu::DeviceRange> of_ones(1), of_twos(1);
  bool began = true;
  for (unsigned long k = 1; began; ++k) {
    SCOPED_TRACE(testing::Message() << "other thread at " << k);
    const Stream stream;
    const auto range = [&](const OnGpu<float>& values, const OnGpu<gpu::DeviceRange>& found) {
      return services.range(values.data(), n, CudaCalls::f32, nullptr, 0, found.data(), stream);
    };
    ASSERT_EQ(range(ones, of_ones), 0);
    OtherThread other{[&] { return range(twos, of_twos); }};
    began = other.begins_in(k, [&] { return range(ones, of_ones); });
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(of_ones.read()[0].greatest, 1.0);
    EXPECT_TRUE(!began || of_twos.read()[0].greatest == 2.0);
  }
}

}  // namespace
}  // namespace taut::test
