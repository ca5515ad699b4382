// Tests mpc frames with lags: the kernels write the CPU's bytes, and decode them bit for bit.
#include <gtest/gtest.h>

#include "gpu/kernels/lossless_codec.hpp"
#include "gpu/kernels/seal.hpp"

namespace taut {
namespace lossless_lags_test {

template <class T>
class GpuLosslessLags : public testing::Test {};
using Types = testing::Types<float, double, bf16, std::complex<float>, std::int8_t>;
TYPED_TEST_SUITE(GpuLosslessLags, Types);

constexpr Lags lags_tested[] = {{{64}, 1}, {{100}, 1}, {{64, 64}, 2}, {{100, 3000}, 2}};

TYPED_TEST(GpuLosslessLags, IsWhatTheCpuWritesAndReads) {
  using T = TypeParam;
  shim::Gpu gpu(3);
  LosslessGpuCodec<T> codec(gpu);
  for (const Lags& lags : lags_tested) {
    for (const unsigned distance : {0u, 1u, 3u}) {
      for (const Pattern pattern : {Pattern::wave, Pattern::walk, Pattern::bits, Pattern::constant}) {
        for (const std::size_t n : {std::size_t{0}, std::size_t{65}, std::size_t{5003}}) {
          SCOPED_TRACE(testing::Message() << name_of(pattern) << " n " << n << " "
                                          << text_of({mpc::predictors[distance], lags}));
          const auto x = lossless_values<T>(pattern, n);
          const auto cpu = lossless_cpu_frame(x, distance, 0, PackedBits::rounded, lags);
          ASSERT_EQ(codec.encode(x, distance, 0, lags) == cpu, true);
          std::vector<T> y(n);
          ASSERT_EQ(codec.decode_lagged(cpu, y), 0u);
          if (n > 0) {
            ASSERT_EQ(std::memcmp(static_cast<const void*>(x.data()), y.data(), n * sizeof(T)), 0);
          }
        }
      }
    }
  }
}

TEST(GpuLosslessLagsOfFloats, AreRoundedAsOnTheCpu) {
  shim::Gpu gpu(4);
  LosslessGpuCodec<float> codec(gpu);
  const Lags lags{{100, 3000}, 2};
  const auto x = make<float>(Pattern::walk, 9001, 3);
  EXPECT_EQ(codec.encode(x, 1, 1e-3, lags) == lossless_cpu_frame(x, 1, 1e-3, PackedBits::rounded, lags),
            true);
}

TEST(GpuLosslessLagsOfFloats, AreLeftToTheHostByCallsWithoutLags) {
  shim::Gpu gpu(5);
  LosslessGpuCodec<float> codec(gpu);
  const auto x = make<float>(Pattern::wave, 5000, 3);
  const auto frame = lossless_cpu_frame(x, 1, 0, PackedBits::rounded, {{100}, 1});
  std::vector<float> y(x.size());
  EXPECT_EQ(codec.decode(frame, y), cuda::needs_host);
  EXPECT_EQ(codec.decode_add(frame, y), cuda::needs_host);
  EXPECT_EQ(codec.decode_lagged(frame, y), 0u);
  EXPECT_EQ(y == x, true);
}

TEST(GpuLosslessReferences, AreLeftToTheHost) {
  shim::Gpu gpu(5);
  LosslessGpuCodec<float> codec(gpu);
  const auto x = make<float>(Pattern::wave, 5000, 3);
  const auto cpu = lossless_cpu_codec(1);
  const Reference reference{7, {{x.data(), x.size(), DType::f32}}};
  std::vector<std::byte> frame(cpu->max_bytes(DType::f32, x.size()));
  frame.resize(cpu->encode(reference.values, {&reference, 1}, frame).bytes);
  std::vector<float> y(x.size());
  EXPECT_EQ(codec.decode(frame, y), cuda::needs_host);
  EXPECT_EQ(codec.decode_lagged(frame, y), cuda::needs_host);
}

TEST(GpuLosslessLagsOfFloats, AreRejectedWhereTheCpuRejectsThem) {
  shim::Gpu gpu(6);
  LosslessGpuCodec<float> codec(gpu);
  const auto cpu = lossless_cpu_codec(1);
  const auto x = make<float>(Pattern::wave, 5000, 3);
  const auto whole = lossless_cpu_frame(x, 1, 0, PackedBits::rounded, {{100, 3000}, 2});
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    auto frame = whole;
    const std::size_t reach = round % 2 == 0 ? 100 : frame.size();
    for (std::size_t k = 0; k < 1 + random() % 3; ++k)
      frame[random() % reach] ^= std::byte(1 << random() % 8);
    seal(frame);
    std::vector<float> expected(x.size()), there(x.size());
    const Status status = cpu->decode(frame, {expected.data(), x.size(), DType::f32});
    const std::uint32_t found = codec.decode_lagged(frame, there);
    if (found == cuda::needs_host) continue;
    ASSERT_EQ(found == 0, status == Status::ok) << "round " << round;
    if (found == 0) {
      ASSERT_EQ(std::memcmp(there.data(), expected.data(), 4 * x.size()), 0) << "round " << round;
    }
  }
}

}  // namespace lossless_lags_test
}  // namespace taut
