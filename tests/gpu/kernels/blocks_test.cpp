// Tests blocks frames: the kernels write the CPU's bytes and decode them to the CPU's bits, a launch a call.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "compressor/values/reduction.hpp"
#include "gpu/kernels/blocks_codec.hpp"
#include "gpu/kernels/seal.hpp"

namespace taut {
namespace blocks_gpu_test {

// Values of a kind: of every magnitude, with NaN and infinities, zeros of both signs, denormal, any bits.
enum class Kind { normal, wild, special, zeros, denormal, greatest, bits };
constexpr Kind kinds[] = {Kind::normal,   Kind::wild,     Kind::special, Kind::zeros,
                          Kind::denormal, Kind::greatest, Kind::bits};

template <class T>
std::vector<T> values_of(Kind kind, std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float odd[] = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), -0.0F, 1e30F};
  std::vector<T> x(n);
  float unit = 1;
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 37 == 0) unit = std::ldexp(1.0F, static_cast<int>(random() % 276) - 149);
    switch (kind) {
      case Kind::normal: x[i] = static_cast<T>(normal(random)); break;
      case Kind::wild: x[i] = static_cast<T>(unit * normal(random)); break;
      case Kind::special: x[i] = static_cast<T>(i % 50 < 5 ? odd[random() % 5] : normal(random)); break;
      case Kind::zeros:
        x[i] = static_cast<T>(i % 100 == 0 ? normal(random) : i % 2 == 0 ? 0.0F : -0.0F);
        break;
      case Kind::denormal: x[i] = std::bit_cast<T>(static_cast<BitsOf<T>>(random() % 1000)); break;
      case Kind::greatest: x[i] = static_cast<T>((i % 3 == 0 ? -1 : 1) * blocks::max_finite<T>()); break;
      case Kind::bits: x[i] = std::bit_cast<T>(static_cast<BitsOf<T>>(random())); break;
    }
  }
  return x;
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(static_cast<const void*>(a.data()), static_cast<const void*>(b.data()),
                                   a.size() * sizeof(T)) == 0);
}

template <class T>
void there_and_back(BlocksGpuCodec& gpu, unsigned bits, const std::vector<T>& x, std::size_t skipped = 0) {
  const std::size_t n = x.size();
  const unsigned before = gpu.launches();
  const auto cpu = blocks_cpu_frame(bits, x), frame = gpu.encode(bits, x, skipped);
  ASSERT_EQ(gpu.result().status, 0u);
  ASSERT_EQ(frame.size(), cpu.size());
  const auto at = std::mismatch(frame.begin(), frame.end(), cpu.begin()).first - frame.begin();
  ASSERT_EQ(static_cast<std::size_t>(at), frame.size()) << "first difference at byte " << at;
  std::vector<T> expected(n), decoded(n);
  ASSERT_EQ(blocks_cpu_codec(bits)->decode(cpu, {{expected.data(), n, dtype_of<T>}}), Status::ok);
  ASSERT_EQ(gpu.decode(cpu, decoded, skipped), 0u);
  ASSERT_TRUE(same(decoded, expected));
  auto sums = values_of<T>(Kind::special, n, 77), total = sums;
  ASSERT_EQ(blocks_cpu_codec(bits)->reduce(cpu, {{total.data(), n, dtype_of<T>}}, Reduction::sum),
            Status::ok);
  ASSERT_EQ(gpu.decode_add(cpu, sums, skipped), 0u);
  ASSERT_TRUE(same(sums, total));
  ASSERT_EQ(gpu.launches(), before + 3);
}

template <class T>
class GpuBlocks : public testing::Test {};
using Types = testing::Types<float, f16, bf16>;
TYPED_TEST_SUITE(GpuBlocks, Types);

TYPED_TEST(GpuBlocks, AreWhatTheCpuWrites) {
  shim::Gpu gpu(0);
  BlocksGpuCodec codec(gpu);
  for (const unsigned bits : blocks::rates)
    for (const Kind kind : kinds)
      for (const std::size_t n :
           {0u, 1u, 2u, 3u, 4u, 5u, 15u, 16u, 17u, 63u, 64u, 65u, 509u, 4095u, 4096u, 4097u, 12289u}) {
        SCOPED_TRACE(testing::Message() << bits << " kind " << static_cast<int>(kind) << " n " << n);
        gpu.reseed(n);
        const std::size_t skipped = n % 4 == 1 ? sizeof(TypeParam) * (n % 7) : 0;
        there_and_back(codec, bits, values_of<TypeParam>(kind, n, 3), skipped);
        if (testing::Test::HasFailure()) return;
      }
}

// All 65,536 patterns of 16 bits: of the type, or in the upper half of a float32.
TYPED_TEST(GpuBlocks, EveryPattern) {
  shim::Gpu gpu(1);
  BlocksGpuCodec codec(gpu);
  std::vector<TypeParam> x(65536);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::bit_cast<TypeParam>(static_cast<BitsOf<TypeParam>>(i << (8 * (sizeof(TypeParam) - 2))));
  for (const unsigned bits : blocks::rates) {
    there_and_back(codec, bits, x);
    auto shuffled = x;
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(bits));
    there_and_back(codec, bits, shuffled);
  }
}

// Every code with every scale, with the flag and without it. Damaged scales are rejected, the chunk
// unwritten.
TYPED_TEST(GpuBlocks, EveryScaleIsDecodedOrRejected) {
  shim::Gpu gpu(2);
  BlocksGpuCodec codec(gpu);
  std::mt19937 random(5);
  constexpr std::size_t n = 128;
  for (const unsigned bits : blocks::rates)
    for (unsigned scale = 0; scale < 65536; scale += 17) {
      auto frame = blocks_cpu_frame(bits, values_of<TypeParam>(Kind::normal, n, scale));
      std::memcpy(frame.data() + frame_header_bytes + 2, &scale, 2);
      for (std::size_t i = frame_header_bytes + 16; i < frame.size(); ++i) frame[i] = std::byte(random());
      std::vector<TypeParam> expected(n), found(n), sums(n);
      const Status status =
          blocks_cpu_codec(bits)->decode(frame, {{expected.data(), n, dtype_of<TypeParam>}});
      ASSERT_EQ(codec.decode(frame, found), static_cast<std::uint32_t>(status));
      ASSERT_EQ(codec.decode_add(frame, sums), static_cast<std::uint32_t>(status));
      ASSERT_TRUE(same(found, status == Status::ok ? expected : std::vector<TypeParam>(n))) << scale;
      ASSERT_TRUE(status == Status::ok || same(sums, std::vector<TypeParam>(n)));
    }
}

TEST(GpuBlocksDamage, IsRejectedAsOnTheCpu) {
  shim::Gpu gpu(3);
  BlocksGpuCodec codec(gpu);
  std::mt19937_64 random(6);
  unsigned rejected = 0;
  for (const unsigned bits : blocks::rates)
    for (const std::size_t n : {1u, 100u, 4200u}) {
      const auto whole = blocks_cpu_frame(bits, values_of<float>(Kind::normal, n, 4));
      const auto cpu = blocks_cpu_codec(bits);
      for (int round = 0; round < 200; ++round) {
        auto frame = whole;
        const std::size_t reach =
            round % 2 == 0 ? frame_header_bytes : std::min<std::size_t>(frame.size(), 100);
        for (std::size_t k = 0; k < 1 + random() % 3; ++k)
          frame[random() % reach] ^= std::byte(1 << random() % 8);
        if (round % 8 == 7) frame.resize(random() % frame.size());
        if (round % 5 != 0 && frame.size() >= frame_header_bytes) seal(frame);
        SCOPED_TRACE(testing::Message() << bits << " n " << n << " round " << round);
        std::vector<float> expected(n), found(n), sums(n);
        const Status status = cpu->decode(frame, {{expected.data(), n, DType::f32}});
        const std::uint32_t reported = codec.decode(frame, found);
        ASSERT_EQ(codec.decode_add(frame, sums), reported);
        if (reported == cuda::needs_host) continue;
        ASSERT_EQ(reported, static_cast<std::uint32_t>(status));
        ASSERT_TRUE(reported != 0 || same(found, expected));
        rejected += reported != 0;
      }
    }
  EXPECT_GT(rejected, 500u);
}

}  // namespace blocks_gpu_test
}  // namespace taut
