// Tests exponents frames: the kernels write the CPU's bytes, and decode them bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compressor/values/reduction.hpp"
#include "gpu/kernels/exponents_codec.hpp"
#include "gpu/kernels/seal.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace exponents_gpu_test {

constexpr DType types[] = {DType::f16, DType::bf16};

void there_and_back(ExponentsGpuCodec& gpu, DType type, const Words16& x, std::size_t skipped = 0) {
  const auto cpu = exponents_cpu_frame(type, x), frame = gpu.encode(type, x, skipped);
  ASSERT_EQ(gpu.result().status, 0u);
  ASSERT_EQ(frame.size(), cpu.size());
  const auto at = std::mismatch(frame.begin(), frame.end(), cpu.begin()).first - frame.begin();
  ASSERT_EQ(static_cast<std::size_t>(at), frame.size()) << "first difference at byte " << at;
  Words16 y(x.size(), 0xABCD);
  ASSERT_EQ(gpu.decode(type, cpu, y, skipped), 0u);
  ASSERT_TRUE(y == x);
}

TEST(GpuExponents, AreWhatTheCpuWrites) {
  shim::Gpu gpu(0);
  ExponentsGpuCodec codec(gpu);
  for (const DType type : types)
    for (const Halves kind : all_halves)
      for (const std::size_t n : {0u, 1u, 2u, 3u, 4u, 5u, 63u, 64u, 65u, 127u, 4095u, 4096u, 4097u, 12289u}) {
        SCOPED_TRACE(testing::Message() << name_of(type) << " kind " << static_cast<int>(kind) << " n " << n);
        gpu.reseed(n);
        there_and_back(codec, type, halves_of(kind, type, n, 3), n % 8 == 1 ? 2 * (n % 7) : 0);
        if (testing::Test::HasFailure()) return;
      }
}

// All 65536 bit patterns, in order, shuffled, and repeated so that the books of their chunks suit them.
TEST(GpuExponents, EveryPatternComesBack) {
  shim::Gpu gpu(1);
  ExponentsGpuCodec codec(gpu);
  for (const DType type : types) {
    Words16 x(65536);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint16_t>(i);
    there_and_back(codec, type, x);
    std::shuffle(x.begin(), x.end(), std::mt19937(1));
    there_and_back(codec, type, x, 2);
  }
}

// 70 chunks: two sets of books.
TEST(GpuExponents, ChunksOfOneSetShareTheirBooks) {
  shim::Gpu gpu(2, 5);
  ExponentsGpuCodec codec(gpu);
  for (const DType type : types) {
    Words16 x = halves_of(Halves::wide, type, 64 * 4096, 3);
    const Words16 rest = halves_of(Halves::constant, type, 6 * 4096 + 17, 4);
    x.insert(x.end(), rest.begin(), rest.end());
    there_and_back(codec, type, x);
    for (const std::size_t chunks : {7u, 63u})
      there_and_back(codec, type, halves_of(Halves::rare, type, chunks * 4096 - 3, 5));
  }
}

// Patterns from few to all, among values of a usual distribution: escapes of both books.
TEST(GpuExponents, EveryNumberOfRareValues) {
  shim::Gpu gpu(3);
  ExponentsGpuCodec codec(gpu);
  std::mt19937_64 random(5);
  for (const DType type : types)
    for (std::size_t rare = 0; rare < 6000; rare = rare * 2 + 1) {
      Words16 x = halves_of(Halves::normal, type, 5000, 7);
      for (std::size_t k = 0; k < rare; ++k) x[random() % x.size()] = static_cast<std::uint16_t>(random());
      SCOPED_TRACE(testing::Message() << name_of(type) << " rare " << rare);
      there_and_back(codec, type, x);
      if (testing::Test::HasFailure()) return;
    }
}

TEST(GpuExponents, LookBackGivesTheSameFrameInWhateverOrderBlocksRun) {
  const Words16 x = halves_of(Halves::wide, DType::bf16, 100003, 1);
  const auto cpu = exponents_cpu_frame(DType::bf16, x);
  for (const unsigned at_once : {1u, 2u, 7u}) {
    shim::Gpu gpu(at_once, at_once);
    ExponentsGpuCodec codec(gpu);
    for (const Halves before : {Halves::bits, Halves::wide}) {  // in the same scratch memory
      codec.encode(DType::bf16, halves_of(before, DType::bf16, 30001, 2));
      ASSERT_TRUE(codec.encode(DType::bf16, x) == cpu);
    }
    EXPECT_EQ(gpu.pauses() > 0, at_once > 1);
  }
}

// Sequences of arrays of random kinds and sizes, with patches of other kinds, in the same scratch memory.
// TEST_COUNT: number of sequences; TEST_SEED: the first one.
TEST(GpuExponents, RandomSequences) {
  const std::uint64_t first = test::number_from_environment("TEST_SEED", 1);
  const std::uint64_t count = test::number_from_environment("TEST_COUNT", test::sampled_part(40));
  shim::Gpu gpu(6);
  ExponentsGpuCodec codec(gpu);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(testing::Message() << "TEST_SEED=" << seed << " TEST_COUNT=1");
    std::mt19937_64 random(seed);
    gpu.reseed(static_cast<unsigned>(seed));
    for (std::uint64_t calls = 1 + random() % 4; calls > 0; --calls) {
      const DType type = types[random() % 2];
      const std::size_t n = random() % (random() % 4 == 0 ? 14000 : 700);
      Words16 x =
          halves_of(all_halves[random() % std::size(all_halves)], type, n, static_cast<unsigned>(random()));
      for (std::uint64_t patches = random() % 4; patches > 0 && n > 0; --patches) {
        const std::size_t at = random() % n, length = std::min<std::size_t>(random() % 600, n - at);
        const Words16 patch = halves_of(all_halves[random() % std::size(all_halves)], type, length,
                                        static_cast<unsigned>(random()));
        std::ranges::copy(patch, x.begin() + static_cast<std::ptrdiff_t>(at));
      }
      there_and_back(codec, type, x, 2 * (random() % 8));
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Sums have the bits of reduce_values(), those in float32 too, with NaN, infinities and zeros of both signs.
TEST(GpuExponents, AreAdded) {
  shim::Gpu gpu(4);
  ExponentsGpuCodec codec(gpu);
  for (const DType type : types)
    for (const Halves kind : all_halves)
      for (const Halves other : {Halves::normal, Halves::minus_zeros, Halves::bits}) {
        constexpr std::size_t n = 8209;
        SCOPED_TRACE(testing::Message() << name_of(type) << " kind " << static_cast<int>(kind));
        const Words16 x = halves_of(kind, type, n, 8);
        const auto frame = exponents_cpu_frame(type, x);
        Words16 sums = halves_of(other, type, n, 9), expected = sums;
        reduce_values({{expected.data(), n, type}}, {{x.data(), n, type}}, Reduction::sum);
        ASSERT_EQ(codec.decode_add(type, frame, sums), 0u);
        ASSERT_TRUE(sums == expected);
        std::vector<float> wide(n), widened(n);
        const auto in_float = [type](std::uint16_t bits) {
          return type == DType::f16 ? static_cast<float>(f16::of_bits(bits))
                                    : static_cast<float>(bf16::of_bits(bits));
        };
        const Words16 from = halves_of(other, type, n, 9);
        std::transform(from.begin(), from.end(), wide.begin(), in_float);
        std::transform(x.begin(), x.end(), widened.begin(), in_float);
        std::vector<float> total = wide;
        reduce_values({{total.data(), n, DType::f32}}, {{widened.data(), n, DType::f32}}, Reduction::sum);
        ASSERT_EQ(codec.decode_add(type, frame, wide), 0u);
        ASSERT_EQ(std::memcmp(wide.data(), total.data(), n * sizeof(float)), 0);
      }
}

// ---- Damaged frames

// Decodes a frame that may be damaged: kernels accept and reject what the CPU does, and access nothing else.
void compare(ExponentsGpuCodec& gpu, const Codec& cpu, DType type, const std::vector<std::byte>& frame,
             std::size_t n) {
  Words16 expected(n), there(n), sums(n);
  const Status status = cpu.decode(frame, {{expected.data(), n, type}});
  const std::uint32_t found = gpu.decode(type, frame, there);
  ASSERT_EQ(gpu.decode_add(type, frame, sums), found);
  if (found == cuda::needs_host) return;
  ASSERT_EQ(found == 0, status == Status::ok) << found << " for " << static_cast<int>(status);
  ASSERT_TRUE(found != 0 || there == expected);
}

TEST(GpuExponentsDamage, IsRejectedAsOnTheCpu) {
  shim::Gpu gpu(5);
  ExponentsGpuCodec codec(gpu);
  const auto cpu = exponents_cpu_codec();
  std::mt19937_64 random(6);
  for (const DType type : types)
    for (const Halves kind : {Halves::normal, Halves::zeros, Halves::rare, Halves::wide, Halves::bits})
      for (const std::size_t n : {100u, 4200u}) {
        const auto whole = exponents_cpu_frame(type, halves_of(kind, type, n, 4));
        for (int round = 0; round < 100; ++round) {
          auto frame = whole;
          // Damages header and index, the heads of records, or any byte.
          const std::size_t reach = round % 3 == 0   ? 80
                                    : round % 3 == 1 ? 110
                                                     : frame.size(),
                            from = round % 3 == 1 ? frame_header_bytes : 0;
          for (std::size_t k = 0; k < 1 + random() % 3; ++k)
            frame[from + random() % (std::min(reach, frame.size()) - from)] ^= std::byte(1 << random() % 8);
          if (round % 8 == 7) frame.resize(64 + random() % (frame.size() - 64));
          if (round % 5 != 0) seal(frame);
          SCOPED_TRACE(testing::Message() << name_of(type) << " kind " << static_cast<int>(kind) << " n " << n
                                          << " round " << round);
          compare(codec, *cpu, type, frame, n);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
}

TEST(GpuExponentsDamage, OfFramesThatAreShort) {
  shim::Gpu gpu(7);
  ExponentsGpuCodec codec(gpu);
  const auto cpu = exponents_cpu_codec();
  const auto whole = exponents_cpu_frame(DType::bf16, halves_of(Halves::rare, DType::bf16, 5000, 1));
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += bytes < 130 ? 1 : 61) {
    auto frame = whole;
    frame.resize(bytes);
    compare(codec, *cpu, DType::bf16, frame, 5000);
    if (bytes >= frame_header_bytes) {  // the header states the shortened size
      const std::uint64_t payload = bytes - frame_header_bytes;
      std::memcpy(frame.data() + 32, &payload, 8);
      seal(frame);
      compare(codec, *cpu, DType::bf16, frame, 5000);
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace exponents_gpu_test
}  // namespace taut
