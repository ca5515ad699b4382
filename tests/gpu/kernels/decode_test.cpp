#include <gtest/gtest.h>

#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace decode_test {

using namespace planes;

template <class T>
class GpuDecode : public testing::Test {};
using Types = testing::Types<float, double, f16, bf16>;
TYPED_TEST_SUITE(GpuDecode, Types);

template <class T>
std::size_t first_difference(const std::vector<T>& a, const std::vector<T>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::bit_cast<BitsOf<T>>(a[i]) != std::bit_cast<BitsOf<T>>(b[i])) return i;
  return a.size();
}

TYPED_TEST(GpuDecode, GivesTheBitsOfTheCpu) {
  using T = TypeParam;
  shim::Gpu gpu(0);
  for (const Bound bound : {Bound{1e-3}, Bound{1e-6}}) {
    for (const Predictor predictor :
         {Predictor::none, Predictor::delta, Predictor::pairs, Predictor::second}) {
      for (const Pattern pattern : all_patterns) {
        for (const std::size_t n : {std::size_t{0}, std::size_t{9}, std::size_t{4096}, std::size_t{9001}}) {
          if (!test::is_sampled()) continue;
          SCOPED_TRACE(testing::Message() << name_of(pattern) << " n " << n << " predictor "
                                          << static_cast<int>(predictor) << " bound " << bound.value);
          const auto codec = cpu_codec(bound, predictor);
          const auto frame = cpu_frame<T>(make<T>(pattern, n, 7), bound, predictor);
          std::vector<T> cpu(n), there(n);
          ASSERT_EQ(codec->decode(frame, {cpu.data(), n, dtype_of<T>}), Status::ok);
          GpuCodec<T> kernels(gpu, bound, predictor);
          ASSERT_EQ(kernels.decode(frame, there), 0u);
          ASSERT_EQ(first_difference(there, cpu), n);
          there = cpu = make<T>(Pattern::walk, n, 3);
          ASSERT_EQ(codec->reduce(frame, {cpu.data(), n, dtype_of<T>}, Reduction::sum), Status::ok);
          ASSERT_EQ(kernels.decode(frame, there, true), 0u);
          ASSERT_EQ(first_difference(there, cpu), n);
        }
      }
    }
  }
}

}  // namespace decode_test
}  // namespace taut
