// Tests of the detection of packed integers from a few pieces of a message.
#include "compressor/frame/packed_integers.hpp"

#include <gtest/gtest.h>

#include <cstring>
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
