// Tests zfp frames at a rate: the kernels write the CPU's bytes, and decode the CPU's values.
#include <gtest/gtest.h>

#include "gpu/kernels/patterns.hpp"
#include "gpu/kernels/rate_round.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace rate_test {

template <class T>
class GpuRate : public testing::Test {
 public:
  void try_it(const std::vector<T>& x, double rate, const Dims& dims = {}) {
    gpu.reseed(x.size());
    there_and_back(codec, x, rate, dims);
  }

  shim::Gpu gpu{0};
  RateGpuCodec<T> codec{gpu};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GpuRate, Types);

constexpr double rates[] = {0.5, 2.3, 3, 4, 7, 8, 9.7, 16, 24.25, 31.9, 32, 40, 63.9, 64};

TYPED_TEST(GpuRate, IsWhatTheCpuWrites) {
  for (const double rate : rates) {
    for (const Pattern pattern : all_patterns) {
      for (const std::size_t n : {1u, 130u, 1027u, 5003u}) {
        if (!test::is_sampled()) continue;
        SCOPED_TRACE(testing::Message() << name_of(pattern) << " n " << n << " rate " << rate);
        this->try_it(make<TypeParam>(pattern, n, 7), rate);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(GpuRate, ServesEveryLengthOfASmallMessage) {
  for (std::size_t n = 0; n < 80; ++n) {
    SCOPED_TRACE(testing::Message() << "n " << n);
    this->try_it(make<TypeParam>(Pattern::sprinkled, n, n), rates[n % std::size(rates)]);
    if (testing::Test::HasFailure()) return;
  }
}

// At a low rate some tiles are stored, some are repaired, and some are coded.
TYPED_TEST(GpuRate, ServesSeveralBoxes) {
  std::vector<TypeParam> x = make<TypeParam>(Pattern::walk, 3 * 65536 + 77, 3);
  for (std::size_t i = 65536; i < 70000; ++i) x[i] = std::numeric_limits<TypeParam>::quiet_NaN();
  for (std::size_t i = 2 * 65536; i < 3 * 65536; i += 3) x[i] = -std::numeric_limits<TypeParam>::infinity();
  for (const double rate : {3.0, 8.0, 20.1}) {
    SCOPED_TRACE(testing::Message() << "rate " << rate);
    this->try_it(x, rate);
    if (testing::Test::HasFailure()) return;
  }
}

// Values that are not finite: all values of a tile, its first or its last ones, or long ranges.
TYPED_TEST(GpuRate, CodesTheLastFiniteValueInPlaceOfOthers) {
  constexpr auto nan = std::numeric_limits<TypeParam>::quiet_NaN();
  constexpr std::size_t n = 9001;
  const auto usual = make<TypeParam>(Pattern::walk, n, 1);
  for (const auto& [first, last] :
       {std::pair{0, 9001}, {0, 4500}, {0, 9000}, {1, 9001}, {4000, 8193}, {64, 128}}) {
    std::vector<TypeParam> x = usual;
    for (int i = first; i < last; ++i) x[static_cast<std::size_t>(i)] = i % 7 == 0 ? -1 / TypeParam(0) : nan;
    SCOPED_TRACE(testing::Message() << "from " << first << " to " << last);
    for (const double rate : {4.0, 9.0}) this->try_it(x, rate);
    if (testing::Test::HasFailure()) return;
  }
}

// Fields of two to four dimensions: whole and partial blocks along each extent, several tiles, extents of 1
// to 3.
constexpr Dims fields[] = {{{7, 9}, 2},       {{1, 130}, 2},      {{130, 1}, 2},      {{53, 70}, 2},
                           {{3, 30000}, 2},   {{301, 500}, 2},    {{5, 6, 7}, 3},     {{2, 3, 190}, 3},
                           {{33, 22, 45}, 3}, {{1, 40, 41}, 3},   {{70, 3, 1000}, 3}, {{50, 60, 62}, 3},
                           {{5, 6, 7, 9}, 4}, {{2, 2, 2, 50}, 4}, {{4, 8, 4, 12}, 4}, {{3, 17, 30, 50}, 4}};

TYPED_TEST(GpuRate, ServesFields) {
  for (const Dims& dims : fields) {
    for (const double rate : {0.7, 4.0, 9.3, 20.0, 40.0}) {
      for (const Pattern pattern : {Pattern::walk, Pattern::sprinkled, Pattern::mixed}) {
        if (dims.count() > 50000 && (pattern != Pattern::mixed || (rate != 0.7 && rate != 9.3))) continue;
        if (!test::is_sampled()) continue;
        SCOPED_TRACE(testing::Message()
                     << dims.extent[0] << " x " << dims.extent[1] << " x " << dims.extent[2] << " x "
                     << dims.extent[3] << " " << name_of(pattern) << " rate " << rate);
        this->try_it(make<TypeParam>(pattern, dims.count(), 7), rate, dims);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// Messages that are part of a field, or unrelated to its extents.
TYPED_TEST(GpuRate, ServesPartsOfFields) {
  for (const std::size_t n : {0u, 1u, 35u, 42u, 77u, 1000u})
    for (const Dims& dims : {Dims{{5, 6, 7}, 3}, Dims{{11, 7}, 2}})
      this->try_it(make<TypeParam>(Pattern::walk, n, 7), 8, dims);
}

// Different frames use the same scratch memory.
TYPED_TEST(GpuRate, LeavesNothingOfTheCallBefore) {
  for (const std::size_t n : {150000u, 5u, 70001u, 0u, 66000u}) {
    this->try_it(make<TypeParam>(Pattern::mixed, n, n), 5);
    this->try_it(make<TypeParam>(Pattern::wave, n, n), 33);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace rate_test
}  // namespace taut
