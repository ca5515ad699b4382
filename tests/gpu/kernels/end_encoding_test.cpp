// Tests the end of an encoding: the blocks that start last close the frame, so that one kernel is enough.
#include <gtest/gtest.h>

#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/lossless_codec.hpp"

namespace taut {
namespace end_encoding_test {

using namespace planes;

// More than 32 chunks, so that two blocks or more close the frame.
constexpr std::size_t n = 40 * chunk_values + 77;

// Puts values that have integers into one chunk.
void tame(std::vector<float>& x, std::size_t chunk) {
  for (std::size_t i = chunk * chunk_values; i < std::min(n, (chunk + 1) * chunk_values); ++i)
    x[i] = 0.25F * static_cast<float>(i % 5);
}

void expect_cpu_frame(const std::vector<float>& x, const Bound& bound) {
  const auto cpu = cpu_frame<float>(x, bound, Predictor::delta);
  for (const unsigned at_once : {1u, 2u, 7u}) {
    SCOPED_TRACE(at_once);
    shim::Gpu gpu(at_once, at_once);
    GpuCodec<float> codec(gpu, bound, Predictor::delta);
    for (int call = 0; call < 2; ++call) EXPECT_TRUE(codec.encode(x) == cpu);
    EXPECT_EQ(codec.launches(), 2u);
  }
}

TEST(GpuEndOfEncoding, StoresAFrameOfLayers) {
  expect_cpu_frame(make<float>(Pattern::bits, n, 1), {1e-3});
  expect_cpu_frame(make<float>(Pattern::bits, n, 2), {Bound::Kind::snap, 1e-2});
}

TEST(GpuEndOfEncoding, KeepsTheRecordsIfOneChunkIsNoLayer) {
  for (const std::size_t chunk : {0u, 17u, 40u}) {
    SCOPED_TRACE(chunk);
    std::vector<float> x = make<float>(Pattern::bits, n, 3);
    tame(x, chunk);
    expect_cpu_frame(x, {1e-3});
  }
}

TEST(GpuEndOfEncoding, StoresValuesWhoseBoundCannotBeCoded) {
  expect_cpu_frame(make<float>(Pattern::walk, n, 1), {1e-300});
  expect_cpu_frame({}, {1e-3});
}

TEST(GpuEndOfEncoding, StoresLosslessFramesThatWouldBeLonger) {
  constexpr std::size_t words = 300 * mpc::chunk_bytes / sizeof(float) + 5;
  for (const Pattern pattern : {Pattern::bits, Pattern::wave}) {
    const auto x = lossless_values<float>(pattern, words);
    const auto cpu = lossless_cpu_frame(x, 1);
    for (const unsigned at_once : {1u, 5u}) {
      shim::Gpu gpu(at_once, at_once);
      LosslessGpuCodec<float> codec(gpu);
      for (int call = 0; call < 2; ++call) EXPECT_TRUE(codec.encode(x, 1) == cpu);
    }
  }
}

// Kernels of each call.
TEST(GpuLaunches, AreFewAsDocumented) {
  const auto x = make<float>(Pattern::mixed, 9000, 3);
  const auto frame = cpu_frame<float>(x, {1e-3}, Predictor::delta);
  shim::Gpu gpu(1);
  GpuCodec<float> codec(gpu, {1e-3}, Predictor::delta);
  std::vector<float> y(x.size());
  const auto launches_of = [&](auto call) {
    const unsigned before = codec.launches();
    call();
    EXPECT_EQ(codec.result().done, 1u);
    return codec.launches() - before;
  };
  EXPECT_EQ(launches_of([&] { codec.encode(x); }), 1u);
  EXPECT_EQ(launches_of([&] { codec.encode_to_slots(x, planes::cuda::whole_slot_words<float>()); }), 1u);
  EXPECT_EQ(launches_of([&] { codec.encode_lagged(x, {{90}, 1}); }), 4u);
  EXPECT_EQ(launches_of([&] { codec.decode(frame, y); }), 2u);
  EXPECT_EQ(launches_of([&] { codec.decode_lagged(frame, y); }), 9u);
  EXPECT_EQ(launches_of([&] { codec.sum({frame, frame}, x.size(), 2 * frame.size()); }), 2u);
  EXPECT_EQ(launches_of([&] { codec.accumulate(frame, x, 2 * frame.size()); }), 3u);
}

}  // namespace end_encoding_test
}  // namespace taut
