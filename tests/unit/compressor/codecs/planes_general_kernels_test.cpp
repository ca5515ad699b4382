// Each kernel of the general path: every kernel set against plain arithmetic.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "compressor/codecs/planes/format/runs.hpp"
#include "compressor/codecs/planes/kernels/general_kernels.hpp"
#include "compressor/codecs/planes/record/exact_sum.hpp"
#include "compressor/values/reduction.hpp"

namespace taut::planes {
namespace planes_general_kernels_test {

std::mt19937_64 random_bits(11);

std::vector<const GeneralKernels*> sets() {
  std::vector<const GeneralKernels*> all;
  for (const KernelSet* set : kernel_sets())
    if (set->supported()) all.push_back(&set->general());
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
          planes.shrink_to_fit();  // a sanitizer then detects reads beyond the end
          if (reference.empty()) reference = planes;
          EXPECT_TRUE(planes == reference) << bits;
          std::vector<std::int64_t> back(q.size(), 5);
          const std::int64_t base = predictor == Predictor::delta ? q[0] : 0;
          const WidePlanes in[] = {{planes, &widths, base}, {planes, &widths, base}, {planes, &widths, base}};
          kernels->unpack_add(in[0], blocks, predictor, back.data());
          std::vector<std::byte> three(max_plane_record<std::int64_t>);
          Widths three_widths;
          three.resize(kernels->sum(in, 3, blocks, three.data(), three_widths));
          std::vector<std::int64_t> total(q.size());
          kernels->unpack_add(
              {three, &three_widths, static_cast<std::int64_t>(3 * static_cast<std::uint64_t>(base))}, blocks,
              predictor, total.data());
          for (std::size_t i = 0; i < q.size(); ++i) {
            const auto v = static_cast<std::uint64_t>(q[i]);
            ASSERT_EQ(static_cast<std::uint64_t>(back[i]), v + 5) << bits;
            ASSERT_EQ(static_cast<std::uint64_t>(total[i]), 3 * v) << bits;
          }
        }
      }
    }
  }
}

bool marked(const ChunkMask& marks, std::size_t i) { return (marks.words[i / 64] >> (i % 64) & 1) != 0; }

TEST(GeneralKernels, MarksNameTheirPlaces) {
  for (const GeneralKernels* kernels : sets()) {
    for (const std::size_t n : std::initializer_list<std::size_t>{0, 1, 15, 64, 65, 1000, chunk_values}) {
      std::vector<std::int32_t> q(n);
      std::vector<std::int64_t> wide_q(n);
      for (std::size_t i = 0; i < n; ++i) {
        q[i] = random_bits() % 2 == 0 ? escaped<std::int32_t> : static_cast<std::int32_t>(random_bits() % 2);
        wide_q[i] = q[i] == escaped<std::int32_t> ? escaped<std::int64_t> : q[i];
      }
      ChunkMask marks, narrow_repeats, wide_repeats;
      kernels->mark_escaped(wide_q.data(), n, marks);
      kernels->mark_narrow_repeats(q.data(), n, narrow_repeats);
      kernels->mark_wide_repeats(wide_q.data(), n, wide_repeats);
      std::vector<double> put(n, 1.0);
      kernels->for_type<double>().put(put.data(), n, marks, 7.0);
      for (std::size_t i = 0; i < chunk_values; ++i) {
        const bool is_escaped = i < n && q[i] == escaped<std::int32_t>;
        ASSERT_EQ(marked(marks, i), is_escaped);
        ASSERT_EQ(marked(narrow_repeats, i), i > 0 && i < n && q[i] == q[i - 1]);
        ASSERT_EQ(marked(wide_repeats, i), i > 0 && i < n && q[i] == q[i - 1]);
        if (i < n) {
          ASSERT_EQ(put[i], is_escaped ? 7.0 : 1.0);
        }
      }
    }
  }
}

// Returns values around the limits of the ranges, halves between integers, NaN and infinities.
template <class T>
std::vector<T> hard_to_quantise(std::size_t n, double step) {
  std::vector<T> x(n);
  for (T& v : x) {
    const double limit = std::ldexp(1, random_bits() % 2 == 0 ? small_bits : large_bits);
    const auto half_steps = static_cast<double>(random_bits() % 9) / 2 - 2;
    const std::uint64_t kind = random_bits() % 16;
    v = static_cast<T>((kind < 3 ? half_steps : kind < 5 ? limit + half_steps : -limit + half_steps) * step);
    if (kind > 7) v = static_cast<T>(static_cast<double>(integer_of_bits(30)) * step / 16);
    if (kind > 13) v = kind == 14 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(1e30);
  }
  return x;
}

// The reference computes the small range in the arithmetic of T, the large one in double.
template <class T>
double nearest_integer(T x, const Quantiser<T>& z) {
  const auto near = static_cast<double>(std::nearbyint(x * z.inverse));
  if (near >= -0x1p14 && near < 0x1p14) return near;
  return std::nearbyint(static_cast<double>(x) * (1 / static_cast<double>(z.step)));
}

template <class T>
void check_quantisers(std::size_t groups) {
  const auto z = Quantiser<T>::make(std::ldexp(1 + static_cast<double>(random_bits() % 1000) / 1000, -10),
                                    Predictor::delta);
  const std::vector<T> x = hard_to_quantise<T>(groups * group_values, static_cast<double>(z.step));
  std::vector<std::vector<std::int32_t>> integers;
  std::vector<std::vector<std::byte>> runs;
  for (const GeneralKernels* kernels : sets()) {
    std::vector<std::int32_t> q(x.size());
    std::vector<std::byte> out(16 * chunk_values);
    ChunkMask marks;
    const QuantisedChunk found = kernels->for_type<T>().quantise(x.data(), groups, z, q.data(), marks);
    bool complete = true, small = true;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = nearest_integer(x[i], z);
      const bool good =
          exact >= -0x1p22 && exact < 0x1p22 &&
          std::abs(x[i] - dequantise<T>(static_cast<std::int64_t>(exact), z.step)) <= T(z.bound);
      ASSERT_EQ(marked(marks, i), !good) << x[i] / z.step;
      if (good) {
        ASSERT_EQ(q[i], static_cast<std::int32_t>(exact));
        small &= exact >= -0x1p14 && exact < 0x1p14;
      }
      complete &= good;
    }
    ASSERT_EQ(found.all_have_integers, complete);
    ASSERT_EQ(found.all_small, small);
    const std::size_t n = x.size() - 3 * (groups % 2);
    if (n < x.size()) marks.words[groups - 1] &= ~std::uint64_t{0} >> 3;
    out.resize(kernels->for_type<T>().take_runs(x.data(), n, marks, chunk_values, q.data(), out.data()) *
               run_bytes<T>(false));
    integers.push_back(q);
    integers.back().resize(n);
    runs.push_back(out);
    ASSERT_TRUE(integers.front() == integers.back());
    ASSERT_TRUE(runs.front() == runs.back());
  }
}

TEST(GeneralKernels, QuantisersAgreeAndMarkWhatMissesTheBound) {
  for (int round = 0; round < 200; ++round) {
    check_quantisers<float>(1 + random_bits() % 64);
    check_quantisers<double>(1 + random_bits() % 64);
  }
}

// Kernels of the large range refuse integers beyond it, and have the others as the general path has them.
template <class T>
void check_large_quantisers(double greatest) {
  const auto z = Quantiser<T>::make(1e-3, Predictor::delta);
  constexpr std::size_t groups = 3;
  std::vector<T> x(groups * group_values);
  std::uniform_real_distribution<double> values(-greatest * static_cast<double>(z.step),
                                                greatest * static_cast<double>(z.step));
  for (T& value : x) value = static_cast<T>(values(random_bits));
  std::vector<std::int32_t> expected(x.size());
  ChunkMask marks;
  const GeneralKernels& general = KernelSet::with<simd::Scalar>().general();
  ASSERT_TRUE(general.for_type<T>().quantise(x.data(), groups, z, expected.data(), marks).all_have_integers);
  const T refused[] = {static_cast<T>(NAN), std::numeric_limits<T>::infinity(), static_cast<T>(-1e30),
                       static_cast<T>((2 << unchecked_bits<T>)*static_cast<double>(z.step))};
  for (const KernelSet* set : kernel_sets()) {
    const auto quantise = set->for_type<T>().quantise_large;
    if (!set->supported() || quantise == nullptr) continue;
    std::vector<std::int32_t> q(x.size());
    EXPECT_TRUE(quantise(x.data(), groups, z, q.data()));
    EXPECT_TRUE(q == expected);
    for (const T value : refused) {
      std::vector<T> other = x;
      other[random_bits() % x.size()] = value;
      EXPECT_FALSE(quantise(other.data(), groups, z, q.data())) << value;
    }
  }
}

TEST(GeneralKernels, QuantisersOfTheLargeRangeAgree) {
  for (const double greatest : {100.0, 16383.0, 16385.0, 40000.0, 65535.0}) {
    for (int round = 0; round < 50; ++round) {
      check_large_quantisers<float>(greatest);
      check_large_quantisers<double>(greatest);
    }
  }
}

// A group between equal values repeats them only if all of its values are equal.
template <class T>
void check_groups_that_differ_at_a_place() {
  const auto z = Quantiser<T>::make(0x1p-10, Predictor::delta);
  for (std::size_t place = 1; place + 1 < group_values; ++place) {
    std::vector<T> x(2 * group_values, static_cast<T>(1.0f));
    x[group_values + place] = static_cast<T>(2.0f);
    for (const GeneralKernels* kernels : sets()) {
      std::vector<std::int32_t> q(x.size());
      ChunkMask marks;
      kernels->for_type<T>().quantise(x.data(), 2, z, q.data(), marks);
      ASSERT_GT(q[group_values + place], q[group_values]) << place;
    }
  }
}

TEST(GeneralKernels, GroupsThatDifferAtAPlaceAreNoRepeats) {
  check_groups_that_differ_at_a_place<float>();
  check_groups_that_differ_at_a_place<double>();
  check_groups_that_differ_at_a_place<f16>();
  check_groups_that_differ_at_a_place<bf16>();
}

TEST(GeneralKernels, LooksAheadSeeWhatIsLargeOrNoNumber) {
  for (const GeneralKernels* kernels : sets()) {
    std::vector<float> x(100, -2);
    EXPECT_TRUE(kernels->for_type<float>().all_below(x.data(), x.size(), 2));
    for (const float bad : {2.5f, -1e30f, INFINITY, NAN}) {
      x[99] = bad;
      EXPECT_FALSE(kernels->for_type<float>().all_below(x.data(), x.size(), 2));
      EXPECT_TRUE(kernels->for_type<float>().all_below(x.data(), 99, 2));
    }
  }
}

// Returns numbers that are hard to round: few bits, exponents far apart, near ties, cancelling.
template <class T>
T awkward() {
  const int exponent =
      static_cast<int>(random_bits() % (sizeof(T) == 8 ? 200 : 90)) - (sizeof(T) == 8 ? 100 : 45);
  const auto mantissa = static_cast<double>(integer_of_bits(random_bits() % 2 == 0 ? 3 : 8 * sizeof(T) - 8));
  return static_cast<T>(std::ldexp(mantissa, exponent));
}

template <class T>
void check_compensated_sums(const GeneralKernels& kernels, std::size_t terms) {
  double multiples[CompensatedSums::positions];
  std::vector<std::vector<T>> x(terms, std::vector<T>(CompensatedSums::positions));
  T sums[CompensatedSums::positions];
  for (double& m : multiples)
    m = static_cast<double>(integer_of_bits(static_cast<unsigned>(random_bits() % 46)));
  const double step = std::abs(static_cast<double>(awkward<T>()));
  for (auto& row : x)
    for (T& v : row) v = awkward<T>();
  if (terms > 1)
    for (std::size_t i = 0; i < CompensatedSums::positions; i += 3) x[1][i] = -x[0][i];
  x[0][7] = std::numeric_limits<T>::infinity();

  CompensatedSums compensated;
  kernels.multiply(compensated, multiples, step, CompensatedSums::positions);
  for (const auto& row : x)
    kernels.for_type<T>().add_compensated(compensated, row.data(), CompensatedSums::positions);
  kernels.for_type<T>().round(compensated, CompensatedSums::positions, sums);
  EXPECT_EQ(compensated.certain[7], 0u);
  for (std::size_t i = 0; i < CompensatedSums::positions; ++i) {
    if (compensated.certain[i] == 0) continue;
    ExactSum exact;
    exact.add_product(multiples[i], step);
    for (const auto& row : x) exact.add(static_cast<double>(row[i]));
    ASSERT_EQ(sums[i], exact.rounded<T>()) << i << " of " << terms;
  }
}

TEST(GeneralKernels, StripsAreRoundedOnceWhereTheySaySo) {
  for (const GeneralKernels* kernels : sets()) {
    for (int round = 0; round < 2000; ++round) {
      check_compensated_sums<float>(*kernels, 1 + static_cast<std::size_t>(round) % 8);
      check_compensated_sums<double>(*kernels, 1 + static_cast<std::size_t>(round) % 8);
    }
  }
}

// Checks every pattern of 16 bits, in arrays of n values: with few values the last register is not full.
template <class T>
void check_halves(const GeneralValueKernels<T>& kernels, std::size_t n) {
  for (std::uint32_t first = 0; first < 65536; first += chunk_values) {
    std::vector<T> x(n), sums(n), forms(n);
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = T::of_bits(static_cast<std::uint16_t>(first + i));
      sums[i] = T::of_bits(static_cast<std::uint16_t>(40503 * i + first));
      if (std::isnan(static_cast<float>(x[i]))) sums[i] = static_cast<T>(1.0);  // of two NaN, either may stay
    }
    const std::vector<T> before = sums;
    kernels.add(sums.data(), x.data(), n);
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_EQ(sums[i].bits, combine(Reduction::sum, before[i], x[i]).bits) << x[i].bits;
    for (const double step : {0x1p-24, 0x1p-9, 1.0, 0x1p5}) {
      const auto z = Quantiser<T>::make(step / 2, Predictor::delta);
      kernels.decoded_forms(x.data(), n, z, forms.data());
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(forms[i].bits, as_decoded(x[i], z).bits) << x[i].bits << " " << step;
    }
  }
}

TEST(GeneralKernels, HalvesAreAddedAndDecodedLikeOneValue) {
  for (const GeneralKernels* kernels : sets()) {
    for (const std::size_t n : {chunk_values, std::size_t{1000}, std::size_t{7}}) {
      check_halves(kernels->for_type<f16>(), n);
      check_halves(kernels->for_type<bf16>(), n);
    }
  }
}

}  // namespace planes_general_kernels_test
}  // namespace taut::planes
