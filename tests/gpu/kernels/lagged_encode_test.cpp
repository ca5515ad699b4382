#include <gtest/gtest.h>

#include <random>

#include "compressor/codecs/planes/prediction.hpp"
#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace lagged_encode_test {

using namespace planes;

template <class T>
class GpuLaggedEncode : public testing::Test {
 public:
  void check(const std::vector<T>& x, const Bound& bound, const char* name) {
    const planes::Prediction prediction = planes::prediction_of(name, {});
    GpuCodec<T> codec(gpu, bound, prediction.inner);
    const auto cpu = cpu_frame<T>(x, bound, name), there = codec.encode_lagged(x, prediction.lags);
    ASSERT_EQ(codec.result().status, 0u);
    ASSERT_EQ(there.size(), cpu.size());
    ASSERT_EQ(there == cpu, true);
    lagged += cpu[45] != std::byte{0};
    plain += cpu[45] == std::byte{0};
  }

  shim::Gpu gpu{0};
  int lagged = 0, plain = 0;  // numbers of frames
};
using Types = testing::Types<float, double, f16, bf16>;
TYPED_TEST_SUITE(GpuLaggedEncode, Types);

TYPED_TEST(GpuLaggedEncode, WritesTheFramesOfTheCpu) {
  using T = TypeParam;
  for (const Bound bound : {Bound{1e-3}, Bound{1e-6}, Bound{Bound::Kind::snap, 1e-2}}) {
    for (const char* prediction : {"delta+64", "second+100+1000", "none+4097+5000", "pairs+64+64"}) {
      for (const Pattern pattern : all_patterns) {
        for (const std::size_t n : {std::size_t{0}, std::size_t{9}, std::size_t{65}, std::size_t{9001}}) {
          if (!test::is_sampled()) continue;
          SCOPED_TRACE(testing::Message()
                       << name_of(pattern) << " n " << n << " " << prediction << " bound " << bound.value);
          this->check(make<T>(pattern, n, 7), bound, prediction);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
  const auto least = static_cast<int>(test::sampled_part(40));
  EXPECT_GT(this->lagged, least);
  EXPECT_GT(this->plain, least);
}

// Several calls use the same scratch memory, some of which encode again without lags.
TYPED_TEST(GpuLaggedEncode, LeavesScratchReady) {
  using T = TypeParam;
  const Bound bound{1e-3};
  GpuCodec<T> codec(this->gpu, bound, Predictor::delta);
  for (const Pattern pattern : {Pattern::bits, Pattern::wave, Pattern::mixed, Pattern::bits, Pattern::wave}) {
    const std::vector<T> x = make<T>(pattern, 9001, 7);
    ASSERT_EQ(codec.encode_lagged(x, {{64, 700}, 2}) == cpu_frame<T>(x, bound, "delta+64+700"), true)
        << name_of(pattern);
    ASSERT_EQ(codec.encode(x) == cpu_frame<T>(x, bound, "delta"), true) << name_of(pattern);
  }
}

// Records are longest where small chunks, some of whose values have no integer, follow large ones.
TYPED_TEST(GpuLaggedEncode, FitsTheLongestRecord) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  for (const std::size_t gap : {3, 8, 0}) {
    std::vector<T> x(3 * 4096);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double range = i < 4096 ? 8000 : 8;
      x[i] = static_cast<T>((static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) * 2 * range);
      if (gap > 0 && i >= 8192 && i % gap == 0) x[i] = static_cast<T>(sizeof(T) == 2 ? 3e4 : 1e20);
    }
    for (const char* const prediction : {"second+4096+4100", "none+8192", "second+8192"}) {
      SCOPED_TRACE(testing::Message() << prediction << " gap " << gap);
      this->check(x, {1e-3}, prediction);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(this->lagged > 0, sizeof(T) > 2);  // frames of large halves have no lags
}

// Covers the limit at which runs in a chunk make the encoder drop the lags of the frame.
TYPED_TEST(GpuLaggedEncode, DropsLagsAsTheCpuDoes) {
  using T = TypeParam;
  constexpr std::size_t n = 5000;
  for (const double large : {1.0, 1e3}) {
    for (std::size_t every = 6; every < 24; ++every) {
      std::vector<T> x = make<T>(Pattern::wave, n, 1);
      for (std::size_t i = 0; i < n; ++i)
        x[i] = i % every == 0 ? static_cast<T>(sizeof(T) == 2 ? 3e4 : 1e20)
                              : static_cast<T>(large * static_cast<double>(x[i]));
      SCOPED_TRACE(testing::Message() << large << " every " << every);
      this->check(x, {1e-3}, "delta+64+700");
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Noise fills the available bits, so that rests take more bits than the integers and records need all of the
// frame's room.
TYPED_TEST(GpuLaggedEncode, FitsWhatTheFrameMayTake) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  for (const double range : {16.0, 8000.0}) {
    std::vector<T> x(20000);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<T>((static_cast<double>(random() >> 11) * 0x1p-53 - 0.5) * 2 * range);
      if (i % 17 == 0 && range > 16) x[i] = static_cast<T>(sizeof(T) == 2 ? 3e4 : 1e20);
    }
    for (const char* prediction : {"second+64+64", "none+64", "second+100+1000"}) {
      this->check(x, {1e-3}, prediction);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(this->plain > 0, sizeof(T) < 8);  // frames of doubles have enough room
  EXPECT_GT(this->lagged, 0);
}

}  // namespace lagged_encode_test
}  // namespace taut
