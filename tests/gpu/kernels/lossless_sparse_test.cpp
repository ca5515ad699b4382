// Tests sparse records of mpc: the kernels write the CPU's, decode them bit for bit, and reject what the CPU
// rejects.
#include <gtest/gtest.h>

#include "gpu/kernels/lossless_codec.hpp"
#include "support/mpc_sparse.hpp"

namespace taut {
namespace lossless_sparse_test {

// Returns four whole chunks and a part of one.
template <class T>
std::vector<T> values_of(double density, bool any_bits) {
  using Word = typename LosslessGpuCodec<T>::Word;
  const std::size_t n = 4 * mpc::chunk_bytes / sizeof(T) + 133, words = n * sizeof(T) / sizeof(Word);
  const auto value = [&](std::mt19937_64& random) {
    return any_bits || random() % 40 == 0 ? static_cast<std::int64_t>(random()) : test::small_step(random);
  };
  const test::ByteVector bytes = test::sparse_words<Word>(words, density, value, words);
  std::vector<T> x(n);
  std::memcpy(static_cast<void*>(x.data()), bytes.data(), bytes.size());
  return x;
}

template <class T>
class GpuLosslessSparse : public testing::Test {};
using Types = testing::Types<float, double, bf16, std::complex<float>, std::uint8_t>;
TYPED_TEST_SUITE(GpuLosslessSparse, Types);

TYPED_TEST(GpuLosslessSparse, IsWhatTheCpuWrites) {
  using T = TypeParam;
  shim::Gpu gpu(0);
  LosslessGpuCodec<T> codec(gpu);
  for (const double density : {0.001, 0.02, 0.17, 0.3, 0.7})
    for (const bool any_bits : {false, true})
      for (const unsigned distance : {0u, 1u, 7u}) {
        SCOPED_TRACE(testing::Message() << density << " " << any_bits << " distance " << distance);
        const std::vector<T> x = values_of<T>(density, any_bits);
        const auto cpu = lossless_cpu_frame(x, distance);
        ASSERT_TRUE(codec.encode(x, distance) == cpu);
        std::vector<T> y(x.size());
        ASSERT_EQ(codec.decode(cpu, y), 0u);
        ASSERT_EQ(std::memcmp(static_cast<const void*>(x.data()), y.data(), x.size() * sizeof(T)), 0);
      }
}

// Any bit of a frame of sparse records is flipped.
TYPED_TEST(GpuLosslessSparse, DamageIsRejectedAsOnTheCpu) {
  using T = TypeParam;
  shim::Gpu gpu(1);
  LosslessGpuCodec<T> codec(gpu);
  const std::vector<T> x = values_of<T>(0.02, false);
  const auto cpu = lossless_cpu_codec(0);
  const auto whole = lossless_cpu_frame(x, 0);
  std::mt19937_64 random(3);
  for (int round = 0; round < 150; ++round) {
    auto frame = whole;
    for (std::size_t k = 0; k < 1 + random() % 2; ++k)
      frame[frame_header_bytes + 24 + random() % (frame.size() - frame_header_bytes - 24)] ^=
          std::byte(1 << random() % 8);
    std::vector<T> expected(x.size()), found(x.size());
    const Status status = cpu->decode(frame, {expected.data(), x.size(), dtype_of<T>});
    ASSERT_EQ(codec.decode(frame, found) == 0, status == Status::ok) << round;
    if (status != Status::ok) continue;
    ASSERT_EQ(std::memcmp(static_cast<const void*>(expected.data()), found.data(), x.size() * sizeof(T)), 0);
  }
}

}  // namespace lossless_sparse_test
}  // namespace taut
