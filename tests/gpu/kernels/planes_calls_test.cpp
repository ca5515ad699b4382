// Tests the arguments that the calls of taut_cuda.h on planes frames refuse. Kernels that accessed such
// memory would end the CUDA context of the program.
#include <gtest/gtest.h>
#include <taut/taut_cuda.h>

#include "gpu/kernels/patterns.hpp"
#include "support/on_gpu.hpp"

namespace taut {
namespace planes_calls_test {

using test::OnGpu;

constexpr std::size_t n = 5000;
constexpr int f64 = static_cast<int>(DType::f64);
constexpr int invalid = static_cast<int>(Status::invalid_argument);

std::byte* bytes(const void* at) { return static_cast<std::byte*>(const_cast<void*>(at)); }
template <class T>
T* shifted(T* at, std::size_t by) {
  return reinterpret_cast<T*>(bytes(at) + by);
}

struct PlanesCalls : testing::Test {
  const OnGpu<double> values{make<double>(Pattern::walk, n, 1)};
  const OnGpu<std::byte> frame{64 + 16 * n}, sum{64 + 32 * n};
  const OnGpu<TAUT_Cuda_result> result{2};

  int encode(const double* from, TAUT_Cuda_result* to,
             const char* coding = "abs:1e-3,predictor=delta") const {
    return TAUT_Encode_enqueue(from, n, f64, coding, frame.data(), frame.size(), to, nullptr);
  }
  int encode_lagged(const double* from, TAUT_Cuda_result* to) const {
    return encode(from, to, "abs:1e-3,predictor=delta+64");
  }
  int accumulate(const double* from) const {
    return TAUT_Frame_accumulate_enqueue(frame.data(), frame.size(), from, n, f64, "abs:1e-3,predictor=delta",
                                         sum.data(), sum.size(), result.data(), nullptr);
  }
};

TEST_F(PlanesCalls, RefuseValuesThatAreNotAligned) {
  double* const odd = shifted(values.data(), 4);
  EXPECT_EQ(encode(values.data(), result.data()), 0);
  EXPECT_EQ(encode(odd, result.data()), invalid);
  EXPECT_EQ(encode_lagged(values.data(), result.data()), 0);
  EXPECT_EQ(encode_lagged(odd, result.data()), invalid);
  EXPECT_EQ(accumulate(values.data()), 0);
  EXPECT_EQ(accumulate(odd), invalid);
}

TEST_F(PlanesCalls, RefuseAResultThatIsNotAligned) {
  TAUT_Cuda_result* const odd = shifted(result.data(), 4);
  EXPECT_EQ(encode(values.data(), odd), invalid);
  EXPECT_EQ(encode_lagged(values.data(), odd), invalid);
  EXPECT_EQ(TAUT_Decode_enqueue(frame.data(), frame.size(), values.data(), n, f64, "abs:1e-3", odd, nullptr),
            invalid);
  EXPECT_EQ(encode(values.data(), odd, "lossless"), invalid);
  if (find_codec("zfp") != nullptr) {
    EXPECT_EQ(encode(values.data(), odd, "rate:8"), invalid);
  }
}

// The text of a coding means what it means on the host, but for what would have to be read back.
TEST_F(PlanesCalls, RefuseCodingsThatNoKernelServes) {
  constexpr int policy = static_cast<int>(Status::invalid_policy);
  const auto why = [] {
    const char* text = "";
    EXPECT_EQ(TAUT_Cuda_available(&text), 1);
    return std::string(text);
  };
  EXPECT_EQ(encode(values.data(), result.data(), nullptr), invalid);
  EXPECT_EQ(encode(values.data(), result.data(), "abs:-1"), policy);
  EXPECT_NE(why().find("give a bound above 0"), std::string::npos) << why();
  EXPECT_EQ(encode(values.data(), result.data(), "rel:1e-3"), policy);
  EXPECT_NE(why().find("give abs:E"), std::string::npos) << why();
  for (const char* const coding : {"abs:1e-3,codec=szx", "abs:1e-3,checksum=on", "lossless,codec=raw"}) {
    EXPECT_EQ(encode(values.data(), result.data(), coding), policy) << coding;
    EXPECT_NE(why().find("no kernel codes values of type"), std::string::npos) << why();
  }
  const void* const frames[] = {frame.data()};
  const std::size_t bytes[] = {frame.size()};
  EXPECT_EQ(TAUT_Frame_add_enqueue(frames, bytes, 1, n, f64, "lossless", sum.data(), sum.size(),
                                   result.data(), nullptr),
            policy);
  EXPECT_NE(why().find("no kernel adds frames of codec mpc"), std::string::npos) << why();
  EXPECT_EQ(TAUT_Cuda_reserve(n, f64, "rel:1e-3", nullptr), policy);
}

// Without predictor= a call takes the codec's usual one, as the host does for short arrays: nothing is
// sampled.
TEST_F(PlanesCalls, TakeTheUsualPredictor) {
  const auto frame_of = [&](const char* coding) {
    EXPECT_EQ(encode(values.data(), result.data(), coding), 0) << coding;
    return frame.read(result.read()[0].bytes);
  };
  EXPECT_TRUE(frame_of("abs:1e-3") == frame_of("abs:1e-3,codec=planes,predictor=delta"));
  EXPECT_TRUE(frame_of("lossless") == frame_of("lossless,codec=mpc,predictor=d1"));
  EXPECT_FALSE(frame_of("abs:1e-3") == frame_of("abs:1e-3,predictor=none"));
}

}  // namespace planes_calls_test
}  // namespace taut
