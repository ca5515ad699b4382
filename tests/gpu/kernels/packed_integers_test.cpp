// Tests that kernels encode packed integers exactly (bits=exact), with the CPU's frames.
#include <gtest/gtest.h>

#include "compressor/values/number_range.hpp"
#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace packed_integers_test {

using namespace planes;

// Replaces about one in `every` values by the bits of an integer: a tag, a negative number, a number just
// inside or just outside of the range of numbers, or the preceding value.
template <class T>
void pack_integers(std::vector<T>& x, std::size_t every, std::uint64_t seed) {
  using Bits = BitsOf<T>;
  using Numbers = NumberRange<T>;
  constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (random() % every != 0) continue;
    const Bits choices[] = {static_cast<Bits>(random() % 100000),
                            static_cast<Bits>(Bits{0} - static_cast<Bits>(random() % 100000)),
                            static_cast<Bits>(Numbers::least - random() % 2),
                            static_cast<Bits>(Numbers::end - random() % 2),
                            static_cast<Bits>(sign | (Numbers::end + random() % 100000)),
                            std::bit_cast<Bits>(i == 0 ? T{} : x[i - 1])};
    x[i] = std::bit_cast<T>(choices[random() % std::size(choices)]);
  }
}

template <class T>
class GpuPackedIntegers : public testing::Test {
 public:
  static constexpr std::size_t n = 5001;
  // Under the last bound packed integers beyond the range of numbers have integers.
  static constexpr Bound bounds[] = {{1e-3},
                                     {1e-6},
                                     {Bound::Kind::snap, 1e-2},
                                     {safe_step_limit<T> / 8},
                                     {Bound::Kind::absolute, 4 * safe_step_limit<T>},
                                     {Bound::Kind::snap, 4 * safe_step_limit<T>}};
  static constexpr Pattern patterns[] = {Pattern::zeros, Pattern::wave,     Pattern::walk, Pattern::sprinkled,
                                         Pattern::huge,  Pattern::denormal, Pattern::bits, Pattern::mixed};

  // Calls check(values, bound) for all kinds of values and bounds.
  template <class Check>
  void each(const Check& check) {
    for (const Bound bound : bounds) {
      for (const Pattern pattern : patterns) {
        for (const std::size_t every : {std::size_t{1}, std::size_t{3}, std::size_t{50}, n + 1}) {
          if (!test::is_sampled()) continue;
          SCOPED_TRACE(testing::Message() << name_of(pattern) << " one in " << every << " bound "
                                          << bound.value << " kind " << static_cast<int>(bound.kind));
          std::vector<T> x = make<T>(pattern, n, 7);
          if (bound.value > 1) std::ranges::transform(x, x.begin(), [&](T v) { return v * scale(bound); });
          pack_integers(x, every, every);
          gpu.reseed(every);
          check(x, bound);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }

  shim::Gpu gpu{0};

 private:
  // Factor that gives a wave under a large bound integers in the large range.
  static T scale(const Bound& bound) { return static_cast<T>(bound.value * 0x1p17); }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GpuPackedIntegers, Types);

TYPED_TEST(GpuPackedIntegers, MakeTheFramesOfTheCpu) {
  using T = TypeParam;
  std::size_t differing = 0;
  this->each([&](const std::vector<T>& x, const Bound& bound) {
    for (const Predictor predictor : {Predictor::none, Predictor::delta}) {
      GpuCodec<T> codec(this->gpu, bound, predictor, PackedBits::exact);
      const auto cpu = cpu_frame<T>(x, bound, predictor, PackedBits::exact);
      differing += cpu != cpu_frame<T>(x, bound, predictor);
      ASSERT_EQ(codec.encode(x) == cpu, true);
    }
  });
  EXPECT_GT(differing, test::sampled_part(100));
}

TYPED_TEST(GpuPackedIntegers, ComeBackBitForBit) {
  using T = TypeParam;
  this->each([&](const std::vector<T>& x, const Bound& bound) {
    GpuCodec<T> codec(this->gpu, bound, Predictor::delta, PackedBits::exact);
    std::vector<T> y(x.size());
    ASSERT_EQ(codec.decode(codec.encode(x), y), 0u);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(is_packed(x[i]) && std::memcmp(&x[i], &y[i], sizeof(T)) != 0, false) << "value " << i;
  });
}

TYPED_TEST(GpuPackedIntegers, MakeTheFramesOfTheCpuWithLags) {
  using T = TypeParam;
  std::size_t lagged = 0;
  this->each([&](const std::vector<T>& x, const Bound& bound) {
    GpuCodec<T> codec(this->gpu, bound, Predictor::delta, PackedBits::exact);
    const auto cpu = cpu_frame<T>(x, bound, "delta+64+700", PackedBits::exact);
    ASSERT_EQ(codec.encode_lagged(x, {{64, 700}, 2}) == cpu, true);
    lagged += cpu[45] != std::byte{0};
  });
  EXPECT_GT(lagged, test::sampled_part(20));
}

TYPED_TEST(GpuPackedIntegers, AreAddedToFramesAsOnTheCpu) {
  using T = TypeParam;
  this->each([&](const std::vector<T>& x, const Bound& bound) {
    const auto cpu_codec_of = cpu_codec(bound, Predictor::delta, PackedBits::exact);
    const auto frame =
        cpu_frame<T>(make<T>(Pattern::wave, x.size(), 1), bound, Predictor::delta, PackedBits::exact);
    std::vector<std::byte> cpu(cpu_codec_of->max_bytes(dtype_of<T>, x.size(), 2));
    const SizeOrStatus size =
        cpu_codec_of->arithmetic()->accumulate(frame, {x.data(), x.size(), dtype_of<T>}, cpu);
    ASSERT_EQ(size.status, Status::ok);
    GpuCodec<T> codec(this->gpu, bound, Predictor::delta, PackedBits::exact);
    const auto sum = codec.accumulate(frame, x, cpu.size());
    cpu.resize(size.bytes);
    ASSERT_EQ(sum == cpu, true);
  });
}

// The greatest block of values without an integer of their own is a whole frame, which is then stored.
TYPED_TEST(GpuPackedIntegers, AloneMakeAStoredFrame) {
  using T = TypeParam;
  std::vector<T> x(this->n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::bit_cast<T>(static_cast<BitsOf<T>>(3 * i + 1));
  GpuCodec<T> codec(this->gpu, {1e-3}, Predictor::delta, PackedBits::exact);
  const auto frame = codec.encode(x);
  EXPECT_EQ(frame == cpu_frame<T>(x, {1e-3}, Predictor::delta, PackedBits::exact), true);
  EXPECT_EQ(frame.size(), frame_header_bytes + x.size() * sizeof(T));
}

}  // namespace packed_integers_test
}  // namespace taut
