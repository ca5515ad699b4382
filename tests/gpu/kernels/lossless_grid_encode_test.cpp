// Tests that kernels find grids, and write the frames that the host writes for the same grid and prediction.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compressor/codecs/mpc/grid.hpp"
#include "gpu/kernels/grid_values.hpp"

namespace taut {
namespace lossless_grid_encode_test {

using namespace test;

constexpr unsigned forms = mpc::product_flag | mpc::quotient_flag;

template <class T>
std::vector<std::byte> host_frame(const std::vector<T>& x, const Lags& lags = {}) {
  const auto codec = find_codec("mpc")->make({.predictor = {"grid", lags}, .kernels = "scalar"});
  std::vector<std::byte> frame(codec->max_bytes(dtype_of<T>, x.size(), 1));
  frame.resize(codec->encode({x.data(), x.size(), dtype_of<T>}, frame).bytes);
  return frame;
}

// Encodes on the shim, and decodes on both sides. Returns the frame.
template <class T>
std::vector<std::byte> encoded(LosslessGpuCodec<T>& codec, const std::vector<T>& x, const Lags& lags = {}) {
  const unsigned before = codec.launches();
  const auto frame = codec.encode_on_grid(x, lags);
  EXPECT_LE(codec.launches() - before, 5u);
  EXPECT_EQ(codec.result().status, 0u);
  std::vector<T> here(x.size()), there(x.size());
  EXPECT_EQ(lossless_cpu_codec(1)->decode(frame, {here.data(), x.size(), dtype_of<T>}), Status::ok);
  EXPECT_EQ(codec.decode_lagged(frame, there), 0u);
  if (!x.empty()) {
    EXPECT_EQ(std::memcmp(static_cast<const void*>(here.data()), x.data(), x.size() * sizeof(T)), 0);
    EXPECT_EQ(std::memcmp(static_cast<const void*>(there.data()), x.data(), x.size() * sizeof(T)), 0);
  }
  return frame;
}

// Same as above, and compares the frame with the host's.
template <class T>
std::vector<std::byte> as_on_the_host(LosslessGpuCodec<T>& codec, const std::vector<T>& x,
                                      const Lags& lags = {}) {
  const auto frame = encoded(codec, x, lags);
  EXPECT_TRUE(frame == host_frame(x, lags));
  return frame;
}

template <class T>
class GpuGridEncoder : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuGridEncoder, Types);

TYPED_TEST(GpuGridEncoder, WritesTheHostsFrames) {
  using T = TypeParam;
  using P = PartOf<T>;
  shim::Gpu gpu(3);
  LosslessGpuCodec<T> codec(gpu);
  unsigned seen = 0;
  for (P (*const make)(int) : {printed<P>, packed<P>, around_zero<P>})
    for (const bool off : {false, true})
      for (const std::size_t n : {0, 1, 2, 11, 12, 13, 31, 257, 5003, 8191}) {
        SCOPED_TRACE(testing::Message() << "n " << n << " off " << off << " of 2: " << make(2));
        seen |= parameter(as_on_the_host(codec, on_grid<T>(make, n, off)), 0);
      }
  EXPECT_EQ(seen & forms, forms);
  EXPECT_NE(parameter(as_on_the_host(codec, with_unit<T>()), 0) & mpc::unit_flag, 0u);
}

// A positive signalling NaN would be read as a code.
TYPED_TEST(GpuGridEncoder, NaNThatLooksLikeACodeGivesUpTheGrid) {
  using T = TypeParam;
  using P = PartOf<T>;
  using Word = typename LosslessGpuCodec<T>::Word;
  using G = mpc::GridWords<Word>;
  shim::Gpu gpu(4);
  LosslessGpuCodec<T> codec(gpu);
  for (const Word number :
       {Word{1}, static_cast<Word>(2 * G::code_reach - 1), Word{0}, static_cast<Word>(2 * G::code_reach)}) {
    auto x = on_grid<T>(printed<P>, 5003, false);
    store(reinterpret_cast<std::byte*>(x.data()) + 4999 * sizeof(Word),
          static_cast<Word>(G::center - G::code_reach + number));
    const bool looks = number != 0 && number != 2 * G::code_reach;
    const auto frame = as_on_the_host(codec, x);
    EXPECT_EQ((parameter(frame, 0) & forms) == 0, looks) << number;
  }
}

// Returns words of values on a grid: rows of 256 that change little and rarely; with `interleaved`, three
// unlike series by turns.
template <class T>
std::vector<T> long_array(PartOf<T> (*make)(int), bool interleaved) {
  constexpr std::size_t row = 256, n = (std::size_t{1} << 18) / sizeof(PartOf<T>) + 301;
  std::vector<T> x(n);
  auto* const parts = reinterpret_cast<PartOf<T>*>(x.data());
  std::mt19937 random(6);
  std::vector<int> q(row);
  for (int& first : q) first = static_cast<int>(random() % 30000);
  for (std::size_t i = 0; i < n * sizeof(T) / sizeof(PartOf<T>); ++i) {
    const std::size_t at = interleaved ? i % 3 : i % row;
    if (interleaved || random() % 4 == 0) q[at] += static_cast<int>(random() % 32) - 16;
    parts[i] = make(q[at]);
  }
  return x;
}

// Distance, lags, integers alone and the use of the grid are chosen by the host's sample.
TYPED_TEST(GpuGridEncoder, ChoosesAsTheHostForLongArrays) {
  using T = TypeParam;
  using P = PartOf<T>;
  shim::Gpu gpu(5);
  LosslessGpuCodec<T> codec(gpu);
  unsigned distances = 0, lagged = 0, integers = 0;
  for (P (*const make)(int) : {printed<P>, around_zero<P>})
    for (const bool interleaved : {false, true})
      for (const Lags& lags : {Lags{}, Lags{{256}, 1}, Lags{{100, 6000}, 2}}) {
        SCOPED_TRACE(testing::Message()
                     << "lags " << lags.n << " interleaved " << interleaved << " of 2: " << make(2));
        const auto frame = as_on_the_host(codec, long_array<T>(make, interleaved), lags);
        if ((parameter(frame, 0) & forms) == 0) continue;
        distances |= 1u << (parameter(frame, 0) & 15);
        lagged += parameter(frame, 1) & 3;
        integers += (parameter(frame, 1) & mpc::integers_flag) != 0;
      }
  EXPECT_GT(std::popcount(distances), 1);
  EXPECT_GT(lagged, 0u);
  EXPECT_GT(integers, 0u);
}

// The other values are found in the sampled pieces alone, so that the frame may differ from the host's.
TYPED_TEST(GpuGridEncoder, BasesOfValuesOfWhichMostAreTheSame) {
  using T = TypeParam;
  using P = PartOf<T>;
  shim::Gpu gpu(6);
  LosslessGpuCodec<T> codec(gpu);
  std::mt19937 random(6);
  constexpr std::size_t n = (std::size_t{1} << 18) / sizeof(T) + 11, parts = sizeof(T) / sizeof(P);
  for (P (*const make)(int) : {printed<P>, packed<P>})
    for (const unsigned usual : {0u, 40u, 90u, 100u}) {
      SCOPED_TRACE(testing::Message() << "usual " << usual << " of 2: " << make(2));
      std::vector<T> x(n);
      auto* const numbers = reinterpret_cast<P*>(x.data());
      for (std::size_t i = 0; i < n * parts; ++i)
        numbers[i] = make(random() % 100 < usual ? 500 : static_cast<int>(random() % 9000));
      const auto frame = encoded(codec, x);
      EXPECT_LE(static_cast<double>(frame.size()), 1.01 * static_cast<double>(host_frame(x).size()));
      EXPECT_EQ((parameter(frame, 0) & mpc::base_flag) != 0, usual < 100);
    }
}

// Values of the search's kind but without a grid are coded as under the usual prediction.
TYPED_TEST(GpuGridEncoder, ValuesOffAGridAreCodedAsTheyAre) {
  using T = TypeParam;
  shim::Gpu gpu(7);
  LosslessGpuCodec<T> codec(gpu);
  for (const Pattern pattern :
       {Pattern::walk, Pattern::wave, Pattern::bits, Pattern::huge, Pattern::denormal})
    for (const std::size_t n : {1, 1000, 9001, 70001}) {
      SCOPED_TRACE(testing::Message() << name_of(pattern) << " n " << n);
      as_on_the_host(codec, lossless_values<T>(pattern, n));
    }
  for (const Pattern pattern : all_patterns) encoded(codec, lossless_values<T>(pattern, 9001));
}

// Grids, exceptions and sizes by chance; also values that miss their grid by a few units in the last place.
template <class T>
void check_grids_by_seed(std::uint32_t seed) {
  using P = PartOf<T>;
  using Word = typename LosslessGpuCodec<T>::Word;
  shim::Gpu gpu(seed);
  LosslessGpuCodec<T> codec(gpu);
  std::mt19937_64 random(seed);
  unsigned grids = 0;
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << " round " << round);
    const std::size_t n = random() % (round % 4 == 0 ? 40 : 6000), parts = sizeof(T) / sizeof(P);
    const double step =
        std::ldexp(1 + static_cast<double>(random() % 1000) / 1000, static_cast<int>(random() % 40) - 30);
    const double offset = random() % 2 == 0 ? 0 : step * static_cast<double>(random() % 100000) * 1.37;
    const int range = 1 << (2 + random() % 16), off = static_cast<int>(random() % 4) * 7,
              missed = static_cast<int>(random() % 3);
    const bool quotient = random() % 3 == 0;
    std::vector<T> x(n);
    auto* const numbers = reinterpret_cast<P*>(x.data());
    for (std::size_t i = 0; i < n * parts; ++i) {
      const int q = static_cast<int>(random() % static_cast<unsigned>(range)) - range / 4;
      numbers[i] = static_cast<P>(quotient ? q / 1000.0 : q * step + offset);
      if (missed == 2)
        numbers[i] = std::bit_cast<P>(static_cast<Word>(std::bit_cast<Word>(numbers[i]) + random() % 6));
      if (off != 0 && random() % 100 < static_cast<unsigned>(off))
        numbers[i] = others<P>[random() % std::size(others<P>)];
    }
    grids += (parameter(off > 14 ? encoded(codec, x) : as_on_the_host(codec, x), 0) & forms) != 0;
  }
  EXPECT_GT(grids, 5u);
}

TYPED_TEST(GpuGridEncoder, GridsBySeed) {
  for (std::uint32_t seed = 1; seed <= 3; ++seed) check_grids_by_seed<TypeParam>(seed);
}

TEST(GpuGridEncoderOfLongArrays, SamplesPiecesOfThem) {
  shim::Gpu gpu(8);
  LosslessGpuCodec<float> codec(gpu);
  std::vector<float> x(600011, 3.25F);
  std::mt19937 random(2);
  for (std::size_t i = 50; i < x.size(); i += 500)
    for (std::size_t k = 0; k < 200 && i + k < x.size(); ++k)
      x[i + k] = static_cast<float>(random() % 9973) / 100;
  const auto frame = encoded(codec, x);
  EXPECT_NE(parameter(frame, 0) & forms, 0u);
  EXPECT_LT(frame.size() * 10, lossless_cpu_frame(x, 1).size() * 9);
}

// Kernels look for grids only where the coding names them.
TEST(GpuGridEncoderOfLongArrays, OtherCodingsTakeNoLaunchMore) {
  shim::Gpu gpu(9);
  LosslessGpuCodec<float> codec(gpu);
  const auto x = on_grid<float>(printed<float>, 9000, false);
  codec.encode(x, 1);
  EXPECT_EQ(codec.launches(), 2u);
  codec.encode_on_grid(x);
  EXPECT_EQ(codec.launches(), 6u);
}

}  // namespace lossless_grid_encode_test
}  // namespace taut
