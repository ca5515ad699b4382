// Tests the calls of taut_cuda.h at a rate, on the shim: the arguments that they accept, and that frames
// equal the CPU's.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <taut/taut_cuda.h>

#include "gpu/kernels/patterns.hpp"
#include "gpu/kernels/rate_cpu.hpp"
#include "gpu/kernels/shim_launcher.hpp"

namespace taut {
namespace rate_calls_test {

constexpr int f32 = static_cast<int>(DType::f32);
int code(Status status) { return static_cast<int>(status); }

struct RateCalls : testing::Test {
  static constexpr std::size_t extents[] = {9, 14, 11};
  const Dims dims{{9, 14, 11}, 3};
  std::vector<float> x = make<float>(Pattern::sprinkled, dims.count(), 1), y = std::vector<float>(x.size());
  Room frame{64 + 4 * (3 + 1) + 4 * x.size()};
  TAUT_Cuda_result result{};

  // Waits for the kernels of a call. Returns its status.
  static int done(int status) {
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    return status;
  }
  int encode(double rate, std::size_t capacity, const std::size_t* of = extents, int n = 3, int type = f32) {
    return done(TAUT_Encode_rate_cuda(x.data(), of, n, type, rate, frame.data(), capacity, &result, nullptr));
  }
  int decode(const std::size_t* of = extents, int n = 3, int type = f32) {
    return done(TAUT_Decode_rate_cuda(frame.data(), result.bytes, y.data(), of, n, type, &result, nullptr));
  }
};

TEST_F(RateCalls, GiveTheFramesOfTheCpu) {
  ASSERT_EQ(TAUT_Cuda_reserve(x.size(), f32, nullptr), 0);
  for (const double rate : {0.5, 8.0, 64.0}) {
    const auto cpu = rate_cpu_frame(x, rate, dims);
    ASSERT_EQ(encode(rate, frame.size()), 0);
    ASSERT_EQ(result.status, 0u);
    ASSERT_EQ(result.done, 1u);
    ASSERT_EQ(result.bytes, cpu.size());
    ASSERT_EQ(std::memcmp(frame.data(), cpu.data(), cpu.size()), 0);
    std::vector<float> expected(x.size());
    ASSERT_EQ(rate_cpu_codec(rate)->decode(cpu, {expected.data(), x.size(), DType::f32}), Status::ok);
    ASSERT_EQ(decode(), 0);
    ASSERT_EQ(result.status, 0u);
    ASSERT_EQ(std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)), 0);
  }
}

TEST_F(RateCalls, RefuseWhatTheyCannotServe) {
  const std::size_t five[] = {3, 3, 7, 2, 11}, others[] = {14, 9, 11}, many[] = {1 << 20, 1 << 20};
  EXPECT_EQ(encode(0, frame.size()), code(Status::invalid_argument));
  EXPECT_EQ(encode(65, frame.size()), code(Status::invalid_argument));
  EXPECT_EQ(encode(NAN, frame.size()), code(Status::invalid_argument));
  EXPECT_EQ(encode(8, frame.size(), nullptr), code(Status::invalid_argument));
  EXPECT_EQ(encode(8, frame.size(), extents, 0), code(Status::invalid_argument));
  EXPECT_EQ(encode(8, frame.size(), five, 5), code(Status::invalid_argument));
  EXPECT_EQ(encode(8, frame.size(), many, 2), code(Status::invalid_count));
  EXPECT_EQ(encode(8, frame.size() - 1), code(Status::buffer_too_small));
  EXPECT_EQ(encode(8, frame.size(), extents, 3, static_cast<int>(DType::f16)), code(Status::invalid_type));
  EXPECT_EQ(encode(8, frame.size()), 0);
  EXPECT_EQ(decode(extents, 3, static_cast<int>(DType::i32)), code(Status::invalid_type));
  EXPECT_EQ(decode(others), 0);
  EXPECT_EQ(result.status, unsigned{TAUT_ERR_CUDA_NEEDS_HOST});
}

// Covers an array of one extent, at a rate of at least 7.
TEST_F(RateCalls, NeedNoMoreRoomThanAFrameTakes) {
  const std::size_t n = x.size(), bytes = rate_cpu_frame(x, 8).size();
  EXPECT_EQ(encode(8, bytes - 1, &n, 1), code(Status::buffer_too_small));
  EXPECT_EQ(encode(8, bytes, &n, 1), 0);
  EXPECT_EQ(result.bytes, bytes);
}

}  // namespace rate_calls_test
}  // namespace taut
