// The kernels of the general path one by one: every set against plain arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "codecs/planes/exact_sum.hpp"
#include "codecs/planes/general_kernels.hpp"

namespace taut::planes {
namespace {

std::mt19937_64 random_bits(11);

std::vector<const GeneralKernels*> sets() {
  std::vector<const GeneralKernels*> all;
  for (const KernelSet* set : kernel_sets())
    if (set->supported()) all.push_back(&general_kernels(*set));
  return all;
}

std::int64_t integer_of_bits(unsigned bits) {
  const std::uint64_t x = random_bits();
  return bits == 0 ? 0 : static_cast<std::int64_t>(x) >> (64 - bits);
}

TEST(GeneralKernels, WideIntegersComeBackFromTheirPlanes) {
  for (const Predictor predictor : {Predictor::none, Predictor::delta}) {
    for (const unsigned bits : {0u, 1u, 7u, 8u, 9u, 31u, 44u, 63u, 64u}) {
      for (const std::size_t blocks : {1u, 7u, 512u}) {
        std::vector<std::int64_t> q(blocks * block_values);
        for (auto& v : q) v = random_bits() % 3 == 0 ? integer_of_bits(bits) : integer_of_bits(bits / 2);
        std::vector<std::byte> reference;
        for (const GeneralKernels* kernels : sets()) {
          std::vector<std::byte> planes(max_plane_record<std::int64_t>);
          Widths widths;
          planes.resize(kernels->pack(q.data(), blocks, predictor, planes.data(), widths));
          planes.shrink_to_fit();  // so that a sanitizer sees what is read beyond
          if (reference.empty()) reference = planes;
          EXPECT_TRUE(planes == reference) << bits;
          std::vector<std::int64_t> back(q.size(), 5);
          const std::int64_t base = predictor == Predictor::delta ? q[0] : 0;
          kernels->unpack_add(planes, widths, base, blocks, predictor, back.data());
          for (std::size_t i = 0; i < q.size(); ++i)
            ASSERT_EQ(static_cast<std::uint64_t>(back[i]), static_cast<std::uint64_t>(q[i]) + 5) << bits;
        }
      }
    }
  }
}

bool marked(const Marks& marks, std::size_t i) { return (marks.of[i / 64] >> (i % 64) & 1) != 0; }

TEST(GeneralKernels, MarksNameTheirPlaces) {
  for (const GeneralKernels* kernels : sets()) {
    for (const std::size_t n : std::initializer_list<std::size_t>{0, 1, 15, 64, 65, 1000, chunk_values}) {
      std::vector<std::int32_t> q(n);
      std::vector<std::int64_t> wide_q(n);
      std::vector<double> x(n);
      for (std::size_t i = 0; i < n; ++i) {
        q[i] = random_bits() % 2 == 0 ? escaped<std::int32_t> : static_cast<std::int32_t>(random_bits() % 2);
        wide_q[i] = q[i] == escaped<std::int32_t> ? escaped<std::int64_t> : q[i];
        x[i] = random_bits() % 2 == 0 ? std::nan("") : 0.0;
      }
      Marks narrow, wide_marks, repeats, narrow_repeats, wide_repeats;
      kernels->mark_narrow(q.data(), n, narrow);
      kernels->mark_wide(wide_q.data(), n, wide_marks);
      kernels->mark_narrow_repeats(q.data(), n, narrow_repeats);
      kernels->mark_wide_repeats(wide_q.data(), n, wide_repeats);
      kernels->f64.mark_repeats(x.data(), n, repeats);
      std::vector<double> put(n, 1.0);
      kernels->f64.put(put.data(), n, narrow, 7.0);
      for (std::size_t i = 0; i < chunk_values; ++i) {
        const bool is_escaped = i < n && q[i] == escaped<std::int32_t>;
        ASSERT_EQ(marked(narrow, i), is_escaped);
        ASSERT_EQ(marked(wide_marks, i), is_escaped);
        ASSERT_EQ(marked(repeats, i), i > 0 && i < n && std::isnan(x[i]) == std::isnan(x[i - 1]));
        ASSERT_EQ(marked(narrow_repeats, i), i > 0 && i < n && q[i] == q[i - 1]);
        ASSERT_EQ(marked(wide_repeats, i), i > 0 && i < n && q[i] == q[i - 1]);
        if (i < n) {
          ASSERT_EQ(put[i], is_escaped ? 7.0 : 1.0);
        }
      }
    }
  }
}

TEST(GeneralKernels, LooksAheadSeeWhatIsLargeOrNoNumber) {
  for (const GeneralKernels* kernels : sets()) {
    std::vector<float> x(100, -2);
    EXPECT_TRUE(kernels->f32.all_below(x.data(), x.size(), 2));
    for (const float bad : {2.5f, -1e30f, INFINITY, NAN}) {
      x[99] = bad;
      EXPECT_FALSE(kernels->f32.all_below(x.data(), x.size(), 2));
      EXPECT_TRUE(kernels->f32.all_below(x.data(), 99, 2));
    }
  }
}

// Numbers that make roundings hard: few bits, exponents apart, near ties, cancelling.
template <class T>
T awkward() {
  const int exponent =
      static_cast<int>(random_bits() % (sizeof(T) == 8 ? 200 : 90)) - (sizeof(T) == 8 ? 100 : 45);
  const auto mantissa = static_cast<double>(integer_of_bits(random_bits() % 2 == 0 ? 3 : 8 * sizeof(T) - 8));
  return static_cast<T>(std::ldexp(mantissa, exponent));
}

template <class T>
void check_strips(const GeneralKernels& kernels, std::size_t terms) {
  double multiples[Strip::places];
  std::vector<std::vector<T>> x(terms, std::vector<T>(Strip::places));
  T sums[Strip::places];
  for (double& m : multiples)
    m = static_cast<double>(integer_of_bits(static_cast<unsigned>(random_bits() % 46)));
  const double step = std::abs(static_cast<double>(awkward<T>()));
  for (auto& row : x)
    for (T& v : row) v = awkward<T>();
  if (terms > 1)
    for (std::size_t i = 0; i < Strip::places; i += 3) x[1][i] = -x[0][i];
  x[0][7] = std::numeric_limits<T>::infinity();

  Strip strip;
  kernels.multiply(strip, multiples, step, Strip::places);
  for (const auto& row : x) kernels.of<T>().add(strip, row.data(), Strip::places);
  kernels.of<T>().round(strip, Strip::places, sums);
  EXPECT_EQ(strip.certain[7], 0u);
  for (std::size_t i = 0; i < Strip::places; ++i) {
    if (strip.certain[i] == 0) continue;
    ExactSum exact;
    exact.add_product(multiples[i], step);
    for (const auto& row : x) exact.add(static_cast<double>(row[i]));
    ASSERT_EQ(sums[i], exact.rounded<T>()) << i << " of " << terms;
  }
}

TEST(GeneralKernels, StripsAreRoundedOnceWhereTheySaySo) {
  for (const GeneralKernels* kernels : sets()) {
    for (int round = 0; round < 2000; ++round) {
      check_strips<float>(*kernels, 1 + static_cast<std::size_t>(round) % 8);
      check_strips<double>(*kernels, 1 + static_cast<std::size_t>(round) % 8);
    }
  }
}

}  // namespace
}  // namespace taut::planes
