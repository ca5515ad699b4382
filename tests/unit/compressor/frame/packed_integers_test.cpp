// Tests of the detection of packed integers from a few pieces of a message.
#include "compressor/frame/packed_integers.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

#include "compressor/values/value_range.hpp"
#include "support/packed.hpp"

namespace taut::test {
namespace packed_integers_test {

constexpr std::size_t count = 50000;

template <class T>
PackedIntegers packing(const std::vector<T>& x) {
  return find_packed_integers({{x.data(), x.size(), dtype_of<T>}});
}

template <class T>
std::vector<T> field(auto value) {
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<T>(value(i));
  return x;
}

TEST(PackingOf, BuffersOfPrograms) {
  EXPECT_EQ(packing(lammps(9000).values), PackedIntegers::small);
  EXPECT_EQ(packing(gromacs(9000).values), PackedIntegers::small);
  EXPECT_EQ(packing(amrex(9000).values), PackedIntegers::small);
}

template <class T>
class PackingOfFields : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(PackingOfFields, Reals);

TYPED_TEST(PackingOfFields, NumbersAreNone) {
  using T = TypeParam;
  EXPECT_EQ(packing(field<T>([](std::size_t i) { return coordinate(i, 0); })), PackedIntegers::none);
  EXPECT_EQ(packing(field<T>([](std::size_t) { return 0; })), PackedIntegers::none);
  EXPECT_EQ(packing(field<T>([](std::size_t i) { return i % 50 < 20 ? 9.96921e36 : coordinate(i, 0); })),
            PackedIntegers::none);
  EXPECT_EQ(packing(field<T>([](std::size_t i) { return i % 9 < 2 ? NAN : coordinate(i, 0); })),
            PackedIntegers::none);
  EXPECT_EQ(packing(std::vector<T>{}), PackedIntegers::none);
  EXPECT_EQ(packing(std::vector<T>{T{1}}), PackedIntegers::none);
}

// A tail that decreases smoothly below the zone of numbers: exp(-x).
TYPED_TEST(PackingOfFields, TailsAreNone) {
  const double most = sizeof(TypeParam) == 4 ? 100 : 700;
  EXPECT_EQ(packing(field<TypeParam>([=](std::size_t i) {
              const double x = static_cast<double>(i % 600) / 600;
              return std::exp(-most * x) * (1 + 0.1 * std::sin(static_cast<double>(i)));
            })),
            PackedIntegers::none);
}

// Integers of any bits, with or without numbers beside them.
TYPED_TEST(PackingOfFields, HashesAreSpread) {
  using T = TypeParam;
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  std::mt19937_64 random(7);
  for (const std::size_t one_in : {1u, 2u, 8u}) {
    std::vector<T> x = field<T>([](std::size_t i) { return coordinate(i, 0); });
    for (std::size_t i = 0; i < count; i += one_in) x[i] = std::bit_cast<T>(static_cast<Word>(random()));
    EXPECT_EQ(packing(x), PackedIntegers::large) << one_in;
  }
}

// Few words of text or of a random generator's state, some of which read as ordinary numbers.
TEST(PackingOf, RareWordsBesideNumbersAreFound) {
  constexpr const char* words[] = {"C  1S   ", "H       ", "ATOM0001", "GAUSSIAN"};
  std::mt19937_64 random(7);
  for (const std::size_t one_in : {50u, 100u}) {
    std::vector<double> x = field<double>([](std::size_t i) { return coordinate(i, 0); });
    for (std::size_t i = 0; i < count; i += one_in) std::memcpy(&x[i], words[random() % 4], 8);
    EXPECT_EQ(packing(x), PackedIntegers::large) << one_in;
  }
  std::vector<double> x = field<double>([](std::size_t i) { return coordinate(i, 0); });
  for (std::size_t i = 0; i < count; i += 200) x[i] = std::bit_cast<double>(random());
  EXPECT_EQ(packing(x), PackedIntegers::large);
}

// Fields with fill values, numbers of all usual sizes, rounding noise and denormal tails.
TEST(PackingOf, FieldsWithFillsNoiseAndTailsAreNone) {
  std::mt19937_64 random(7);
  const auto smooth = [](std::size_t i) { return coordinate(i, 0); };
  EXPECT_EQ(packing(field<double>([&](std::size_t i) { return i % 40 < 3 ? 1e30 : smooth(i); })),
            PackedIntegers::none);
  EXPECT_EQ(packing(field<double>([&](std::size_t i) { return i % 3 == 0 ? 1e-17 * smooth(i) : smooth(i); })),
            PackedIntegers::none);
  EXPECT_EQ(packing(field<double>(
                [&](std::size_t) { return std::pow(10.0, static_cast<double>(random() % 30) - 15); })),
            PackedIntegers::none);
  EXPECT_EQ(packing(field<double>([](std::size_t i) {
              const double x = static_cast<double>(i % 600) / 600;
              return i % 200 < 3 ? 1e30 : std::exp(-700 * x) * (1 + 0.1 * std::sin(static_cast<double>(i)));
            })),
            PackedIntegers::none);
}

TEST(PackingOf, LargeIndicesBesideNumbersAreSpread) {
  PackedBuffer<float> b{"300 million indices", {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    for (int axis = 0; axis < 3; ++axis) b.number(coordinate(i, axis));
    b.integer(static_cast<std::int32_t>(300'000'000 + i));
  }
  EXPECT_EQ(packing(b.values), PackedIntegers::large);
}

// Pairs of int32 of a billion are numbers of 1e-21, text that ends with blanks is a number of 1e-154. Their
// exponents do not jump.
TEST(PackingOf, PairsOfIntegersNearEachOtherAreFound) {
  std::mt19937_64 random(7);
  const auto pair_near = [&](std::uint64_t least) {
    const auto one = [&] { return least + random() % 1'000'000; };
    return std::bit_cast<double>(one() << 32 | one());
  };
  for (const std::uint64_t least : {900'000'000U, 1'000'000'000U, 1'100'000'000U})
    EXPECT_EQ(packing(field<double>([&](std::size_t) { return pair_near(least); })), PackedIntegers::large)
        << least;
  const auto padded = [&](std::size_t i) { return i % 3 == 0 ? 0 : pair_near(1'000'000'000); };
  EXPECT_EQ(packing(field<double>(padded)), PackedIntegers::large);
}

TYPED_TEST(PackingOfFields, TextIsFound) {
  using T = TypeParam;
  constexpr char text[] = "It was a bright cold day in April, and the clocks were striking thirteen.       ";
  std::vector<T> words(count), names(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(&words[i], text + i * sizeof(T) % (sizeof text - 1 - sizeof(T)), sizeof(T));
    char name[] = "A       ";
    name[0] = static_cast<char>('A' + i % 7);
    name[1] = static_cast<char>('0' + i % 10);
    std::memcpy(&names[i], name, sizeof(T));
  }
  EXPECT_EQ(packing(words), PackedIntegers::large);
  EXPECT_EQ(packing(names), PackedIntegers::large);
}

// The least int64 is the double -0.0, which no codec tells from 0.
TYPED_TEST(PackingOfFields, TheLeastIntegerIsFoundBesideOthers) {
  using T = TypeParam;
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr Word least = Word{1} << (8 * sizeof(Word) - 1);
  const auto integers = [](std::size_t one_in) {
    std::vector<T> x(count);
    for (std::size_t i = 0; i < count; ++i) x[i] = std::bit_cast<T>(i % one_in == 0 ? least : Word(i + 1));
    return packing(x);
  };
  EXPECT_EQ(integers(100), PackedIntegers::large);
  EXPECT_EQ(integers(3), PackedIntegers::large);
  EXPECT_EQ(packing(field<T>([](std::size_t i) { return i % 3 == 0 ? -0.0 : coordinate(i, 0); })),
            PackedIntegers::none);
}

// Fields as applications have them: round numbers, numbers of 32-bit precision in doubles, masks, few
// distinct values, rounding noise about 1, repeated fractions, decimals.
TYPED_TEST(PackingOfFields, NumbersOfFewBitsAreNone) {
  using T = TypeParam;
  std::mt19937_64 random(7);
  const double few[] = {1.0 / 3, 0.1, 273.15, -1.0 / 7};
  const auto normal = [&] { return std::normal_distribution<double>()(random); };
  const std::vector<std::function<double(std::size_t)>> fields = {
      [](std::size_t i) { return static_cast<double>(i % 300); },
      [](std::size_t i) { return static_cast<double>(static_cast<float>(coordinate(i, 1))); },
      [&](std::size_t) { return static_cast<double>(random() % 2); },
      [&](std::size_t) { return few[random() % 4]; },
      [&](std::size_t) { return 1 + 0x1p-52 * static_cast<double>(random() % 9) - 0x1p-50; },
      [](std::size_t i) { return static_cast<double>(i % 1000 + 1) / 3; },
      [](std::size_t i) { return static_cast<double>(i % 4000) / 100; },
      [](std::size_t i) { return static_cast<double>(i % 4000) / 255; },
      [&](std::size_t) { return normal(); },
      [&](std::size_t) { return 1e-21 * (1 + 0.01 * normal()); },
      [&](std::size_t) { return 1e7 * std::exp(normal()); },
      [&](std::size_t i) { return i % 5 == 0 ? -0.0 : 1e-3 * normal(); },
      [](std::size_t i) { return std::ldexp(1.0, static_cast<int>(i % 20)); },
      [](std::size_t i) {  // a float of few bits, which as a double has a first half near the second
        return std::bit_cast<double>(0x4070'0000'4000'0000 | (i % 4000) << 32);
      },
  };
  for (std::size_t i = 0; i < fields.size(); ++i)
    EXPECT_EQ(packing(field<T>(fields[i])), PackedIntegers::none) << i;
}

TEST(PackingOf, OtherTypesAreNone) {
  const std::vector<std::uint16_t> x(count, 3);
  EXPECT_EQ(find_packed_integers({{x.data(), x.size(), DType::f16}}), PackedIntegers::none);
  const auto pairs = gromacs(9000);
  EXPECT_EQ(find_packed_integers({{pairs.values.data(), pairs.values.size() / 2, DType::c64}}),
            PackedIntegers::small);
}

// ---- The range of a message

TEST(PackingOf, PackedIntegersHaveNoPartInTheRange) {
  std::vector<float> x = field<float>([](std::size_t i) { return 100 + coordinate(i, 0); });
  const ConstSlice all{{x.data(), x.size(), DType::f32}};
  const ValueRange before = range_of(all, {}, PackedBits::exact);
  EXPECT_EQ(before.greatest - before.least, range_of(all, {}).greatest - range_of(all, {}).least);
  x[10] = std::bit_cast<float>(std::int32_t{77});
  x[20] = std::bit_cast<float>(std::int32_t{-20'000'000});  // -3.6e35
  const ValueRange after = range_of(all, {}, PackedBits::exact), rounded = range_of(all, {});
  EXPECT_EQ(after.least, before.least);
  EXPECT_EQ(after.greatest, before.greatest);
  EXPECT_LT(rounded.least, -1e34);
}

}  // namespace packed_integers_test
}  // namespace taut::test
