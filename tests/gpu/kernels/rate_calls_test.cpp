// Tests the calls of taut_cuda.h at a rate, on the shim: the arguments that they accept, and that frames
// equal the CPU's.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <taut/taut_cuda.h>

#include "compressor/frame/coding.hpp"
#include "gpu/kernels/patterns.hpp"
#include "gpu/kernels/rate_cpu.hpp"
#include "gpu/kernels/shim_launcher.hpp"

namespace taut {
namespace rate_calls_test {

constexpr int f32 = static_cast<int>(DType::f32);
int code(Status status) { return static_cast<int>(status); }

struct RateCalls : testing::Test {
  const Dims dims{{9, 14, 11}, 3};
  std::vector<float> x = make<float>(Pattern::sprinkled, dims.count(), 1), y = std::vector<float>(x.size());
  Room frame{64 + 4 * (3 + 1) + 4 * x.size()};
  TAUT_Cuda_result result{};

  // Waits for the kernels of a call. Returns its status.
  static int done(int status) {
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
    return status;
  }
  static std::string coding(double rate, const char* options = ",dims=9x14x11") {
    return text_of(Bound(Bound::Kind::rate, rate)) + options;
  }
  int encode(const std::string& text, std::size_t capacity, int type = f32) {
    return done(TAUT_Encode_enqueue(x.data(), x.size(), type, text.c_str(), frame.data(), capacity, &result,
                                    nullptr));
  }
  int decode(const std::string& text = coding(8), int type = f32) {
    return done(TAUT_Decode_enqueue(frame.data(), result.bytes, y.data(), y.size(), type, text.c_str(),
                                    &result, nullptr));
  }
};

TEST_F(RateCalls, GiveTheFramesOfTheCpu) {
  ASSERT_EQ(TAUT_Cuda_reserve(x.size(), f32, coding(8).c_str(), nullptr), 0);
  for (const double rate : {0.5, 8.0, 64.0}) {
    const auto cpu = rate_cpu_frame(x, rate, dims);
    ASSERT_EQ(encode(coding(rate), frame.size()), 0);
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
  EXPECT_EQ(encode(coding(0), frame.size()), code(Status::invalid_policy));
  EXPECT_EQ(encode(coding(65), frame.size()), code(Status::invalid_policy));
  EXPECT_EQ(encode(coding(8, ",dims=3x3x7x2x11"), frame.size()), code(Status::invalid_policy));
  EXPECT_EQ(encode(coding(8, ",dims="), frame.size()), code(Status::invalid_policy));
  EXPECT_EQ(encode(coding(8), frame.size() - 1), code(Status::buffer_too_small));
  EXPECT_EQ(encode(coding(8), frame.size(), static_cast<int>(DType::f16)), code(Status::invalid_policy));
  EXPECT_EQ(encode(coding(8), frame.size()), 0);
  EXPECT_EQ(decode(coding(8, ",dims=14x9x11")), 0);
  EXPECT_EQ(result.status, unsigned{TAUT_ERR_CUDA_NEEDS_HOST});
}

// Covers an array of one extent, at a rate of at least 7.
TEST_F(RateCalls, NeedNoMoreRoomThanAFrameTakes) {
  const std::size_t bytes = rate_cpu_frame(x, 8).size();
  EXPECT_EQ(encode(coding(8, ""), bytes - 1), code(Status::buffer_too_small));
  EXPECT_EQ(encode(coding(8, ""), bytes), 0);
  EXPECT_EQ(result.bytes, bytes);
}

}  // namespace rate_calls_test
}  // namespace taut
