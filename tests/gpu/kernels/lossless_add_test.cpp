// Tests values += mpc frame: the sums equal those of the CPU's codec.
#include <gtest/gtest.h>

#include "gpu/kernels/lossless_codec.hpp"

namespace taut {
namespace lossless_add_test {

template <class T>
std::size_t first_difference(const std::vector<T>& a, const std::vector<T>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0) return i;
  return a.size();
}

template <class T>
void check(LosslessGpuCodec<T>& gpu, const std::vector<T>& x, unsigned distance, const std::vector<T>& to) {
  const auto frame = lossless_cpu_frame(x, distance);
  std::vector<T> cpu = to, there = to;
  ASSERT_EQ(
      lossless_cpu_codec(distance)->reduce(frame, {cpu.data(), cpu.size(), dtype_of<T>}, Reduction::sum),
      Status::ok);
  ASSERT_EQ(gpu.decode_add(frame, there), 0u);
  ASSERT_EQ(first_difference(there, cpu), x.size());
}

template <class T>
class GpuLosslessAdd : public testing::Test {};
using Types = testing::Types<float, double, f16, bf16, std::complex<float>, std::complex<double>, std::int8_t,
                             std::uint8_t, std::int16_t, std::uint32_t, std::int64_t>;
TYPED_TEST_SUITE(GpuLosslessAdd, Types);

TYPED_TEST(GpuLosslessAdd, IsTheSumOfTheCpu) {
  using T = TypeParam;
  constexpr std::size_t chunk = mpc::chunk_bytes / sizeof(T);
  shim::Gpu gpu(0);
  LosslessGpuCodec<T> codec(gpu);
  for (unsigned distance = 1; distance <= mpc::max_distance; ++distance) {
    for (const Pattern pattern : all_patterns) {
      for (const std::size_t n : {std::size_t{0}, std::size_t{7}, chunk, 2 * chunk + 13}) {
        SCOPED_TRACE(testing::Message() << name_of(pattern) << " n " << n << " distance " << distance);
        check(codec, lossless_values<T>(pattern, n), distance, lossless_values<T>(Pattern::walk, n));
        check(codec, lossless_values<T>(pattern, n), distance, lossless_values<T>(Pattern::bits, n));
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// A chunk of zeros has no record, but must still be added.
TEST(GpuLosslessAddOfZeros, MakesNegativeOnesPositive) {
  shim::Gpu gpu(1);
  LosslessGpuCodec<float> codec(gpu);
  check(codec, std::vector<float>(3000, 0.0F), 1, std::vector<float>(3000, -0.0F));
}

}  // namespace lossless_add_test
}  // namespace taut
