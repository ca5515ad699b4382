// Compares the code with what the certificates in proofs/ assume of it: the numbers of proofs/parameters.txt,
// and the operations of the scripts, one by one as they stand there.
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include "compressor/codecs/mpc/rounding.hpp"
#include "compressor/codecs/planes/format/quantiser.hpp"
#include "compressor/codecs/szx/grid.hpp"
#include "support/frames.hpp"

namespace taut::test {
namespace proofs_test {

using Numbers = std::map<std::string, double>;

Numbers numbers_of_the_certificates() {
  std::ifstream file(TAUT_PROOF_PARAMETERS);
  Numbers numbers;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, value;
    if (words >> name >> value) numbers[name] = std::strtod(value.c_str(), nullptr);
  }
  return numbers;
}

// Returns the bits of the significand of a half type, from the two numbers that follow each other at 1.
template <class Half>
double significand(std::uint16_t one) {
  const auto value = [](std::uint16_t bits) { return double{static_cast<float>(Half::of_bits(bits))}; };
  return 1 - std::log2(value(static_cast<std::uint16_t>(one + 1)) - value(one));
}

Numbers numbers_of_the_code() {
  using namespace planes;
  const double step_of_one =
      planes::Quantiser<double>::make({Bound::Kind::absolute, 1}, Predictor::none).step;
  return {
      {"float32_significand", std::numeric_limits<float>::digits},
      {"float64_significand", std::numeric_limits<double>::digits},
      {"float16_significand", significand<f16>(0x3C00)},
      {"bfloat16_significand", significand<bf16>(0x3F80)},
      {"planes_margin", 1 - step_of_one / 2},
      {"planes_round_step_loss", round_step_loss},
      {"planes_small_bits", small_bits},
      {"planes_large_bits", large_bits},
      {"planes_wide_bits", wide_bits},
      {"planes_narrow_sum_bits", narrow_sum_bits},
      {"planes_float32_lowest_step", StepRange<float>::min},
      {"planes_float32_highest_step", StepRange<float>::max},
      {"planes_float64_lowest_step", StepRange<double>::min},
      {"planes_float64_highest_step", StepRange<double>::max},
      {"szx_margin", szx::step_margin},
      {"szx_step_bits", std::log2(1 + 15)},  // the greatest of the integers in Grid::make
      {"szx_float32_integer_bits", szx::Limits<float>::integer_bits},
      {"szx_float32_direct_bits", szx::Limits<float>::direct_bits},
      {"szx_float64_integer_bits", szx::Limits<double>::integer_bits},
      {"szx_float64_direct_bits", szx::Limits<double>::direct_bits},
  };
}

TEST(Proofs, TheNumbersOfTheCertificatesAreThoseOfTheCode) {
  EXPECT_EQ(numbers_of_the_certificates(), numbers_of_the_code());
}

// ---- The operations of the scripts

std::mt19937_64 random_bits(11);

double draw(double least, double most) {
  return std::uniform_real_distribution<double>(least, most)(random_bits);
}

template <class T>
class ProofsOf : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ProofsOf, Types);

// Sends values with integers up to 2^bits through planes and compares them with the operations of
// bounds/planes.gappa and planes_large.gappa; Product is the type of the product with the inverse. Small
// integers of float32 are never computed in double.
template <class T, class Product>
void compare_planes(int bits) {
  for (int trial = 0; trial < 20; ++trial) {
    const double e = draw(1e-6, 1e6), M = 2 * e * (1 - 0x1p-7);
    const T D = planes::Quantiser<T>::make({Bound::Kind::absolute, e}, planes::Predictor::none).step;
    ASSERT_LE((M - static_cast<double>(D)) / M, planes::round_step_loss);  // what the scripts assume of D
    ASSERT_LE(static_cast<double>(D), M);
    const auto r = static_cast<Product>(1 / static_cast<double>(D));
    std::vector<T> x(planes::chunk_values);
    for (T& one : x) one = static_cast<T>(draw(-1, 1) * std::ldexp(D, bits));
    const auto codec = planes(e, "", "none");
    const std::vector<T> y = decoded<T>(*codec, encoded(*codec, x), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Product s = static_cast<Product>(x[i]) * r, q = std::nearbyint(s);
      if (sizeof(Product) > sizeof(T) && std::abs(q) <= 1 << planes::small_bits) continue;
      const T value = static_cast<T>(static_cast<double>(q) * static_cast<double>(D));
      const bool checked = std::abs(static_cast<double>(x[i]) - static_cast<double>(value)) <= e;
      ASSERT_EQ(y[i], checked ? value : x[i]) << x[i] << " under " << e;
    }
  }
}

TYPED_TEST(ProofsOf, SmallValuesOfPlanes) { compare_planes<TypeParam, TypeParam>(planes::small_bits - 1); }

TYPED_TEST(ProofsOf, LargeAndWideValuesOfPlanes) {
  compare_planes<TypeParam, double>(planes::value_bits<TypeParam> - 1);
}

TYPED_TEST(ProofsOf, BlocksOfSzx) {
  using T = TypeParam;
  using Int = szx::IntOf<T>;
  for (int trial = 0; trial < 200; ++trial) {
    const double e = draw(1e-6, 1e6);
    const auto grid = szx::Grid<T>::make(e);
    const auto D = static_cast<double>(grid.step);
    const double width = std::exp2(draw(1, szx::Limits<T>::direct_bits - 1)), centre = draw(-1e4, 1e4);
    std::vector<T> x(64);
    for (T& one : x) one = static_cast<T>((centre + draw(0, width)) * D);
    const auto [least, greatest] = std::ranges::minmax(x);
    double low = std::nearbyint(static_cast<double>(least) * (1 / D));
    double high = std::nearbyint(static_cast<double>(greatest) * (1 / D));
    if ((low + 1) * D - static_cast<double>(least) < e) ++low;
    if (static_cast<double>(greatest) - (high - 1) * D < e) --high;
    const auto codec = find_codec("szx")->make({.bound = e});
    const std::vector<T> y = decoded<T>(*codec, encoded(*codec, x), x.size());
    const T mu = static_cast<T>(low) * grid.step, inverse = 1 / grid.step;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double t = static_cast<double>((x[i] - mu) * inverse);
      const double o = std::clamp(std::nearbyint(t), 0.0, std::max(0.0, high - low));
      ASSERT_EQ(y[i], static_cast<T>(static_cast<Int>(low + o)) * grid.step) << x[i] << " under " << e;
    }
  }
}

// Compares the rounding of mantissas with bounds/pwrel.gappa: to nearest, ties to even, with m bits.
TYPED_TEST(ProofsOf, MantissasOfPwrel) {
  using T = TypeParam;
  for (int m = 1; m < std::numeric_limits<T>::digits - 1; ++m) {
    const double h = std::ldexp(1, -m - 1);
    const auto rounding = mpc::Rounding::within(h / (1 + h) * (1 + 0x1p-50), dtype_of<T>);
    ASSERT_EQ(rounding.dropped, std::numeric_limits<T>::digits - 1 - m);
    for (int i = 0; i < 200; ++i) {
      const auto ties = std::ldexp(std::floor(std::ldexp(draw(1, 2), m + 1)), -m - 1);
      const T x = static_cast<T>(i % 2 == 0 ? draw(1, 2) : ties);
      const T c = static_cast<T>(std::ldexp(std::nearbyint(std::ldexp(x, m)), -m));
      ASSERT_EQ(mpc::rounded(std::bit_cast<BitsOf<T>>(x), rounding), std::bit_cast<BitsOf<T>>(c));
    }
  }
}

}  // namespace proofs_test
}  // namespace taut::test
