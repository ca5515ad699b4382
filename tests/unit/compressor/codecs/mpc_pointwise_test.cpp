// The pointwise bound of mpc, on all values of the short types and many of the long ones;
// src/compressor/codecs/mpc/bound.md.
#include <cmath>
#include <limits>

#include "compressor/codecs/mpc/rounding.hpp"
#include "support/mpc_frames.hpp"

namespace taut::test {
namespace mpc_pointwise_test {

constexpr double bounds[] = {1e-9, 1e-6, 1e-3, 0.01, 0.06, 0.1, 0.2, 1.0 / 3, 0.5, 1, 1e10};

struct Half {
  using Word = std::uint16_t;
  static constexpr DType type = DType::f16;
  static constexpr int mantissa = 10, least = -24;
};
struct Brain {
  using Word = std::uint16_t;
  static constexpr DType type = DType::bf16;
  static constexpr int mantissa = 7, least = -133;
};
struct Single {
  using Word = std::uint32_t;
  static constexpr DType type = DType::f32;
  static constexpr int mantissa = 23, least = -149;
};
struct Double {
  using Word = std::uint64_t;
  static constexpr DType type = DType::f64;
  static constexpr int mantissa = 52, least = -1074;
};

template <class Type>
class MpcPointwise : public testing::Test {
 protected:
  using Bits = typename Type::Word;
  static constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  static constexpr Bits infinity = static_cast<Bits>(sign - (Bits{1} << Type::mantissa));

  // Returns the exact value: a double holds every value of these types.
  static double value(Bits bits) {
    const Bits magnitude = bits & static_cast<Bits>(~sign);
    const auto exponent = static_cast<int>(magnitude >> Type::mantissa);
    const auto fraction = static_cast<double>(magnitude & ((Bits{1} << Type::mantissa) - 1));
    const double x = exponent == 0
                         ? std::ldexp(fraction, Type::least)
                         : std::ldexp(fraction + std::ldexp(1, Type::mantissa), Type::least + exponent - 1);
    return (bits & sign) != 0 ? -x : x;
  }

  // Returns all bit patterns of the short types; of the long ones a sample, and those around powers of two
  // and ties.
  static std::vector<Bits> samples() {
    std::vector<Bits> all;
    if constexpr (sizeof(Bits) == 2) {
      for (unsigned b = 0; b < 65536; ++b) all.push_back(static_cast<Bits>(b));
    } else {
      for (int bit = 0; bit <= Type::mantissa; ++bit)  // just too large to round, and just small enough
        for (int off = -2; off <= 2; ++off)
          all.push_back(static_cast<Bits>(infinity - (Bits{1} << bit) + static_cast<Bits>(off)));
      std::mt19937_64 random(3);
      for (int i = 0; i < 100000; ++i) all.push_back(static_cast<Bits>(random()));
      for (Bits exponent = 0; exponent <= infinity >> Type::mantissa; ++exponent)
        for (int bit = 0; bit <= Type::mantissa; bit += 1 + bit / 8)
          for (int off = -2; off <= 2; ++off)
            all.push_back(
                static_cast<Bits>((exponent << Type::mantissa) + (Bits{1} << bit) + static_cast<Bits>(off)));
    }
    return all;
  }
};

using Types = testing::Types<Half, Brain, Single, Double>;
TYPED_TEST_SUITE(MpcPointwise, Types);

TYPED_TEST(MpcPointwise, WithinTheBoundIdempotentAndMonotone) {
  using Word = typename TypeParam::Word;
  for (const double bound : bounds) {
    const auto r = mpc::Rounding::within(bound, TypeParam::type);
    if (r.dropped == 0) continue;
    for (const Word bits : this->samples()) {
      const Word x = mpc::rounded(bits, r);
      ASSERT_EQ(mpc::rounded(x, r), x);
      ASSERT_EQ((x ^ bits) & this->sign, 0);
      const Word magnitude = bits & static_cast<Word>(~this->sign);
      if (magnitude >= this->infinity || magnitude >> TypeParam::mantissa == 0) {
        ASSERT_EQ(x, bits);
        continue;
      }
      const double before = this->value(bits), after = this->value(x);
      ASSERT_LT(x & static_cast<Word>(~this->sign), this->infinity);
      // The check is exact: the difference needs no more bits than the value, and the product is at most
      // rounded upwards.
      ASSERT_LE(std::abs(before - after), bound * std::abs(before)) << bits << " bound " << bound;
      const Word next = mpc::rounded(static_cast<Word>(bits + 1), r);
      if (magnitude + 1 < this->infinity) {
        ASSERT_GE(std::abs(this->value(next)), std::abs(after));
      }
    }
  }
}

TYPED_TEST(MpcPointwise, NoFewerBitsWouldDo) {
  using Word = typename TypeParam::Word;
  for (const double bound : bounds) {
    auto r = mpc::Rounding::within(bound, TypeParam::type);
    if (r.dropped == TypeParam::mantissa) continue;
    ++r.dropped;
    r.least_normal = std::uint64_t{1} << TypeParam::mantissa;
    r.range = std::uint64_t{this->infinity} / 2;
    const Word one = static_cast<Word>(this->infinity / 2 >> TypeParam::mantissa << TypeParam::mantissa);
    const Word tie = static_cast<Word>(one + (Word{1} << (r.dropped - 1)));
    const double error = std::abs(this->value(tie) - this->value(mpc::rounded(tie, r)));
    EXPECT_GT(error, static_cast<long double>(bound) * this->value(tie)) << bound;
  }
}

// In a frame each value rounds as it does alone, with any kernels and neighbours.
TYPED_TEST(MpcPointwise, FramesHoldTheRoundedValues) {
  using Word = typename TypeParam::Word;
  const std::vector<Word> samples = this->samples();
  for (const double bound : {1e-6, 1e-3, 0.1}) {
    const Bound pointwise{Bound::Kind::pointwise, bound};
    const auto r = mpc::Rounding::within(bound, TypeParam::type);
    for (const std::size_t n : {1u, 33u, 2049u, 30000u}) {  // short ones are stored
      std::vector<Word> x(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(n)), expected = x;
      if (r.dropped != 0)
        for (Word& w : expected) w = mpc::rounded(w, r);
      const ByteVector reference =
          mpc_frame(*mpc_codec("d1", "scalar", pointwise), TypeParam::type, as_bytes(x));
      for (const char* kernels : mpc_kernel_names()) {
        const auto codec = mpc_codec("d1", kernels, pointwise);
        EXPECT_TRUE(mpc_frame(*codec, TypeParam::type, as_bytes(x)) == reference) << kernels;
        ByteVector decoded(n * sizeof(Word));
        ASSERT_EQ(mpc_decode(*codec, TypeParam::type, reference, decoded), Status::ok);
        EXPECT_TRUE(decoded == as_bytes(expected)) << kernels << " " << n << " " << bound;
      }
    }
  }
}

TEST(MpcPointwiseTypes, PartsOfComplexValuesAreRounded) {
  const std::vector<float> x(64, 1.01f), one(64, 1.0f);
  ByteVector decoded(256);
  const auto codec = mpc_codec("auto", "", {Bound::Kind::pointwise, 0.1});
  ASSERT_EQ(mpc_decode(*codec, DType::c64, mpc_frame(*codec, DType::c64, as_bytes(x)), decoded), Status::ok);
  EXPECT_TRUE(decoded == as_bytes(one));
}

}  // namespace mpc_pointwise_test
}  // namespace taut::test
