// Tests of the counts of the ways that chunks of sums take.
#include "compressor/frame/sum_pipelines.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "compressor/frame/codec.hpp"

namespace taut {
namespace {

constexpr std::size_t chunk = 4096, chunks = 4;
using Floats = std::vector<float>;

Floats constant() { return Floats(chunks * chunk, 3.0F); }
Floats wave() {
  Floats values(chunks * chunk);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(0.01F * static_cast<float>(i));
  return values;
}
Floats with_holes() {
  Floats values = wave();
  for (std::size_t i = 0; i < chunks; ++i) values[i * chunk + 7] = std::numeric_limits<float>::quiet_NaN();
  return values;
}

class SumPipelinesOf : public testing::TestWithParam<int> {
 protected:
  using Bytes = std::vector<std::byte>;
  static ConstSlice slice(const Floats& values) { return {{values.data(), values.size(), DType::f32}}; }
  Bytes encoded(const Floats& values) const {
    Bytes frame(codec_->max_bytes(DType::f32, values.size()));
    frame.resize(codec_->encode(slice(values), frame).bytes);
    return frame;
  }
  SumPipelines of_frames(const Floats& a, const Floats& b) const {
    const Bytes frames[] = {encoded(a), encoded(b)};
    const ConstBytes operands[] = {frames[0], frames[1]};
    Bytes sum(codec_->max_bytes(DType::f32, a.size(), 2));
    const SumPipelines before = sum_pipelines();
    EXPECT_EQ(codec_->arithmetic()->sum(operands, sum).status, Status::ok);
    return sum_pipelines() - before;
  }
  SumPipelines of_values(const Floats& a, const Floats& b) const {
    const Bytes frame = encoded(a);
    Bytes sum(codec_->max_bytes(DType::f32, a.size(), 2));
    const SumPipelines before = sum_pipelines();
    EXPECT_EQ(codec_->arithmetic()->accumulate(frame, slice(b), sum).status, Status::ok);
    return sum_pipelines() - before;
  }
  static void expect(const SumPipelines& counts, std::uint64_t SumPipelines::*way) {
    EXPECT_EQ(counts.*way, chunks);
    EXPECT_EQ(counts.chunks(), chunks);
  }

  std::unique_ptr<Codec> codec_ =
      find_codec("planes")->make({.bound = 1e-3, .predictor = "delta", .threads = GetParam()});
};

TEST_P(SumPipelinesOf, FramesAreCountedByTheOperandsThatAreNotConstant) {
  expect(of_frames(constant(), constant()), &SumPipelines::constant);
  expect(of_frames(wave(), constant()), &SumPipelines::copied);
  expect(of_frames(wave(), wave()), &SumPipelines::added);
  expect(of_frames(wave(), with_holes()), &SumPipelines::general);
}

TEST_P(SumPipelinesOf, AFrameAndValuesAreCountedLikewise) {
  expect(of_values(constant(), constant()), &SumPipelines::constant);
  expect(of_values(constant(), wave()), &SumPipelines::copied);
  expect(of_values(wave(), wave()), &SumPipelines::added);
  expect(of_values(wave(), with_holes()), &SumPipelines::general);
}

INSTANTIATE_TEST_SUITE_P(Threads, SumPipelinesOf, testing::Values(1, 3));

}  // namespace
}  // namespace taut
