// Tests sums of frames with lags: sums that keep the lags have the CPU's bytes, other sums are refused.
#include <gtest/gtest.h>

#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"

namespace taut {
namespace lagged_sum_test {

using namespace planes;

using Frame = std::vector<std::byte>;

template <class T>
class GpuLaggedSum : public testing::Test {
 public:
  static constexpr std::size_t n = 9001;
  static constexpr const char* lagged[] = {"delta+64", "none+100+1000", "second+64+64", "pairs+4097+5000"};

  Frame frame(Pattern pattern, std::uint64_t seed, const char* prediction) const {
    return cpu_frame<T>(make<T>(pattern, n, seed), bound, prediction);
  }
  Frame cpu_sum(const std::vector<Frame>& of, std::uint32_t addends) const {
    const std::vector<ConstBytes> parts(of.begin(), of.end());
    Frame out(codec->max_bytes(dtype_of<T>, n, addends));
    const SizeOrStatus size = codec->arithmetic()->sum(parts, out);
    EXPECT_EQ(size.status, Status::ok);
    out.resize(size.bytes);
    return out;
  }
  std::uint32_t sum(const std::vector<Frame>& of, std::size_t capacity, Frame& sum) {
    GpuCodec<T> kernels(gpu, bound, Predictor::delta);
    sum = kernels.sum(of, n, capacity);
    return kernels.result().status;
  }
  // Expects the CPU's sum if that sum has the lags of all operands, and a refusal otherwise.
  void check(const std::vector<Frame>& of, std::uint32_t addends) {
    const Frame cpu = cpu_sum(of, addends);
    bool lags_lost = false;
    for (const Frame& f : of) lags_lost |= lag_count(f) > lag_count(cpu);
    Frame found;
    const std::uint32_t status = sum(of, codec->max_bytes(dtype_of<T>, n, addends), found);
    ASSERT_EQ(status, lags_lost ? planes::cuda::needs_host : 0u);
    if (!lags_lost) {
      ASSERT_EQ(found == cpu, true);
    }
  }
  static int lag_count(const Frame& frame) { return static_cast<int>(frame[45]); }

  Bound bound{1e-3};
  std::unique_ptr<Codec> codec = cpu_codec(bound, Predictor::delta);
  shim::Gpu gpu{5};
};
using Types = testing::Types<float, double, f16, bf16>;
TYPED_TEST_SUITE(GpuLaggedSum, Types);

TYPED_TEST(GpuLaggedSum, IsThatOfTheCpu) {
  for (const char* prediction : this->lagged) {
    for (const Pattern pattern : all_patterns) {
      SCOPED_TRACE(testing::Message() << name_of(pattern) << " " << prediction);
      const Frame a = this->frame(pattern, 1, prediction), b = this->frame(Pattern::wave, 2, prediction),
                  c = this->frame(pattern, 3, prediction);
      this->check({a}, 1);
      this->check({a, b}, 2);
      this->check({a, c, b, a, c}, 5);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(GpuLaggedSum, IsRefusedWhereLagsDoNotStay) {
  const Frame a = this->frame(Pattern::wave, 1, "delta+64"), b = this->frame(Pattern::masked, 2, "delta+65"),
              c = this->frame(Pattern::wave, 1, "second+64"), d = this->frame(Pattern::wave, 2, "delta"),
              e = this->frame(Pattern::wave, 2, "delta+64+70");
  for (const Frame& other : {b, c, d, e}) {
    this->check({a, other}, 2);
    this->check({other, a, a}, 3);
  }
  Frame sum = a;
  for (std::uint32_t addends = 1; addends < 64; addends *= 4) {
    this->check({sum, sum, sum, sum}, 4 * addends);
    sum = this->cpu_sum({sum, sum, sum, sum}, 4 * addends);
  }
  this->check({sum, sum, sum, a}, 193);
  this->check({sum, sum, sum, sum}, 256);
}

TYPED_TEST(GpuLaggedSum, OfAFrameAndValuesIsRefused) {
  const Frame frame = this->frame(Pattern::wave, 1, "delta+64");
  GpuCodec<TypeParam> kernels(this->gpu, this->bound, Predictor::delta);
  kernels.accumulate(frame, make<TypeParam>(Pattern::wave, this->n, 2), 4 * frame.size());
  EXPECT_EQ(kernels.result().status, planes::cuda::needs_host);
}

TYPED_TEST(GpuLaggedSum, NeedsRoomForTheLagsToo) {
  const Frame zeros = this->frame(Pattern::zeros, 1, "delta+64+70");
  Frame sum;
  ASSERT_EQ(this->lag_count(zeros), 2);
  EXPECT_EQ(this->sum({zeros, zeros}, zeros.size(), sum), 0u);
  EXPECT_EQ(sum.size(), zeros.size());
  for (const std::size_t less : {4u, 8u})
    EXPECT_EQ(this->sum({zeros, zeros}, zeros.size() - less, sum),
              static_cast<std::uint32_t>(Status::buffer_too_small));
}

}  // namespace lagged_sum_test
}  // namespace taut
