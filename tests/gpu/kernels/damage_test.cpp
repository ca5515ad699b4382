// Tests damaged planes frames: kernels read and write nothing out of bounds, and reject what the CPU rejects.
#include <gtest/gtest.h>

#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"
#include "gpu/kernels/seal.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace damage_test {

using namespace planes;

template <class T>
void compare(shim::Gpu& gpu, const Codec& cpu, const std::vector<std::byte>& frame, std::size_t n) {
  std::vector<T> expected(n), there(n);
  const Status status = cpu.decode(frame, {expected.data(), n, dtype_of<T>});
  GpuCodec<T> codec(gpu, {1e-3}, Predictor::delta);
  const auto agrees = [&](std::uint32_t found) {
    if (found == planes::cuda::needs_host) return;
    ASSERT_EQ(found == 0, status == Status::ok) << found << " for " << static_cast<int>(status);
    if (status == Status::ok && n > 0) {
      ASSERT_EQ(std::memcmp(there.data(), expected.data(), n * sizeof(T)), 0);
    }
  };
  agrees(codec.decode(frame, there));
  agrees(codec.decode_lagged(frame, there));
  codec.sum({frame, frame}, n, 20 * frame.size());
  if (codec.result().status == planes::cuda::needs_host) return;
  ASSERT_EQ(codec.result().status == 0, status == Status::ok);
}

template <class T>
void damage(Pattern pattern, int rounds, const char* prediction = "delta") {
  constexpr std::size_t n = 5000;
  shim::Gpu gpu(2);
  const auto cpu = cpu_codec({1e-3}, Predictor::delta);
  std::mt19937_64 random(static_cast<unsigned>(pattern));
  const auto whole = cpu_frame<T>(make<T>(pattern, n, 1), {1e-3}, prediction);
  for (int round = 0; round < rounds; ++round) {
    auto frame = whole;
    const std::size_t reach = round % 3 == 0 ? std::min<std::size_t>(frame.size(), 120) : frame.size();
    for (std::size_t k = 0; k < 1 + random() % 3; ++k)
      frame[random() % reach] ^= std::byte(1 << random() % 8);
    if (round % 8 == 7) frame.resize(64 + random() % (frame.size() - 64));
    if (round % 5 != 0) seal(frame);
    if (!test::is_sampled()) continue;
    SCOPED_TRACE(testing::Message() << name_of(pattern) << " round " << round);
    compare<T>(gpu, *cpu, frame, n);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(GpuDamage, OfF32) {
  for (const Pattern p : {Pattern::wave, Pattern::walk, Pattern::masked, Pattern::mixed, Pattern::bits})
    damage<float>(p, 120);
}
TEST(GpuDamage, OfF64) {
  for (const Pattern p : {Pattern::tail, Pattern::sprinkled, Pattern::mixed}) damage<double>(p, 60);
}
TEST(GpuDamage, OfF16) {
  for (const Pattern p : {Pattern::tail, Pattern::sprinkled}) damage<f16>(p, 60);
}
TEST(GpuDamage, OfF32WithLags) {
  damage<float>(Pattern::wave, 120, "delta+64");
  damage<float>(Pattern::masked, 120, "second+100+1000");
}
TEST(GpuDamage, OfF64WithLags) { damage<double>(Pattern::masked, 60, "none+70+80"); }

TEST(GpuDamage, OfBoundAndStep) {
  shim::Gpu gpu(2);
  const auto cpu = cpu_codec({1e-3}, Predictor::delta);
  for (const Pattern pattern : {Pattern::wave, Pattern::bits}) {
    const auto whole = cpu_frame<float>(make<float>(pattern, 500, 1), {1e-3}, "delta");
    for (const std::size_t field : {16, 24}) {
      for (const double value : {-0.0, 0.0, -1.0, 0x1p-133, 0x1p127}) {
        auto frame = whole;
        std::memcpy(frame.data() + field, &value, sizeof value);
        seal(frame);
        SCOPED_TRACE(testing::Message() << name_of(pattern) << ", byte " << field << " is " << value);
        compare<float>(gpu, *cpu, frame, 500);
      }
    }
  }
}

// No block processes a chunk, so the index is checked when the frame is opened.
TEST(GpuDamage, OfEmptyFrames) {
  shim::Gpu gpu(3);
  const auto cpu = cpu_codec({1e-3}, Predictor::delta);
  const auto whole = cpu_frame<float>(std::vector<float>(1), {1e-3}, Predictor::delta);
  for (const std::uint32_t first : {0u, 1u}) {
    for (const std::size_t words : {0u, 1u, 2u}) {
      auto frame = whole;
      frame.resize(frame_header_bytes + 4 * words);
      const std::uint64_t count = 0, bytes = 4 * words;
      std::memcpy(frame.data() + 8, &count, 8);
      std::memcpy(frame.data() + 32, &bytes, 8);
      std::fill(frame.begin() + frame_header_bytes, frame.end(), std::byte{0});
      if (words > 0) std::memcpy(frame.data() + frame_header_bytes, &first, 4);
      frame[7] = std::byte{0};  // not stored
      seal(frame);
      SCOPED_TRACE(testing::Message() << words << " words, " << first);
      compare<float>(gpu, *cpu, frame, 0);
    }
  }
}

// An addend has at most one run for each of its values. More would cost a decoder hours, since each run may
// cover the whole chunk.
TEST(GpuDamage, OfMoreRunsThanTheAddendsHave) {
  constexpr std::size_t n = 64, at = frame_header_bytes + 8;
  const auto cpu = cpu_codec({1e-3}, Predictor::delta);
  const auto whole = cpu_frame<float>(std::vector<float>(n), {1e-3}, Predictor::delta);
  for (const std::uint32_t addends : {1u, 3u}) {
    for (const std::uint32_t runs : {64 * addends, 64 * addends + 1}) {
      auto frame = whole;
      const std::uint32_t head[] = {has_runs, 0, runs}, words = 3 + 3 * runs;
      const std::uint64_t bytes = 4 * (2 + std::uint64_t{words});
      frame.resize(frame_header_bytes + bytes);
      std::memcpy(frame.data() + 32, &bytes, 8);
      std::memcpy(frame.data() + 40, &addends, 4);
      std::memcpy(frame.data() + frame_header_bytes + 4, &words, 4);
      std::memcpy(frame.data() + at, head, sizeof head);
      for (std::uint32_t i = 0; i < runs; ++i) {
        const std::uint32_t run[] = {std::uint32_t{n} << 16, 0, std::bit_cast<std::uint32_t>(1e30f)};
        std::memcpy(frame.data() + at + sizeof head + i * sizeof run, run, sizeof run);
      }
      seal(frame);
      SCOPED_TRACE(testing::Message() << addends << " addends, " << runs << " runs");
      std::vector<float> x(n);
      EXPECT_EQ(cpu->decode(frame, {x.data(), n, DType::f32}) == Status::ok, runs == 64 * addends);
      shim::Gpu gpu(5);
      compare<float>(gpu, *cpu, frame, n);
    }
  }
}

}  // namespace damage_test
}  // namespace taut
