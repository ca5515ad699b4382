// Tests what libtaut_cuda does while a stream waits for the host, and while a stream is captured.
#include "compressor/gpu/device_services.hpp"
#include "gpu/runtime/gpu.hpp"

namespace taut::test {
namespace blocked_streams_test {

const gpu::DeviceServices& services() { return *TAUT_Cuda_services(); }

void* allocated(std::size_t bytes, gpu::MemoryKind kind) {
  void* memory = nullptr;
  EXPECT_EQ(services().allocate(&memory, bytes, kind), 0);
  return memory;
}

void* pinned(std::size_t bytes) { return allocated(bytes, gpu::MemoryKind::pinned); }

bool exists(const void* memory) { return stand_in_device_of(memory) != stand_in_unknown; }

// A stream that waits until go_on() is called.
class Held {
 public:
  Held() { EXPECT_EQ(services().wait_for_word(word_, 1, stream_), 0); }
  Held(const Held&) = delete;
  ~Held() { go_on(); }
  void go_on() {
    __atomic_store_n(word_, 1, __ATOMIC_RELEASE);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  }
  operator cudaStream_t() const { return stream_; }

 private:
  const Stream stream_;
  std::uint32_t* word_ = new (pinned(64)) std::uint32_t(0);  // never freed
};

TEST(BlockedStreams, LetNoPlainAndPinnedMemoryBeFreed) {
  for (const gpu::MemoryKind kind : {gpu::MemoryKind::pinned, gpu::MemoryKind::plain}) {
    const auto other = kind == gpu::MemoryKind::pinned ? gpu::MemoryKind::plain : gpu::MemoryKind::pinned;
    void* const first = allocated(1000, kind);
    void* const second = allocated(100'000, kind);
    Held held;
    services().free(first, kind);
    services().free(second, kind);
    EXPECT_TRUE(exists(first));
    EXPECT_TRUE(exists(second));
    void* const elsewhere = allocated(60'000, other);
    EXPECT_NE(elsewhere, second);
    EXPECT_EQ(allocated(60'000, kind), second);
    void* const small = allocated(100, kind);
    EXPECT_NE(small, first);  // far too large
    services().free(second, kind);
    held.go_on();
    services().free(small, kind);
    services().free(elsewhere, other);
    EXPECT_EQ(exists(first), kind == gpu::MemoryKind::plain);  // cudaFree would wait for other ranks
    EXPECT_EQ(TAUT_Cuda_release(), 0);
    EXPECT_FALSE(exists(first));
    EXPECT_FALSE(exists(second));
  }
}

TEST(BlockedStreams, UseEventsAgain) {
  const Stream stream, other;
  void* event = nullptr;
  ASSERT_EQ(services().record(&event, stream), 0);
  services().free_event(event);
  const long objects = stand_in_objects();
  const Held held;
  for (int i = 0; i < 10; ++i) {
    int happened = 0;
    ASSERT_EQ(services().record(&event, stream), 0);
    while (happened == 0) ASSERT_EQ(services().has_happened(event, &happened), 0);
    services().free_event(event);
    ASSERT_EQ(services().follow(other, stream), 0);
  }
  EXPECT_LE(stand_in_objects(), objects + 3);  // the held stream, and Taut's own two
}

TEST(BlockedStreams, LeaveNoEventThatAHookOfReleaseFrees) {
  static void* event = nullptr;
  const Stream stream;
  ASSERT_EQ(TAUT_Cuda_release(), 0);
  const long objects = stand_in_objects();
  ASSERT_EQ(services().record(&event, stream), 0);
  services().at_release([] {
    if (event != nullptr) services().free_event(event);
    event = nullptr;
  });
  ASSERT_EQ(TAUT_Cuda_release(), 0);
  EXPECT_EQ(stand_in_objects(), objects);
}

TEST(BlockedStreams, AreNotWaitedForByOtherCalls) {
  const Held held;
  void* memory = nullptr;
  ASSERT_EQ(services().allocate(&memory, 1000, gpu::MemoryKind::pooled), 0);
  services().free(memory, gpu::MemoryKind::pooled);
  EXPECT_EQ(cudaStreamQuery(held), cudaErrorNotReady);
}

TEST(BlockedStreamsDeathTest, EndAProgramThatFreesMemory) {
  void *there = nullptr, *here = nullptr;
  ASSERT_EQ(cudaMalloc(&there, 100), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(&here, 100, cudaHostAllocDefault), cudaSuccess);
  {
    const Held held;
    EXPECT_DEATH(cudaFree(there), "cudaFree while a stream waits");
    EXPECT_DEATH(cudaFreeHost(here), "cudaFreeHost while a stream waits");
  }
  EXPECT_EQ(cudaFree(there), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(here), cudaSuccess);
}

TEST(Captures, AreLeftAloneByServices) {
  const Stream stream, captured;
  void *event = nullptr, *memory = nullptr;
  ASSERT_EQ(services().record(&event, stream), 0);
  const Graph graph(captured, [&] {
    int happened = 0, idle = 0;
    EXPECT_EQ(services().has_happened(event, &happened), 0);
    EXPECT_EQ(services().query(stream, &idle), 0);
    EXPECT_EQ(services().allocate(&memory, 100, gpu::MemoryKind::pooled), 0);
    services().free(pinned(5000), gpu::MemoryKind::pinned);
  });
  EXPECT_EQ(graph.ended(), cudaSuccess);
  services().free(memory, gpu::MemoryKind::pooled);
  services().free_event(event);
}

}  // namespace blocked_streams_test
}  // namespace taut::test
