// Tests the calls of taut_cuda.h on mpc frames: every type has kernels, and invalid arguments are reported.
#include <gtest/gtest.h>
#include <taut/taut_cuda.h>

#include "gpu/kernels/lossless_codec.hpp"
#include "support/on_gpu.hpp"

namespace taut {
namespace lossless_calls_test {

using test::OnGpu;

TAUT_Cuda_result taken(const OnGpu<TAUT_Cuda_result>& result) { return result.read()[0]; }

template <class T>
class CudaLosslessCalls : public testing::Test {};
using Types = testing::Types<float, double, f16, bf16, std::complex<float>, std::complex<double>, std::int8_t,
                             std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                             std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(CudaLosslessCalls, Types);

TYPED_TEST(CudaLosslessCalls, EncodeDecodeAndAdd) {
  using T = TypeParam;
  constexpr int type = static_cast<int>(dtype_of<T>);
  constexpr std::size_t n = 3001;
  const auto x = lossless_values<T>(Pattern::walk, n);
  const auto cpu = lossless_cpu_frame(x, 2);
  const OnGpu<T> values(x), to(n);
  const OnGpu<std::byte> frame(frame_header_bytes + n * sizeof(T));
  const OnGpu<TAUT_Cuda_result> result(1);
  constexpr const char* coding = "lossless,codec=mpc,predictor=d2";
  ASSERT_EQ(
      TAUT_Encode_enqueue(values.data(), n, type, coding, frame.data(), frame.size(), result.data(), nullptr),
      0);
  ASSERT_EQ(taken(result).bytes, cpu.size());
  EXPECT_TRUE(frame.read(cpu.size()) == cpu);
  ASSERT_EQ(TAUT_Decode_enqueue(frame.data(), cpu.size(), to.data(), n, type, coding, result.data(), nullptr),
            0);
  EXPECT_EQ(taken(result).status, 0u);
  EXPECT_EQ(std::memcmp(static_cast<const void*>(to.read().data()), x.data(), n * sizeof(T)), 0);
  ASSERT_EQ(
      TAUT_Decode_add_enqueue(frame.data(), cpu.size(), to.data(), n, type, coding, result.data(), nullptr),
      0);
  EXPECT_EQ(taken(result).status, 0u);
  std::vector<T> twice = x;
  ASSERT_EQ(lossless_cpu_codec(2)->reduce(cpu, {twice.data(), n, dtype_of<T>}, Reduction::sum), Status::ok);
  EXPECT_EQ(std::memcmp(static_cast<const void*>(to.read().data()), twice.data(), n * sizeof(T)), 0);
}

// Rounds the mantissas of numbers, not those of packed integers.
template <class T>
class CudaLosslessPackedIntegers : public testing::Test {};
using Floats = testing::Types<float, double, f16>;
TYPED_TEST_SUITE(CudaLosslessPackedIntegers, Floats);

TYPED_TEST(CudaLosslessPackedIntegers, AreExact) {
  using T = TypeParam;
  constexpr std::size_t n = 3001;
  auto x = lossless_values<T>(Pattern::walk, n);
  using Word = mpc::cuda::WordOf<sizeof(T)>;
  for (std::size_t i = 0; i < n; i += 3)
    x[i] = std::bit_cast<T>(static_cast<Word>((Word{1} << (8 * sizeof(T) - 7)) + i));
  const auto cpu = lossless_cpu_frame(x, 2, 1e-2, PackedBits::exact);
  const OnGpu<T> values(x);
  const OnGpu<std::byte> frame(frame_header_bytes + n * sizeof(T));
  const OnGpu<TAUT_Cuda_result> result(1);
  const auto encode = [&](int exact_bits) {
    const char* const coding =
        exact_bits != 0 ? "pwrel:1e-2,predictor=d2,bits=exact" : "pwrel:1e-2,predictor=d2";
    EXPECT_EQ(TAUT_Encode_enqueue(values.data(), n, static_cast<int>(dtype_of<T>), coding, frame.data(),
                                  frame.size(), result.data(), nullptr),
              0);
    return frame.read(taken(result).bytes);
  };
  EXPECT_EQ(encode(1) == cpu, true);
  EXPECT_EQ(encode(0) == lossless_cpu_frame(x, 2, 1e-2), true);
  EXPECT_EQ(encode(1) == encode(0), sizeof(T) == 2);
}

TEST(CudaLosslessMistakes, AreTold) {
  const OnGpu<double> values(100);
  const OnGpu<std::byte> frame(864);
  const OnGpu<TAUT_Cuda_result> result(1);
  const auto encode = [&](std::size_t count, int type, const char* coding, std::size_t capacity) {
    return TAUT_Encode_enqueue(values.data(), count, type, coding, frame.data(), capacity, result.data(),
                               nullptr);
  };
  const auto of = [](Status status) { return static_cast<int>(status); };
  EXPECT_EQ(encode(100, 2, "lossless", 864), 0);
  EXPECT_EQ(encode(100, 2, "lossless,predictor=d9", 864), of(Status::invalid_policy));
  EXPECT_EQ(encode(100, 2, "lossless", 863), of(Status::buffer_too_small));
  EXPECT_EQ(encode(100, 0, "lossless", 864), of(Status::invalid_type));
  EXPECT_EQ(encode(mpc::max_count + 1, 2, "lossless", 864), of(Status::invalid_count));
  EXPECT_EQ(encode(100, 2, "pwrel:0.5", 864), 0);
  EXPECT_EQ(encode(100, 13, "pwrel:0.5", 864), 0) << "integers are coded without loss";
  EXPECT_EQ(encode(100, 2, "pwrel:-1", 864), of(Status::invalid_policy));
  const auto decode = [&](const void* from, void* to, std::size_t count) {
    return TAUT_Decode_add_enqueue(from, 864, to, count, 2, "lossless", result.data(), nullptr);
  };
  EXPECT_EQ(decode(nullptr, values.data(), 100), of(Status::invalid_argument));
  EXPECT_EQ(decode(frame.data(), nullptr, 100), of(Status::invalid_argument));
  EXPECT_EQ(decode(frame.data() + 4, values.data(), 100), of(Status::invalid_argument));
  EXPECT_EQ(decode(frame.data(), reinterpret_cast<std::byte*>(values.data()) + 4, 99),
            of(Status::invalid_argument));
}

}  // namespace lossless_calls_test
}  // namespace taut
