#include <gtest/gtest.h>

#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace sum_test {

using namespace planes;

using Frames = std::vector<std::vector<std::byte>>;

template <class T>
class GpuSum : public testing::Test {
 public:
  static constexpr std::size_t n = 5001;

  Frames frames(std::span<const Pattern> patterns, std::span<const Predictor> predictors) const {
    Frames all;
    for (std::size_t k = 0; k < patterns.size(); ++k)
      all.push_back(cpu_frame<T>(make<T>(patterns[k], n, k + 1), bound, predictors[k % predictors.size()]));
    return all;
  }
  std::vector<std::byte> cpu_sum(const Frames& of, std::uint32_t addends) const {
    std::vector<ConstBytes> parts(of.begin(), of.end());
    std::vector<std::byte> out(codec->max_bytes(dtype_of<T>, n, addends));
    const SizeOrStatus size = codec->arithmetic()->sum(parts, out);
    EXPECT_EQ(size.status, Status::ok);
    out.resize(size.bytes);
    return out;
  }
  // Checks the sum against the CPU's, and the values that it decodes to.
  void check(const Frames& of, std::uint32_t addends) {
    const auto cpu = cpu_sum(of, addends);
    GpuCodec<T> kernels(gpu, bound, Predictor::delta);
    const auto sum = kernels.sum(of, n, codec->max_bytes(dtype_of<T>, n, addends));
    ASSERT_EQ(kernels.result().status, 0u);
    ASSERT_EQ(sum == cpu, true);
    std::vector<T> expected(n), decoded(n);
    ASSERT_EQ(codec->decode(cpu, {expected.data(), n, dtype_of<T>}), Status::ok);
    ASSERT_EQ(kernels.decode(cpu, decoded), 0u);
    ASSERT_EQ(std::memcmp(decoded.data(), expected.data(), n * sizeof(T)), 0);
  }

  Bound bound{1e-4};
  std::unique_ptr<Codec> codec = cpu_codec(bound, Predictor::delta);
  shim::Gpu gpu{5};
};
using Types = testing::Types<float, double, f16, bf16>;
TYPED_TEST_SUITE(GpuSum, Types);

TYPED_TEST(GpuSum, OfTwoFramesIsThatOfTheCpu) {
  for (const Predictor predictor : {Predictor::none, Predictor::delta, Predictor::pairs, Predictor::second}) {
    for (const Pattern a : all_patterns) {
      for (const Pattern b : {Pattern::wave, Pattern::mixed, a}) {
        if (!test::is_sampled()) continue;
        SCOPED_TRACE(testing::Message()
                     << name_of(a) << " + " << name_of(b) << " predictor " << static_cast<int>(predictor));
        const Pattern patterns[] = {a, b};
        this->check(this->frames(patterns, {&predictor, 1}), 2);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(GpuSum, OfEightAndOfSumsIsThatOfTheCpu) {
  constexpr Pattern patterns[] = {Pattern::mixed, Pattern::masked, Pattern::sprinkled, Pattern::masked,
                                  Pattern::tail,  Pattern::huge,   Pattern::mixed,     Pattern::walk};
  constexpr Predictor mixed[] = {Predictor::second, Predictor::delta, Predictor::pairs};
  for (const std::size_t kinds : {3u, 1u}) {
    if (sizeof(TypeParam) == 8 && kinds == 1) continue;  // exact sums of doubles take the longest
    if (!test::is_sampled()) continue;
    const std::span<const Predictor> predictors(mixed, kinds);
    Frames of = this->frames(patterns, predictors);
    this->check(of, 8);
    if (testing::Test::HasFatalFailure()) return;
    std::uint32_t addends = 1;
    auto sum = this->cpu_sum({of.begin(), of.begin() + 4}, 8);
    for (addends = 4; addends < 1024; addends *= 4) sum = this->cpu_sum({sum, sum, sum, sum}, 4 * addends);
    this->check({sum, of[1], of[7]}, addends + 2);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(GpuSum, AccumulatesAsTheCpu) {
  using T = TypeParam;
  for (const Predictor predictor : {Predictor::none, Predictor::delta, Predictor::second}) {
    for (const Pattern a : all_patterns) {
      for (const Pattern b : {Pattern::wave, Pattern::sprinkled, Pattern::mixed}) {
        if (!test::is_sampled()) continue;
        SCOPED_TRACE(testing::Message()
                     << name_of(a) << " + " << name_of(b) << " predictor " << static_cast<int>(predictor));
        const auto frame = cpu_frame<T>(make<T>(a, this->n, 1), this->bound, predictor);
        const std::vector<T> x = make<T>(b, this->n, 2);
        std::vector<std::byte> cpu(this->codec->max_bytes(dtype_of<T>, this->n, 2));
        const SizeOrStatus size =
            this->codec->arithmetic()->accumulate(frame, {x.data(), this->n, dtype_of<T>}, cpu);
        ASSERT_EQ(size.status, Status::ok);
        GpuCodec<T> kernels(this->gpu, this->bound, Predictor::pairs);
        const auto sum = kernels.accumulate(frame, x, cpu.size());
        ASSERT_EQ(kernels.result().status, 0u);
        cpu.resize(size.bytes);
        ASSERT_EQ(sum == cpu, true);
      }
    }
  }
}

// No block runs that could write the one word of the index.
TEST(GpuSumOfNothing, IsThatOfTheCpu) {
  const auto codec = cpu_codec({1e-4}, Predictor::delta);
  const auto frame = cpu_frame<float>({}, {1e-4}, Predictor::delta);
  const ConstBytes both[] = {frame, frame};
  std::vector<std::byte> cpu(codec->max_bytes(DType::f32, 0, 2));
  cpu.resize(codec->arithmetic()->sum(both, cpu).bytes);
  shim::Gpu gpu(5);
  EXPECT_TRUE(GpuCodec<float>(gpu, {1e-4}, Predictor::delta).sum({frame, frame}, 0, cpu.size()) == cpu);
}

}  // namespace sum_test
}  // namespace taut
