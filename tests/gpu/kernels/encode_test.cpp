#include <gtest/gtest.h>

#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace encode_test {

using namespace planes;

template <class T>
class GpuEncode : public testing::Test {};
using Types = testing::Types<float, double, f16, bf16>;
TYPED_TEST_SUITE(GpuEncode, Types);

// Expects equal frames. A failure names the size or the first byte that differs.
void expect_same(const std::vector<std::byte>& gpu, const std::vector<std::byte>& cpu) {
  ASSERT_EQ(gpu.size(), cpu.size());
  const auto at = std::mismatch(gpu.begin(), gpu.end(), cpu.begin()).first - gpu.begin();
  EXPECT_EQ(static_cast<std::size_t>(at), gpu.size()) << "first difference at byte " << at;
}

TYPED_TEST(GpuEncode, WritesTheFramesOfTheCpu) {
  using T = TypeParam;
  shim::Gpu gpu(0);
  for (const Bound bound : {Bound{1e-3}, Bound{1e-6}, Bound{Bound::Kind::snap, 1e-2}}) {
    for (const Predictor predictor :
         {Predictor::none, Predictor::delta, Predictor::pairs, Predictor::second}) {
      for (const Pattern pattern : all_patterns) {
        for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{9}, std::size_t{4095},
                                    std::size_t{4096}, std::size_t{9001}}) {
          if (!test::is_sampled()) continue;
          SCOPED_TRACE(testing::Message() << name_of(pattern) << " n " << n << " predictor "
                                          << static_cast<int>(predictor) << " bound " << bound.value);
          const std::vector<T> x = make<T>(pattern, n, 7);
          gpu.reseed(n + 1);
          GpuCodec<T> codec(gpu, bound, predictor);
          const auto cpu = cpu_frame<T>(x, bound, predictor);
          expect_same(codec.encode(x), cpu);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

}  // namespace encode_test
}  // namespace taut
