// Tests the calls of taut_cuda.h on frames with references.
#include <gtest/gtest.h>
#include <taut/taut_cuda.h>

#include "compressor/frame/references.hpp"
#include "gpu/kernels/patterns.hpp"
#include "support/on_gpu.hpp"

namespace taut {
namespace referenced_calls_test {

using test::OnGpu;

constexpr std::size_t n = 9001;
constexpr int invalid = static_cast<int>(Status::invalid_argument);
constexpr const char* coding = "abs:1e-3,predictor=delta";

struct ReferencedCalls : testing::Test {
  static std::vector<float> moved(const std::vector<float>& x, float by) {
    std::vector<float> y = x;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += by * static_cast<float>(i % 5);
    return y;
  }

  const std::vector<float> x = make<float>(Pattern::wave, n, 1), newest = moved(x, 1e-3f),
                           before = moved(x, 4e-3f);
  const OnGpu<float> values{x}, one{newest}, two{before}, back{n};
  const OnGpu<std::byte> frame{64 + 8 * n};
  const OnGpu<TAUT_Cuda_result> result{1};
  TAUT_Cuda_reference references[2] = {{one.data(), state_number_of({{newest.data(), n, DType::f32}})},
                                       {two.data(), state_number_of({{before.data(), n, DType::f32}})}};

  // The frame's type may be complex: half as many values.
  int encode(int given, const char* text = coding, DType type = DType::f32) const {
    return TAUT_Encode_with_references_enqueue(values.data(), count(type), static_cast<int>(type), text,
                                               references, given, frame.data(), frame.size(), result.data(),
                                               nullptr);
  }
  int decode(int given, const char* text = coding, DType type = DType::f32) const {
    return TAUT_Decode_with_references_enqueue(frame.data(), frame.size(), references, given, back.data(),
                                               count(type), static_cast<int>(type), text, result.data(),
                                               nullptr);
  }
  static std::size_t count(DType type) { return n / components_of(type); }
  TAUT_Cuda_result outcome() const { return result.read()[0]; }
  std::vector<std::byte> encoded() const { return frame.read(outcome().bytes); }

  // Returns the frame of the host's codec.
  std::vector<std::byte> of_host(std::size_t given, const char* predictor, DType type = DType::f32) const {
    const auto codec = cpu_codec({1e-3}, predictor);
    const Reference all[] = {{references[0].state, {{newest.data(), count(type), type}}},
                             {references[1].state, {{before.data(), count(type), type}}}};
    std::vector<std::byte> there(codec->max_bytes(type, count(type)));
    there.resize(codec->encode({{x.data(), count(type), type}}, std::span(all, given), there).bytes);
    return there;
  }
};

TEST_F(ReferencedCalls, WriteAndReadTheFramesOfTheHost) {
  for (const int given : {0, 1, 2}) {
    for (const DType type : {DType::f32, DType::c64}) {
      ASSERT_EQ(encode(given, coding, type), 0);
      ASSERT_EQ(outcome().status, 0u);
      const auto host = of_host(static_cast<std::size_t>(given), "delta", type);
      EXPECT_TRUE(encoded() == host) << given;
      EXPECT_EQ(static_cast<int>(host[46]), given);
      ASSERT_EQ(decode(given, coding, type), 0);
      ASSERT_EQ(outcome().status, 0u);
      const std::vector<float> decoded = back.read();
      for (std::size_t i = 0; i < count(type) * components_of(type); ++i)
        ASSERT_LE(std::abs(decoded[i] - x[i]), 1e-3f);
    }
  }
}

// Behind references most residuals are noise, which differences would double.
TEST_F(ReferencedCalls, TakeNoPredictorUnlessItIsNamed) {
  ASSERT_EQ(encode(1, "abs:1e-3"), 0);
  EXPECT_TRUE(encoded() == of_host(1, "none"));
  ASSERT_EQ(encode(0, "abs:1e-3"), 0);
  EXPECT_TRUE(encoded() == of_host(0, "delta"));
}

TEST_F(ReferencedCalls, CodeWithoutReferencesWhereTheyCannot) {
  for (const char* const text : {"abs:1e-3,predictor=delta+64", "lossless", "abs:1e-44"}) {
    ASSERT_EQ(encode(2, text), 0) << text;
    ASSERT_EQ(outcome().status, 0u) << text;
    EXPECT_EQ(frame.read()[46], std::byte{0}) << text;
    ASSERT_EQ(decode(2, text), 0) << text;
    EXPECT_EQ(outcome().status, 0u) << text;
  }
}

TEST_F(ReferencedCalls, RefuseOtherStates) {
  ASSERT_EQ(encode(2), 0);
  ASSERT_EQ(outcome().status, 0u);
  constexpr auto corrupt = static_cast<std::uint32_t>(Status::corrupt_frame);
  ASSERT_EQ(decode(1), 0);
  EXPECT_EQ(outcome().status, corrupt);
  references[1].state ^= std::uint64_t{1} << 40;
  ASSERT_EQ(decode(2), 0);
  EXPECT_EQ(outcome().status, corrupt);
  ASSERT_EQ(
      TAUT_Decode_enqueue(frame.data(), frame.size(), back.data(), n, 1, coding, result.data(), nullptr), 0);
  EXPECT_EQ(outcome().status, static_cast<std::uint32_t>(TAUT_ERR_CUDA_NEEDS_HOST));
}

TEST_F(ReferencedCalls, RefuseArraysThatKernelsCannotRead) {
  EXPECT_EQ(encode(3), invalid);
  EXPECT_EQ(encode(-1), invalid);
  EXPECT_EQ(decode(3), invalid);
  for (const void* const array :
       {static_cast<const void*>(nullptr), static_cast<const void*>(frame.data() + 2)}) {
    references[1].values = array;
    EXPECT_EQ(encode(1), 0);
    EXPECT_EQ(encode(2), invalid);
    EXPECT_EQ(decode(2), invalid);
  }
  EXPECT_EQ(TAUT_Encode_with_references_enqueue(values.data(), n, 1, coding, nullptr, 1, frame.data(),
                                                frame.size(), result.data(), nullptr),
            invalid);
  EXPECT_EQ(TAUT_Decode_with_references_enqueue(frame.data(), frame.size(), nullptr, 1, back.data(), n, 1,
                                                coding, result.data(), nullptr),
            invalid);
}

}  // namespace referenced_calls_test
}  // namespace taut
