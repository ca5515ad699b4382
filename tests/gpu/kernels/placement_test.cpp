// Tests the places of records at the limits of their numbers: launch numbers that wrap, more words than 32
// bits count, and slots beyond 2^32 words.
#include <gtest/gtest.h>

#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"

namespace taut {
namespace placement_test {

using namespace planes;

// The launch number is 0 in launch 2^30, as in memory that no launch has written.
TEST(GpuPlacement, TakesUnwrittenMemoryForNoLaunch) {
  const auto x = make<float>(Pattern::mixed, 100000, 3);
  const auto cpu = cpu_frame<float>(x, {1e-3}, Predictor::delta);
  for (const std::uint32_t launches : {5u, (1u << 30) - 2, (1u << 30) - 1, 1u << 30, 0xFFFFFFFFu}) {
    SCOPED_TRACE(launches);
    shim::Gpu gpu(7, 7);
    GpuCodec<float> codec(gpu, {1e-3}, Predictor::delta);
    codec.after_launches(launches, x.size());
    EXPECT_TRUE(codec.encode(x) == cpu);
    EXPECT_GT(gpu.pauses(), 0u) << "no block has waited";
  }
}

// A sink with scratch memory, for calls of device functions by one warp.
struct Placement {
  planes::cuda::Control control{};
  std::vector<planes::cuda::ChunkState> words;
  std::vector<std::uint32_t> index;
  planes::cuda::Sink sink{};

  explicit Placement(std::uint32_t chunks) : words(chunks), index(chunks + 1) {
    sink.index = index.data();
    sink.capacity = UINT32_MAX;
    sink.chunks = chunks;
    sink.control = &control;
    sink.chunk_states = words.data();
  }

  std::uint64_t place(std::uint32_t chunk, std::uint32_t own) {
    std::uint64_t at = 0;
    shim::Gpu(1).launch(1, warp_lanes, 0, [&](shim::Thread thread, std::byte*) {
      const std::uint64_t found = planes::cuda::place_in_sink(thread, sink, chunk, own);
      if (thread.thread() == 0) at = found;
    });
    return at;
  }
  void announce(std::uint32_t chunk, std::uint32_t own) {
    shim::Gpu(1).launch(1, warp_lanes, 0, [&](shim::Thread thread, std::byte*) {
      if (thread.thread() == 0) planes::cuda::publish_own_size(thread, sink, chunk, own);
    });
  }

  static constexpr unsigned warp_lanes = 32;
};

TEST(GpuPlacement, FindsNoRoomForMoreWordsThan32BitsCount) {
  constexpr std::uint32_t chunks = 70, each = 0x08000000;  // 2^27 words: the last 38 are beyond 2^32
  Placement placement(chunks);
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) placement.announce(chunk, each);
  EXPECT_EQ(placement.place(20, each), 20u * each);
  for (const std::uint32_t chunk : {31u, 32u, 33u, chunks - 1}) {
    SCOPED_TRACE(chunk);
    const std::uint64_t at = placement.place(chunk, each);
    EXPECT_FALSE(planes::cuda::fits(placement.sink, at, each));
    EXPECT_EQ(placement.index[chunk + 1], UINT32_MAX);
  }
  EXPECT_EQ(placement.control.words, UINT32_MAX);
}

TEST(GpuPlacement, PutsSlotsBeyond32BitsWhereTheReaderFindsThem) {
  constexpr std::uint32_t slot_words = 1 << 18, chunk = 16385;  // 1 MiB each
  Placement placement(chunk + 1);
  placement.sink.slot_words = slot_words;
  EXPECT_EQ(placement.place(chunk, 7), std::uint64_t{chunk} * slot_words);
  EXPECT_EQ(placement.index[chunk], 7u);
}

}  // namespace placement_test
}  // namespace taut
