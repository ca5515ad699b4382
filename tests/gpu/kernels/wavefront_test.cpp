// Tests of the operations of warps that are halves of wavefronts, and of what the shim checks there.
#include <gtest/gtest.h>

#include <algorithm>

#include "gpu/kernels/shim.hpp"

namespace taut {
namespace {

constexpr unsigned threads = 128;

// Runs `body` on every thread of a block of four warps.
template <class Body>
void on_threads(const Body& body) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    shim::Gpu(seed).launch(1, threads, 64, [&](shim::Thread thread, std::byte*) { body(thread); });
}

std::uint32_t some(unsigned i) { return (i + 1) * 0x9E3779B9U; }

TEST(Wavefront, VotesAreThoseOfTheWarp) {
  for (const std::uint32_t bits : {0U, 0xFFFFFFFFU, 1U, 0x80000000U, 0x12345678U})
    on_threads([&](shim::Thread t) {
      const unsigned warp = t.thread() / 32;
      const std::uint32_t own = bits << warp | warp;
      EXPECT_EQ(cuda::wavefront::ballot(t, (own >> t.thread() % 32 & 1) != 0), own);
    });
}

TEST(Wavefront, WarpsOfAWavefrontDivergeInNumberAndKindOfOperations) {
  on_threads([](shim::Thread t) {
    const unsigned lane = t.thread() % 32, warp = t.thread() / 32, first = 32 * warp;
    for (unsigned i = 0; i < 3 * warp; ++i) {
      const unsigned from = (lane * 7 + i) % 32;
      EXPECT_EQ(cuda::wavefront::shuffle(t, some(t.thread()), from), some(first + from));
    }
    if (warp % 2 != 0) {
      EXPECT_EQ(cuda::wavefront::ballot(t, lane == warp), 1U << warp);
    }
    t.barrier();
    EXPECT_EQ(cuda::wavefront::shuffle_up(t, some(t.thread()), 3),
              some(lane < 3 ? t.thread() : t.thread() - 3));
  });
}

TEST(Wavefront, SumsAndReductionsAreThoseOfTheWarp) {
  on_threads([](shim::Thread t) {
    std::uint32_t sum = 0, up_to = 0, any = 0, most = 0;
    std::uint64_t wide = 0;
    for (unsigned i = t.thread() / 32 * 32; i < t.thread() / 32 * 32 + 32; ++i) {
      sum += some(i), any |= some(i) & 0x10101010, most = std::max(most, some(i));
      wide += std::uint64_t{some(i)} << 20;
      if (i == t.thread()) up_to = sum;
    }
    const std::uint32_t own = some(t.thread());
    EXPECT_EQ(cuda::wavefront::inclusive_sum(t, own), up_to);
    EXPECT_EQ(cuda::wavefront::reduce(t, own, cuda::wavefront::Sum{}), sum);
    EXPECT_EQ(cuda::wavefront::reduce(t, std::uint64_t{own} << 20, cuda::wavefront::Sum{}), wide);
    EXPECT_EQ(cuda::wavefront::reduce(t, own & 0x10101010, cuda::wavefront::BitOr{}), any);
    EXPECT_EQ(cuda::wavefront::reduce(t, own, cuda::wavefront::Max{}), most);
  });
}

TEST(Wavefront, BytesArePermutedAsByCuda) {
  shim::Gpu(1).launch(1, 32, 64, [](shim::Thread t, std::byte*) {
    for (std::uint32_t selector = t.thread(); selector < 0x10000; selector += 32) {
      const std::uint32_t low = some(selector), high = some(selector + 1);
      std::uint32_t bytes = 0;
      for (unsigned i = 0; i < 4; ++i) {
        const unsigned digit = selector >> 4 * i & 0xF;
        const std::uint32_t byte = ((digit & 4) != 0 ? high : low) >> 8 * (digit & 3) & 0xFF;
        bytes |= ((digit & 8) == 0 ? byte : byte >= 0x80 ? 0xFFU : 0U) << 8 * i;
      }
      EXPECT_EQ(cuda::wavefront::permute_bytes(t, low, high, selector), bytes);
    }
  });
}

TEST(WavefrontDeathTest, ALaneCannotReadTheOtherWarp) {
  EXPECT_DEATH(on_threads([](shim::Thread t) { t.fetch(some(t.thread()), t.lane() ^ 32); }),
               "a value of the other warp");
}

// A function: all of a macro's argument is on one line.
void barriers_at_two_lines(shim::Thread t) {
  if (t.thread() / 32 % 2 == 0) {
    t.barrier();
  } else {
    t.barrier();
  }
}

TEST(WavefrontDeathTest, WarpsComeToABarrierAtOneLine) {
  if (!shim::in_wavefronts()) GTEST_SKIP() << "each warp has a program counter of its own";
  EXPECT_DEATH(on_threads(barriers_at_two_lines), "a barrier at different lines");
}

}  // namespace
}  // namespace taut
