#include <gtest/gtest.h>

#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace lagged_decode_test {

using namespace planes;

template <class T>
class GpuLaggedDecode : public testing::Test {
 public:
  // Expects the CPU's values, for the decoded frame and for values += frame.
  void check(const std::vector<std::byte>& frame, std::size_t n) {
    std::vector<T> cpu(n), there(n);
    ASSERT_EQ(codec->decode(frame, {cpu.data(), n, dtype_of<T>}), Status::ok);
    GpuCodec<T> kernels(gpu, bound, Predictor::delta);
    ASSERT_EQ(kernels.decode_lagged(frame, there), 0u);
    ASSERT_TRUE(same(there, cpu));
    there = cpu = make<T>(Pattern::walk, n, 3);
    ASSERT_EQ(codec->reduce(frame, {cpu.data(), n, dtype_of<T>}, Reduction::sum), Status::ok);
    ASSERT_EQ(kernels.decode_lagged(frame, there, true), 0u);
    ASSERT_TRUE(same(there, cpu));
  }
  static bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
  }
  std::vector<std::byte> frame(Pattern pattern, std::size_t n, const char* prediction) const {
    return cpu_frame<T>(make<T>(pattern, n, 7), bound, prediction);
  }

  Bound bound{1e-3};
  std::unique_ptr<Codec> codec = cpu_codec(bound, Predictor::delta);
  shim::Gpu gpu{0};
};
using Types = testing::Types<float, double, f16, bf16>;
TYPED_TEST_SUITE(GpuLaggedDecode, Types);

// Frames with lags, and frames for which the encoder dropped the lags: both are decoded.
TYPED_TEST(GpuLaggedDecode, GivesTheBitsOfTheCpu) {
  for (const char* prediction : {"delta+64", "second+100+1000", "none+4097+5000", "pairs+64+64"}) {
    for (const Pattern pattern : all_patterns) {
      for (const std::size_t n : {std::size_t{0}, std::size_t{9}, std::size_t{65}, std::size_t{9001}}) {
        if (!test::is_sampled()) continue;
        SCOPED_TRACE(testing::Message() << name_of(pattern) << " n " << n << " " << prediction);
        this->check(this->frame(pattern, n, prediction), n);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(GpuLaggedDecode, OfSumsGivesTheBitsOfTheCpu) {
  constexpr std::size_t n = 9001;
  for (const Pattern pattern : {Pattern::wave, Pattern::masked, Pattern::sprinkled}) {
    const auto one = this->frame(pattern, n, "delta+100+200"),
               two = this->frame(Pattern::wave, n, "delta+100+200");
    const ConstBytes parts[] = {one, two, one};
    std::vector<std::byte> sum(this->codec->max_bytes(dtype_of<TypeParam>, n, 3));
    const SizeOrStatus size = this->codec->arithmetic()->sum(parts, sum);
    ASSERT_EQ(size.status, Status::ok);
    sum.resize(size.bytes);
    this->check(sum, n);
  }
}

// Covers few columns with many segments, and more columns than threads.
TEST(GpuLaggedDecodeOfMuch, GivesTheBitsOfTheCpu) {
  constexpr std::size_t n = 300'000;
  const Bound bound{1e-3};
  const auto codec = cpu_codec(bound, Predictor::delta);
  shim::Gpu gpu(1);
  for (const char* prediction : {"delta+64", "delta+250+20000", "none+64+150000"}) {
    const auto frame = cpu_frame<float>(make<float>(Pattern::wave, n, 7), bound, prediction);
    std::vector<float> cpu(n), there(n);
    ASSERT_EQ(codec->decode(frame, {cpu.data(), n, DType::f32}), Status::ok);
    GpuCodec<float> kernels(gpu, bound, Predictor::delta);
    ASSERT_EQ(kernels.decode_lagged(frame, there), 0u);
    ASSERT_EQ(std::memcmp(there.data(), cpu.data(), n * sizeof(float)), 0) << prediction;
  }
}

TEST(GpuDecodeWithoutLags, RefusesThem) {
  const auto frame = cpu_frame<float>(make<float>(Pattern::wave, 1000, 7), {1e-3}, "delta+64");
  shim::Gpu gpu(1);
  GpuCodec<float> kernels(gpu, {1e-3}, Predictor::delta);
  std::vector<float> there(1000);
  EXPECT_EQ(kernels.decode(frame, there), planes::cuda::needs_host);
}

TEST(GpuDecodeWithoutReferences, RefusesThem) {
  const auto x = make<float>(Pattern::wave, 5000, 7);
  const auto codec = cpu_codec({1e-3}, "delta");
  const Reference reference{7, {{x.data(), x.size(), DType::f32}}};
  std::vector<std::byte> frame(codec->max_bytes(DType::f32, x.size()));
  frame.resize(codec->encode(reference.values, {&reference, 1}, frame).bytes);
  shim::Gpu gpu(1);
  GpuCodec<float> kernels(gpu, {1e-3}, Predictor::delta);
  std::vector<float> there(x.size());
  EXPECT_EQ(kernels.decode(frame, there), planes::cuda::needs_host);
  EXPECT_EQ(kernels.decode_lagged(frame, there), planes::cuda::needs_host);
}

}  // namespace lagged_decode_test
}  // namespace taut
