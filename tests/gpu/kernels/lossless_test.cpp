// Tests mpc frames: the kernels write the CPU's bytes, and decode them bit for bit.
#include <gtest/gtest.h>

#include "gpu/kernels/lossless_codec.hpp"

namespace taut {
namespace lossless_test {

template <class T>
void same_frames(LosslessGpuCodec<T>& gpu, const std::vector<T>& x, unsigned distance, double relative = 0) {
  const auto cpu = lossless_cpu_frame(x, distance, relative), frame = gpu.encode(x, distance, relative);
  ASSERT_EQ(gpu.result().status, 0u);
  ASSERT_EQ(frame.size(), cpu.size());
  const auto at = std::mismatch(frame.begin(), frame.end(), cpu.begin()).first - frame.begin();
  ASSERT_EQ(static_cast<std::size_t>(at), frame.size()) << "first difference at byte " << at;
}

template <class T>
void there_and_back(LosslessGpuCodec<T>& gpu, const std::vector<T>& x, unsigned distance) {
  same_frames(gpu, x, distance);
  std::vector<T> y(x.size());
  ASSERT_EQ(gpu.decode(lossless_cpu_frame(x, distance), y), 0u);
  if (!x.empty()) {
    ASSERT_EQ(std::memcmp(static_cast<const void*>(x.data()), y.data(), x.size() * sizeof(T)), 0);
  }
}

template <class T>
class GpuLossless : public testing::Test {};
using Types = testing::Types<float, double, f16, bf16, std::complex<float>, std::complex<double>, std::int8_t,
                             std::uint32_t, std::int64_t>;
TYPED_TEST_SUITE(GpuLossless, Types);

TYPED_TEST(GpuLossless, IsWhatTheCpuWrites) {
  using T = TypeParam;
  constexpr std::size_t chunk = mpc::chunk_bytes / sizeof(T);
  shim::Gpu gpu(0);
  LosslessGpuCodec<T> codec(gpu);
  for (unsigned distance = 0; distance <= mpc::max_distance; ++distance) {
    for (const Pattern pattern : all_patterns) {
      for (const std::size_t n :
           {std::size_t{0}, std::size_t{1}, std::size_t{7}, chunk - 1, chunk, chunk + 1, 8 * chunk + 13}) {
        SCOPED_TRACE(testing::Message() << name_of(pattern) << " n " << n << " distance " << distance);
        gpu.reseed(n + distance);
        there_and_back(codec, lossless_values<T>(pattern, n), distance);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// Returns words whose blocks have random sets of planes: any, few, one, or whole bytes of planes.
template <class Word>
std::vector<Word> words_of_planes(std::size_t n, unsigned distance) {
  constexpr auto negabinary = static_cast<Word>(0xAAAAAAAAAAAAAAAA), all = static_cast<Word>(~Word{0});
  std::mt19937_64 random(n + distance);
  std::vector<Word> x(n);
  Word planes = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 8 == 0) {
      const std::uint64_t any = random(), few = any & random() & random();
      const std::uint64_t one = std::uint64_t{1} << any % (8 * sizeof(Word)),
                          byte = std::uint64_t{0xFF} << any % 8 * 8;
      planes = static_cast<Word>(i / 8 % 4 == 0 ? any : i / 8 % 4 == 1 ? few : i / 8 % 4 == 2 ? one : byte);
    }
    const auto digits = static_cast<Word>(planes & (i % 8 == 7 ? all : static_cast<Word>(random())));
    const auto difference = static_cast<Word>((digits ^ negabinary) - negabinary);
    x[i] = static_cast<Word>(difference + (distance > 0 && i >= distance ? x[i - distance] : Word{0}));
  }
  return x;
}

TYPED_TEST(GpuLossless, StoresEverySetOfPlanes) {
  using T = TypeParam;
  shim::Gpu gpu(4);
  LosslessGpuCodec<T> codec(gpu);
  for (unsigned distance = 0; distance <= mpc::max_distance; ++distance) {
    std::vector<T> x(3 * mpc::chunk_bytes / sizeof(T) + 5);
    const auto words = words_of_planes<typename LosslessGpuCodec<T>::Word>(x.size() * codec.parts, distance);
    std::memcpy(static_cast<void*>(x.data()), words.data(), x.size() * sizeof(T));
    SCOPED_TRACE(testing::Message() << "distance " << distance);
    there_and_back(codec, x, distance);
    if (testing::Test::HasFailure()) return;
  }
}

// The bounds drop from nearly all bits of the mantissas to none.
TYPED_TEST(GpuLossless, RoundsMantissasAsTheCpu) {
  using T = TypeParam;
  if constexpr (!std::is_integral_v<T>) {
    constexpr std::size_t chunk = mpc::chunk_bytes / sizeof(T);
    shim::Gpu gpu(2);
    LosslessGpuCodec<T> codec(gpu);
    for (const double relative : {0.5, 1e-2, 1e-4, 1e-12}) {
      for (const Pattern pattern : all_patterns) {
        for (const std::size_t n : {std::size_t{7}, 2 * chunk + 13}) {
          SCOPED_TRACE(testing::Message() << name_of(pattern) << " n " << n << " bound " << relative);
          same_frames(codec, lossless_values<T>(pattern, n), 1 + static_cast<unsigned>(n % 3), relative);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(GpuLossless, ServesEveryLengthOfASmallMessage) {
  using T = TypeParam;
  shim::Gpu gpu(1);
  LosslessGpuCodec<T> codec(gpu);
  for (std::size_t n = 0; n < 80; ++n) {
    SCOPED_TRACE(testing::Message() << "n " << n);
    there_and_back(codec, lossless_values<T>(Pattern::constant, n), 1 + static_cast<unsigned>(n % 8));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(GpuLosslessLookBack, GivesTheSameFrameInWhateverOrderBlocksRun) {
  const auto x = make<float>(Pattern::mixed, 300007, 3);
  const auto cpu = lossless_cpu_frame(x, 1);
  for (const unsigned at_once : {1u, 2u, 7u}) {
    shim::Gpu gpu(at_once, at_once);
    LosslessGpuCodec<float> codec(gpu);
    for (int launch = 0; launch < 3; ++launch)
      ASSERT_EQ(codec.encode(x, 1) == cpu, true);  // the scratch memory was used before
    EXPECT_EQ(gpu.pauses() > 0, at_once > 1);
  }
}

TEST(GpuLosslessLookBack, ServesAMillionValues) {
  shim::Gpu gpu(1);
  LosslessGpuCodec<float> codec(gpu);
  there_and_back(codec, make<float>(Pattern::walk, 1000003, 3), 1);
}

// Stored frames and coded frames alternate in the same scratch memory.
TEST(GpuLosslessLookBack, LeavesNothingOfTheCallBefore) {
  shim::Gpu gpu(3, 5);
  LosslessGpuCodec<float> codec(gpu);
  for (const std::size_t n : {100000u, 5u, 40000u, 0u, 70001u}) {
    there_and_back(codec, make<float>(Pattern::bits, n, n), 1);
    there_and_back(codec, make<float>(Pattern::walk, n, n), 2);
  }
}

}  // namespace lossless_test
}  // namespace taut
