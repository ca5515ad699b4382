// Tests damaged zfp frames: kernels read and write nothing out of bounds, and reject what the CPU rejects.
#include <gtest/gtest.h>

#include "gpu/kernels/patterns.hpp"
#include "gpu/kernels/rate_codec.hpp"
#include "gpu/kernels/rate_cpu.hpp"
#include "gpu/kernels/seal.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace rate_damage_test {

template <class T>
void compare(RateGpuCodec<T>& gpu, const Codec& cpu, const std::vector<std::byte>& frame, std::size_t n,
             const Dims& dims) {
  std::vector<T> expected(n), there(n);
  const Status status = cpu.decode(frame, {expected.data(), n, dtype_of<T>});
  const std::uint32_t found = gpu.decode(frame, there, dims);
  if (found == cuda::needs_host) return;
  ASSERT_EQ(found == 0, status == Status::ok) << found << " for " << static_cast<int>(status);
  if (status != Status::ok) return;
  for (std::size_t i = 0; i < n; ++i)
    ASSERT_EQ(std::memcmp(&there[i], &expected[i], sizeof(T)), 0)
        << i << ": " << there[i] << " for " << expected[i];
}

template <class T>
void damage(Pattern pattern, std::size_t n, double rate, int rounds, const Dims& dims = {}) {
  shim::Gpu gpu(2);
  RateGpuCodec<T> codec(gpu);
  const auto cpu = rate_cpu_codec(rate);
  std::mt19937_64 random(static_cast<unsigned>(pattern));
  const auto whole = rate_cpu_frame(make<T>(pattern, n, 1), rate, dims);
  for (int round = 0; round < rounds; ++round) {
    auto frame = whole;
    // Damages header, index and a map, or any byte.
    const std::size_t reach = std::min<std::size_t>(frame.size(), round % 3 == 0 ? 100 : frame.size());
    for (std::size_t k = 0; k < 1 + random() % 3; ++k)
      frame[random() % reach] ^= std::byte(1 << random() % 8);
    if (round % 8 == 7) frame.resize(64 + random() % (frame.size() - 64));
    if (round % 5 != 0) seal(frame);
    if (!test::is_sampled()) continue;
    SCOPED_TRACE(testing::Message() << name_of(pattern) << " n " << n << " rate " << rate << " round "
                                    << round);
    compare<T>(codec, *cpu, frame, n, dims);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(GpuRateDamage, OfF32) {
  for (const Pattern p : {Pattern::wave, Pattern::sprinkled, Pattern::mixed, Pattern::bits})
    for (const double rate : {3.0, 8.0, 31.0}) damage<float>(p, 1203, rate, 100);
}
TEST(GpuRateDamage, OfF64) {
  for (const Pattern p : {Pattern::walk, Pattern::sprinkled, Pattern::denormal})
    for (const double rate : {8.0, 50.0}) damage<double>(p, 1203, rate, 100);
}
TEST(GpuRateDamage, OfSeveralBoxes) { damage<float>(Pattern::mixed, 70000, 3, 10); }

TEST(GpuRateDamage, OfFields) {
  damage<float>(Pattern::mixed, 31 * 70, 5, 150, {{31, 70}, 2});
  damage<double>(Pattern::sprinkled, 9 * 14 * 11, 5, 150, {{9, 14, 11}, 3});
  damage<float>(Pattern::sprinkled, 5 * 6 * 7 * 9, 3, 60, {{5, 6, 7, 9}, 4});
}

// Blocks of random bits: exponents of infinities and of denormal numbers, integers that overflow.
TEST(GpuRateDamage, OfWholeStreams) {
  shim::Gpu gpu(3);
  RateGpuCodec<float> f32(gpu);
  RateGpuCodec<double> f64(gpu);
  std::mt19937_64 random(3);
  for (const Dims& dims : {Dims{{4001}, 1}, Dims{{31, 70}, 2}, Dims{{9, 14, 11}, 3}, Dims{{5, 6, 7, 9}, 4}}) {
    for (const double rate : {4.0, 11.5, 30.0}) {
      const std::size_t n = dims.count(), front = frame_header_bytes + zfp::cuda::front_bytes(dims.n, 1);
      auto narrow = rate_cpu_frame(std::vector<float>(n), rate, dims);
      auto wide = rate_cpu_frame(std::vector<double>(n), rate, dims);
      for (int round = 0; round < 5; ++round) {
        for (auto* of : {&narrow, &wide})
          for (std::size_t i = front; i < of->size(); ++i) (*of)[i] = std::byte(random());
        SCOPED_TRACE(testing::Message() << dims.n << " extents, rate " << rate << " round " << round);
        compare<float>(f32, *rate_cpu_codec(rate), narrow, n, dims);
        compare<double>(f64, *rate_cpu_codec(rate), wide, n, dims);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

// zfp does not read all planes of blocks with these exponents. The first plane with a 1 is the last plane
// that zfp reads, or the one before or after it. A decoder that reads another number of planes gives a zero
// of the other sign.
TEST(GpuRateDamage, OfTheLeastExponents) {
  shim::Gpu gpu(5);
  RateGpuCodec<double> codec(gpu);
  constexpr std::size_t exponents = 9, blocks = 3 * exponents, n = 4 * blocks, block = 31, head = 12;
  auto frame = rate_cpu_frame(std::vector<double>(n), 62);
  ASSERT_EQ(frame.size(), frame_header_bytes + 4 + blocks * block);
  for (std::size_t b = 0; b < blocks; ++b) {
    std::byte* const at = frame.data() + frame_header_bytes + 4 + b * block;
    const std::size_t exponent = b % exponents, plane = 53 + exponent + b / exponents;
    at[0] = std::byte(1 | exponent << 1);
    at[(head + plane) / 8] |= std::byte(1 << (head + plane) % 8);
  }
  compare<double>(codec, *rate_cpu_codec(62), frame, n, {});
}

// Maps of random groups in place of a stream: they leave too few bits for a block, or only a few.
TEST(GpuRateDamage, OfMaps) {
  shim::Gpu gpu(6);
  RateGpuCodec<float> codec(gpu);
  constexpr std::size_t n = 300;
  for (const double rate : {3.0, 4.0, 5.0}) {
    auto frame = rate_cpu_frame(make<float>(Pattern::walk, n, 1), rate);
    frame[frame_header_bytes + 3] |= std::byte(2 << 6);
    for (unsigned marks = 0; marks < 256; ++marks) {
      frame[frame_header_bytes + 4] = std::byte(marks);
      SCOPED_TRACE(testing::Message() << "rate " << rate << " marks " << marks);
      compare<float>(codec, *rate_cpu_codec(rate), frame, n, {});
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Covers damage that flipping a few bits cannot cause.
TEST(GpuRateDamage, OfFramesThatAreShort) {
  shim::Gpu gpu(4);
  RateGpuCodec<float> codec(gpu);
  const auto cpu = rate_cpu_codec(8);
  const auto whole = rate_cpu_frame(make<float>(Pattern::sprinkled, 300, 1), 8);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    auto frame = whole;
    frame.resize(bytes);
    compare<float>(codec, *cpu, frame, 300, {});
    if (bytes >= frame_header_bytes) {  // the header and the index state the shortened size
      const std::uint64_t payload = bytes - frame_header_bytes;
      std::memcpy(frame.data() + 32, &payload, 8);
      seal(frame);
      compare<float>(codec, *cpu, frame, 300, {});
      const std::uint32_t entry = static_cast<std::uint32_t>(payload - 4) | 2u << 30;
      if (payload < 4) continue;
      std::memcpy(frame.data() + frame_header_bytes, &entry, 4);
      compare<float>(codec, *cpu, frame, 300, {});
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(GpuRateDamage, OfTheKind) {
  shim::Gpu gpu(6);
  RateGpuCodec<float> codec(gpu);
  std::vector<float> x(100), fewer(99);
  const auto frame = rate_cpu_frame(x, 8);
  EXPECT_EQ(codec.decode(cpu_frame<float>(x, {1e-3}, planes::Predictor::delta), x),
            static_cast<std::uint32_t>(Status::frame_mismatch));
  EXPECT_EQ(codec.decode(frame, fewer), static_cast<std::uint32_t>(Status::frame_mismatch));
  const auto within = find_codec("zfp")->make({.bound = {1e-3}});
  std::vector<std::byte> bounded(within->max_bytes(DType::f32, 100, 1));
  bounded.resize(within->encode({x.data(), 100, DType::f32}, bounded).bytes);
  EXPECT_EQ(codec.decode(bounded, x), cuda::needs_host);
  EXPECT_EQ(codec.decode(frame, x), 0u) << "what the calls before left";
}

}  // namespace rate_damage_test
}  // namespace taut
