// Tests the order of work on the simulated runtime: all that CUDA permits happens, and nothing else.
#include <set>
#include <thread>

#include "gpu/runtime/gpu.hpp"

namespace taut::test {
namespace streams_test {

constexpr std::size_t bytes = 100;

// A byte array of a device. peek() returns the first byte as it is now, without waiting.
struct Bytes {
  void* at = nullptr;

  Bytes() { EXPECT_EQ(cudaMalloc(&at, bytes), cudaSuccess); }
  Bytes(const Bytes&) = delete;
  ~Bytes() { cudaFree(at); }
  int peek() const {
    unsigned char byte = 0;
    stand_in_copy(&byte, at, 1);
    return byte;
  }
};

// Returns the values that outcome() has with different seeds.
template <class Outcome>
std::set<int> outcomes(Outcome outcome) {
  std::set<int> all;
  for (unsigned long long seed = 1; seed <= 40; ++seed) {
    stand_in_set_seed(seed);
    all.insert(outcome());
  }
  return all;
}

TEST(SimulatedStreams, RunOnlyWhenSomebodyWaits) {
  const Bytes memory;
  const Stream stream;
  const int before = memory.peek();
  ASSERT_EQ(cudaMemsetAsync(memory.at, 7, bytes, stream), cudaSuccess);
  EXPECT_EQ(memory.peek(), before);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(memory.peek(), 7);
}

TEST(SimulatedStreams, RunWhileSomebodyAsks) {
  with_seeds(20, [] {
    const Bytes memory;
    const Stream stream;
    ASSERT_EQ(cudaMemsetAsync(memory.at, 7, bytes, stream), cudaSuccess);
    while (cudaStreamQuery(stream) == cudaErrorNotReady) continue;
    EXPECT_EQ(memory.peek(), 7);
  });
}

TEST(SimulatedStreams, KeepTheirOwnOrderOnly) {
  const auto last_of = [](unsigned flags, bool wait) {
    return outcomes([=] {
      const Bytes memory;
      const Stream one(flags), other(flags);
      cudaEvent_t event;
      EXPECT_EQ(cudaEventCreate(&event), cudaSuccess);
      EXPECT_EQ(cudaMemsetAsync(memory.at, 1, bytes, one), cudaSuccess);
      EXPECT_EQ(cudaMemsetAsync(memory.at, 2, bytes, one), cudaSuccess);
      EXPECT_EQ(cudaEventRecord(event, one), cudaSuccess);
      EXPECT_EQ(wait ? cudaStreamWaitEvent(other, event) : cudaSuccess, cudaSuccess);
      EXPECT_EQ(cudaMemsetAsync(memory.at, 3, bytes, other), cudaSuccess);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
      EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
      return memory.peek();
    });
  };
  EXPECT_EQ(last_of(cudaStreamDefault, false), (std::set{2, 3}));
  EXPECT_EQ(last_of(cudaStreamNonBlocking, true), (std::set{3}));
}

TEST(SimulatedStreams, OfTheBlockingKindAreInOrderWithTheLegacyStream) {
  const auto last_of = [](unsigned flags, bool legacy_first) {
    return outcomes([=] {
      const Bytes memory;
      const Stream stream(flags);
      for (const bool legacy : {legacy_first, !legacy_first})
        EXPECT_EQ(cudaMemsetAsync(memory.at, legacy ? 1 : 2, bytes,
                                  legacy ? cudaStreamLegacy : cudaStream_t{stream}),
                  cudaSuccess);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      return memory.peek();
    });
  };
  EXPECT_EQ(last_of(cudaStreamDefault, true), (std::set{2}));
  EXPECT_EQ(last_of(cudaStreamDefault, false), (std::set{1}));
  EXPECT_EQ(last_of(cudaStreamNonBlocking, true), (std::set{1, 2}));
}

TEST(SimulatedStreams, OfThreadsDiffer) {
  const auto id_here = [] {
    unsigned long long id = 0;
    EXPECT_EQ(cudaStreamGetId(cudaStreamPerThread, &id), cudaSuccess);
    return id;
  };
  unsigned long long there = 0;
  std::thread([&] { there = id_here(); }).join();
  EXPECT_NE(id_here(), there);
}

// The memory is in place when a copy of the host's has returned, but its bytes may still be on their way.
TEST(SimulatedCopies, OfPageableMemoryAreStaged) {
  const auto seen = outcomes([] {
    const Bytes memory;
    const Stream stream;
    std::vector<unsigned char> here(bytes, 1);
    EXPECT_EQ(cudaMemset(memory.at, 0, bytes), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(memory.at, here.data(), bytes, cudaMemcpyDefault), cudaSuccess);
    here.assign(bytes, 2);
    void* to = nullptr;
    EXPECT_EQ(cudaHostAlloc(&to, bytes, cudaHostAllocMapped), cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(to, memory.at, bytes, cudaMemcpyDefault, stream), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const int byte = *static_cast<unsigned char*>(to);
    EXPECT_EQ(cudaFreeHost(to), cudaSuccess);
    return byte;
  });
  EXPECT_EQ(seen, (std::set{0, 1}));
}

TEST(SimulatedCopies, ToPageableMemoryWait) {
  with_seeds(10, [] {
    const Bytes memory;
    const Stream stream;
    std::vector<unsigned char> here(bytes);
    ASSERT_EQ(cudaMemsetAsync(memory.at, 5, bytes, stream), cudaSuccess);
    ASSERT_EQ(cudaMemcpyAsync(here.data(), memory.at, bytes, cudaMemcpyDefault, stream), cudaSuccess);
    EXPECT_EQ(here, std::vector<unsigned char>(bytes, 5));
  });
}

TEST(SimulatedHostFunctions, RunInOrderAndMayNotCallTheRuntime) {
  const Stream stream;
  cudaError_t seen = cudaSuccess;
  const auto ask = [](void* to) { *static_cast<cudaError_t*>(to) = cudaStreamSynchronize(nullptr); };
  ASSERT_EQ(cudaLaunchHostFunc(stream, ask, &seen), cudaSuccess);
  EXPECT_EQ(seen, cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(seen, cudaErrorNotPermitted);
}

TEST(SimulatedFaults, FailTheCallThatIsNamed) {
  cudaGetLastError();
  void* at = nullptr;
  stand_in_at_call(2, nullptr, nullptr);
  ASSERT_EQ(cudaMalloc(&at, bytes), cudaSuccess);
  EXPECT_EQ(cudaMemset(at, 0, bytes), cudaErrorUnknown);
  EXPECT_EQ(cudaMemset(at, 0, bytes), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorUnknown) << "the error stays until it is asked for";
  EXPECT_EQ(cudaGetLastError(), cudaErrorUnknown);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaFree(at), cudaSuccess);
}

}  // namespace streams_test
}  // namespace taut::test
