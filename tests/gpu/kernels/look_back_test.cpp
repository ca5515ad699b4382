// Tests many chunks in flight in all orders, slots, and frames that do not fit.
#include <gtest/gtest.h>

#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"

namespace taut {
namespace look_back_test {

using namespace planes;

TEST(GpuLookBack, GivesTheSameFrameInWhateverOrderBlocksRun) {
  constexpr std::size_t n = 200000;
  const auto x = make<float>(Pattern::mixed, n, 3);
  const auto cpu = cpu_frame<float>(x, {1e-3}, Predictor::delta);
  for (const unsigned at_once : {1u, 2u, 7u}) {
    shim::Gpu gpu(at_once, at_once);
    GpuCodec<float> codec(gpu, {1e-3}, Predictor::delta);
    for (int launch = 0; launch < 3; ++launch)
      ASSERT_EQ(codec.encode(x) == cpu, true);  // the scratch memory was used before
    EXPECT_EQ(gpu.pauses() > 0, at_once > 1);
  }
}

TEST(GpuLookBack, ServesAMillionValues) {
  constexpr std::size_t n = 1000003;
  const auto x = make<float>(Pattern::walk, n, 3);
  shim::Gpu gpu(1);
  GpuCodec<float> codec(gpu, {1e-3}, Predictor::second);
  const auto frame = cpu_frame<float>(x, {1e-3}, Predictor::second);
  ASSERT_EQ(codec.encode(x) == frame, true);
  std::vector<float> y(n), cpu(n);
  ASSERT_EQ(codec.decode(frame, y), 0u);
  ASSERT_EQ(cpu_codec({1e-3}, Predictor::second)->decode(frame, {cpu.data(), n, DType::f32}), Status::ok);
  EXPECT_EQ(y == cpu, true);
}

TEST(GpuSlots, HoldTheRecordsOfTheFrame) {
  constexpr std::size_t n = 40001;
  const auto x = make<float>(Pattern::mixed, n, 3);
  const auto frame = cpu_frame<float>(x, {1e-3}, Predictor::delta);
  shim::Gpu gpu(1);
  GpuCodec<float> codec(gpu, {1e-3}, Predictor::delta);
  const auto slots = codec.encode_to_slots(x, planes::cuda::whole_slot_words<float>());
  EXPECT_EQ(codec.result().status, 0u);
  const std::size_t chunks = chunks_of(n);
  std::size_t at = frame_header_bytes + 4 * (chunks + 1);
  for (std::size_t i = 0; i < chunks; ++i) {
    const std::size_t bytes = 4 * slots.words[i];
    ASSERT_LE(at + bytes, frame.size());
    ASSERT_EQ(std::memcmp(slots.slots.data() + i * planes::cuda::whole_slot_words<float>(), frame.data() + at,
                          bytes),
              0);
    at += bytes;
  }
  EXPECT_EQ(at, frame.size());
  EXPECT_EQ(codec.sum_of_slots(slots, n, 2 * frame.size()) == frame, true);
}

// Data that a collective call gathers: the chunks of a sub-range, packed into a frame with a table.
TEST(GpuSlots, OfSomeChunksBecomeTheFrameOfTheirValues) {
  const auto x = make<float>(Pattern::mixed, 40001, 3);
  shim::Gpu gpu(1);
  GpuCodec<float> codec(gpu, {1e-3}, Predictor::delta);
  const auto all = codec.encode_to_slots(x, planes::cuda::whole_slot_words<float>());
  constexpr std::size_t first = 3, chunks = 5, n = chunks * chunk_values;
  const auto words = all.words.begin() + first, slots = all.slots.begin() + first * all.slot_words;
  const std::vector<float> values(x.begin() + first * chunk_values, x.begin() + first * chunk_values + n);
  const auto frame = cpu_frame<float>(values, {1e-3}, Predictor::delta);
  EXPECT_EQ(
      codec.sum_of_slots({{words, words + chunks}, {slots, slots + chunks * all.slot_words}, all.slot_words},
                         n, 2 * frame.size()) == frame,
      true);
}

TEST(GpuSlots, ThatAreTooSmallAreReported) {
  const auto x = make<float>(Pattern::bits, 9000, 3);
  shim::Gpu gpu(1);
  GpuCodec<float> codec(gpu, {1e-3}, Predictor::delta);
  codec.encode_to_slots(x, 100);
  EXPECT_EQ(codec.result().status, static_cast<std::uint32_t>(Status::buffer_too_small));
  codec.encode_to_slots(make<float>(Pattern::wave, 9000, 3), 3000);
  EXPECT_EQ(codec.result().status, 0u) << "what the call before left";
}

TEST(GpuSum, ThatDoesNotFitIsReported) {
  const auto frame = cpu_frame<float>(make<float>(Pattern::mixed, 20000, 3), {1e-3}, Predictor::delta);
  shim::Gpu gpu(1);
  GpuCodec<float> codec(gpu, {1e-3}, Predictor::delta);
  for (const std::size_t less : {std::size_t{4}, frame.size() / 2, frame.size() - 100}) {
    codec.sum({frame, frame}, 20000, frame.size() - less);
    EXPECT_EQ(codec.result().status, static_cast<std::uint32_t>(Status::buffer_too_small));
  }
}

}  // namespace look_back_test
}  // namespace taut
