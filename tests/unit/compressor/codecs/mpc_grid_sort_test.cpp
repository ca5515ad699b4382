// The sort of the grid search: against std::stable_sort, so that frames of equal values are equal everywhere.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "compressor/codecs/mpc/grid_sort.hpp"

namespace taut::mpc {
namespace mpc_grid_sort_test {

std::mt19937_64 draw(46);

template <class T, class Less>
void expect_sorted(const std::vector<T>& numbers, const Less& less, const char* name) {
  std::vector<T> expected = numbers, sorted = numbers, memory(numbers.size());
  std::ranges::stable_sort(expected, less);
  sort_grid_values(sorted.data(), static_cast<std::uint32_t>(sorted.size()), less, memory.data());
  EXPECT_TRUE(sorted.empty() || std::memcmp(sorted.data(), expected.data(), sorted.size() * sizeof(T)) == 0)
      << name << ", " << numbers.size();
}

constexpr std::uint32_t sizes[] = {0, 1, 2, 3, 16, 17, 31, 127, 128, 255, 256};

template <class T, class Make>
std::vector<T> made(std::uint32_t n, const Make& make) {
  std::vector<T> numbers;
  for (std::uint32_t i = 0; i < n; ++i) numbers.push_back(make(i));
  return numbers;
}

// Values for which a sort by parts is hard: one part for most of them, ends of the range, zeros of both
// signs.
double hard_value(int kind, std::uint32_t i) {
  const auto any = static_cast<double>(draw() % 1000);
  const double zero = draw() % 2 == 0 ? 0.0 : -0.0, sign = draw() % 2 == 0 ? 1 : -1;
  switch (kind) {
    case 0: return any - 500;
    case 1: return zero;
    case 2: return i == 0 ? 1e300 : sign * any * 0x1p-1074;
    case 3: return i == 1 ? -1.7e308 : any < 800 ? zero : sign * (1 + any * 0x1p-52);
    case 4: return std::bit_cast<double>(draw() & 0xFFEFFFFFFFFFFFFF);
    case 5: return 256.0 - i;
    case 6: return any < 500 ? 1.7976931348623157e308 : -1.7976931348623157e308;
    case 7: return i % 2 == 0 ? zero : i * 0x1p-1074;
    default: return sign * (1e16 + any);
  }
}

TEST(MpcGridSort, LeavesValuesAsAStableSortDoes) {
  const auto less = [](double a, double b) { return a < b; };
  for (int round = 0; round < 20; ++round)
    for (const std::uint32_t n : sizes)
      for (int kind = 0; kind < 9; ++kind)
        expect_sorted(made<double>(n, [&](std::uint32_t i) { return hard_value(kind, i); }), less, "values");
}

// Many different values in one part, so that insertion is given up. std::sort alone leaves zeros in any
// order.
TEST(MpcGridSort, KeepsTheOrderOfZerosWhereInsertionIsGivenUp) {
  const auto less = [](double a, double b) { return a < b; };
  for (int round = 0; round < 50; ++round) {
    std::vector<double> x(max_grid_values);
    for (std::uint32_t i = 0; i < max_grid_values; ++i)
      x[i] = i % 3 != 0 ? (draw() % 2 == 0 ? 0.0 : -0.0) : (max_grid_values - i) * 0x1p-1074;
    x[0] = 1e300;
    expect_sorted(x, less, "zeros");
  }
}

TEST(MpcGridSort, SortsGapsBySizeThenMagnitude) {
  const auto less = [](const GridGap& a, const GridGap& b) {
    return a.size < b.size || (a.size == b.size && a.magnitude < b.magnitude);
  };
  for (const std::uint32_t n : sizes)
    for (int kind = 0; kind < 9; ++kind)
      expect_sorted(made<GridGap>(n,
                                  [&](std::uint32_t i) {
                                    const double size = std::abs(hard_value(kind, i));
                                    return GridGap{size, std::abs(hard_value(kind, n - i))};
                                  }),
                    less, "gaps");
}

template <class Word>
class MpcGridSortOfWords : public testing::Test {};
using Words = testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(MpcGridSortOfWords, Words);

TYPED_TEST(MpcGridSortOfWords, SortsCodes) {
  using Word = TypeParam;
  const auto less = [](Word a, Word b) { return a < b; };
  const auto greatest = static_cast<Word>(~Word{0});
  for (const std::uint32_t n : sizes) {
    expect_sorted(made<Word>(n, [](std::uint32_t) { return static_cast<Word>(draw()); }), less, "any");
    expect_sorted(made<Word>(n, [](std::uint32_t) { return static_cast<Word>(draw() % 5); }), less, "few");
    expect_sorted(made<Word>(n, [&](std::uint32_t i) { return i % 2 == 0 ? greatest : Word{0}; }), less,
                  "ends");
    expect_sorted(made<Word>(n, [&](std::uint32_t i) { return i == 0 ? greatest : Word{n - i}; }), less,
                  "one part");
    expect_sorted(made<Word>(n, [](std::uint32_t) { return Word{7}; }), less, "equal");
  }
}

}  // namespace mpc_grid_sort_test
}  // namespace taut::mpc
