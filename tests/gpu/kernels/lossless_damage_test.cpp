// Tests damaged mpc frames: kernels read and write nothing out of bounds, and reject what the CPU rejects.
#include <gtest/gtest.h>

#include "gpu/kernels/lossless_codec.hpp"
#include "gpu/kernels/patterns.hpp"
#include "gpu/kernels/seal.hpp"

namespace taut {
namespace lossless_damage_test {

template <class T>
void compare(LosslessGpuCodec<T>& gpu, const Codec& cpu, const std::vector<std::byte>& frame, std::size_t n) {
  std::vector<T> expected(n), there(n);
  const Status status = cpu.decode(frame, {expected.data(), n, dtype_of<T>});
  const std::uint32_t found = gpu.decode(frame, there);
  std::vector<T> sum(n);
  ASSERT_EQ(gpu.decode_add(frame, sum), found);
  if (found == cuda::needs_host) return;
  ASSERT_EQ(found == 0, status == Status::ok) << found << " for " << static_cast<int>(status);
  if (status == Status::ok && n > 0) {
    ASSERT_EQ(std::memcmp(there.data(), expected.data(), n * sizeof(T)), 0);
  }
}

template <class T>
void damage(Pattern pattern, std::size_t n, int rounds) {
  shim::Gpu gpu(2);
  LosslessGpuCodec<T> codec(gpu);
  const auto cpu = lossless_cpu_codec(1);
  std::mt19937_64 random(static_cast<unsigned>(pattern));
  const auto whole = lossless_cpu_frame(make<T>(pattern, n, 1), 1 + static_cast<unsigned>(pattern) % 8);
  for (int round = 0; round < rounds; ++round) {
    auto frame = whole;
    // Damages header and index, the tables at the end of a record, or any byte.
    const std::size_t reach = round % 3 == 0 ? 90 : frame.size(),
                      from = round % 3 == 1 ? frame.size() - std::min<std::size_t>(frame.size(), 100) : 0;
    for (std::size_t k = 0; k < 1 + random() % 3; ++k)
      frame[from + random() % (std::min(reach, frame.size()) - from)] ^= std::byte(1 << random() % 8);
    if (round % 8 == 7) frame.resize(64 + random() % (frame.size() - 64));
    if (round % 5 != 0) seal(frame);
    SCOPED_TRACE(testing::Message() << name_of(pattern) << " n " << n << " round " << round);
    compare<T>(codec, *cpu, frame, n);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(GpuLosslessDamage, OfF32) {
  for (const Pattern p : {Pattern::wave, Pattern::walk, Pattern::masked, Pattern::mixed, Pattern::denormal})
    for (const std::size_t n : {700u, 5003u}) damage<float>(p, n, 100);
}
TEST(GpuLosslessDamage, OfF64) {
  for (const Pattern p : {Pattern::wave, Pattern::sprinkled, Pattern::mixed}) damage<double>(p, 1203, 100);
}
TEST(GpuLosslessDamage, OfF16) {
  for (const Pattern p : {Pattern::wave, Pattern::sprinkled}) damage<f16>(p, 3001, 100);
}

// Covers damage that flipping a few bits cannot cause.
TEST(GpuLosslessDamage, OfFramesThatAreShort) {
  shim::Gpu gpu(4);
  LosslessGpuCodec<float> codec(gpu);
  const auto cpu = lossless_cpu_codec(1);
  const auto whole = lossless_cpu_frame(make<float>(Pattern::wave, 3000, 1), 1);
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += bytes < 100 ? 1 : 61) {
    auto frame = whole;
    frame.resize(bytes);
    compare<float>(codec, *cpu, frame, 3000);
    if (bytes >= frame_header_bytes) {  // the header states the shortened size
      const std::uint64_t payload = bytes - frame_header_bytes;
      std::memcpy(frame.data() + 32, &payload, 8);
      seal(frame);
      compare<float>(codec, *cpu, frame, 3000);
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

// A frame without values that has an index. No encoder of Taut writes such a frame.
TEST(GpuLosslessDamage, OfEmptyFrames) {
  shim::Gpu gpu(5);
  LosslessGpuCodec<float> codec(gpu);
  const auto cpu = lossless_cpu_codec(1);
  for (const std::uint32_t first : {0u, 1u}) {
    for (const std::size_t words : {0u, 1u, 2u}) {
      std::vector<std::byte> frame(frame_header_bytes + 4 * words);
      FrameHeader header{.codec = mpc::frame_id, .type = DType::f32};
      header.parameters[0] = 1;
      if (words > 0) std::memcpy(frame.data() + frame_header_bytes, &first, 4);
      seal_frame(header, frame.data(), 4 * words);
      SCOPED_TRACE(testing::Message() << words << " words, " << first);
      compare<float>(codec, *cpu, frame, 0);
    }
  }
}

TEST(GpuLosslessDamage, OfTheKind) {
  shim::Gpu gpu(6);
  LosslessGpuCodec<float> codec(gpu);
  std::vector<float> x(100);
  EXPECT_EQ(codec.decode(cpu_frame<float>(x, {1e-3}, planes::Predictor::delta), x),
            static_cast<std::uint32_t>(Status::frame_mismatch));
  std::vector<float> fewer(99);
  EXPECT_EQ(codec.decode(lossless_cpu_frame(x, 1), fewer),
            static_cast<std::uint32_t>(Status::frame_mismatch));
  EXPECT_EQ(codec.decode(lossless_cpu_frame(x, 1), x), 0u) << "what the calls before left";
}

}  // namespace lossless_damage_test
}  // namespace taut
