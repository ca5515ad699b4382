// Tests mpc frames with a grid: the kernels decode them bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compressor/codecs/mpc/grid.hpp"
#include "gpu/kernels/grid_values.hpp"
#include "gpu/kernels/seal.hpp"

namespace taut {
namespace lossless_grid_test {

using namespace test;

// Returns the frame of values on a grid. `dims`: auto looks for a grid and lags in long arrays.
template <class T>
std::vector<std::byte> grid_frame(const std::vector<T>& x, const Dims& dims = {}) {
  Coding coding{.kernels = "scalar", .dims = dims};
  if (dims.n == 0) coding.predictor.name = "grid";
  const auto codec = find_codec("mpc")->make(coding);
  std::vector<std::byte> frame(codec->max_bytes(dtype_of<T>, x.size()));
  frame.resize(codec->encode({x.data(), x.size(), dtype_of<T>}, frame).bytes);
  return frame;
}

template <class T>
void expect_decoded(LosslessGpuCodec<T>& codec, const std::vector<std::byte>& frame,
                    const std::vector<T>& x) {
  std::vector<T> y(x.size());
  ASSERT_EQ(codec.decode_lagged(frame, y), 0u);
  if (!x.empty()) {
    ASSERT_EQ(std::memcmp(static_cast<const void*>(x.data()), y.data(), x.size() * sizeof(T)), 0);
  }
}

template <class T>
class GpuLosslessGrid : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GpuLosslessGrid, Types);

TYPED_TEST(GpuLosslessGrid, IsDecodedAsOnTheCpu) {
  using T = TypeParam;
  using P = PartOf<T>;
  shim::Gpu gpu(3);
  LosslessGpuCodec<T> codec(gpu);
  constexpr unsigned forms = mpc::product_flag | mpc::quotient_flag;
  unsigned seen = 0;
  for (P (*const make)(int) : {printed<P>, packed<P>, around_zero<P>})
    for (const bool off : {false, true})
      for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{257}, std::size_t{5003}}) {
        SCOPED_TRACE(testing::Message() << "n " << n << " off " << off << " of 2: " << make(2));
        const auto x = on_grid<T>(make, n, off);
        const auto frame = grid_frame(x);
        seen |= parameter(frame, 0) & forms;
        ASSERT_NO_FATAL_FAILURE(expect_decoded(codec, frame, x));
      }
  EXPECT_EQ(seen, forms);
  const auto x = with_unit<T>();
  const auto frame = grid_frame(x);
  EXPECT_NE(parameter(frame, 0) & mpc::unit_flag, 0u);
  expect_decoded(codec, frame, x);
}

// Rows that change little, and rarely: frames with lags, a base, sparse records, and codes of integers alone.
TYPED_TEST(GpuLosslessGrid, WithLagsAndIntegersAlone) {
  using T = TypeParam;
  using P = PartOf<T>;
  constexpr std::uint32_t columns = 256, rows = (1 << 18) / columns / sizeof(T) + 3;
  shim::Gpu gpu(4);
  LosslessGpuCodec<T> codec(gpu);
  std::mt19937 random(6);
  unsigned seen = 0;
  for (P (*const make)(int) : {printed<P>, around_zero<P>}) {
    std::vector<T> x(std::size_t{rows} * columns);
    auto* const parts = reinterpret_cast<P*>(x.data());
    constexpr std::size_t row = columns * sizeof(T) / sizeof(P);
    std::vector<int> q(row);
    for (int& first : q) first = static_cast<int>(random() % 30000);
    for (std::size_t i = 0; i < rows * row; ++i) {
      if (random() % 4 == 0) q[i % row] += static_cast<int>(random() % 32) - 16;
      parts[i] = make(q[i % row]);
    }
    const auto frame = grid_frame(x, {{rows, columns}, 2});
    EXPECT_NE(parameter(frame, 0) & (mpc::product_flag | mpc::quotient_flag), 0u);
    EXPECT_EQ(parameter(frame, 1) & ~mpc::integers_flag, 1u);
    seen |= parameter(frame, 1) & mpc::integers_flag;
    ASSERT_NO_FATAL_FAILURE(expect_decoded(codec, frame, x));
  }
  EXPECT_EQ(seen, mpc::integers_flag);
}

TEST(GpuLosslessGridOfFloats, IsLeftToTheHostByCallsWithoutLags) {
  shim::Gpu gpu(5);
  LosslessGpuCodec<float> codec(gpu);
  const auto x = on_grid<float>(printed<float>, 5000, false);
  const auto frame = grid_frame(x);
  std::vector<float> y(x.size());
  EXPECT_EQ(codec.decode(frame, y), cuda::needs_host);
  EXPECT_EQ(codec.decode_add(frame, y), cuda::needs_host);
  EXPECT_EQ(codec.decode_lagged(frame, y), 0u);
  EXPECT_EQ(y == x, true);
}

TEST(GpuLosslessGridOfFloats, IsRejectedWhereTheCpuRejectsIt) {
  shim::Gpu gpu(6);
  const auto cpu = lossless_cpu_codec(1);
  std::mt19937_64 random(7);
  const auto check = [&]<class T>(const std::vector<T>& x) {
    LosslessGpuCodec<T> codec(gpu);
    const auto whole = grid_frame(x);
    ASSERT_NE(parameter(whole, 0) & (mpc::product_flag | mpc::quotient_flag), 0u);
    for (int round = 0; round < 400; ++round) {
      auto frame = whole;
      const std::size_t first = round % 2 == 0 ? 44 : 64, reach = round % 4 < 2 ? 40 : frame.size() - first;
      for (std::size_t k = 0; k < 1 + random() % 3; ++k)
        frame[first + random() % reach] ^= std::byte(1 << random() % 8);
      seal(frame);
      std::vector<T> expected(x.size()), there(x.size());
      const Status status = cpu->decode(frame, {expected.data(), x.size(), dtype_of<T>});
      const std::uint32_t found = codec.decode_lagged(frame, there);
      if (found == cuda::needs_host) continue;
      ASSERT_EQ(found == 0, status == Status::ok) << "round " << round;
      if (found == 0) {
        ASSERT_EQ(std::memcmp(there.data(), expected.data(), sizeof(T) * x.size()), 0) << "round " << round;
      }
    }
  };
  check(on_grid<float>(printed<float>, 700, false));
  check(with_unit<float>());
  check(on_grid<double>(packed<double>, 700, false));
  check(with_unit<double>());
}

// Steps and offsets at which values overflow, or lie between subnormal numbers.
TEST(GpuLosslessGridOfFloats, ExtremeStepsGiveTheCpusBits) {
  shim::Gpu gpu(7);
  const auto cpu = lossless_cpu_codec(1);
  const auto check = [&]<class T>(const std::vector<T>& x) {
    LosslessGpuCodec<T> codec(gpu);
    const auto whole = grid_frame(x);
    for (const double step : {5e-324, 1e-300, 1e-45, 1e-38, 3.3e38, 1e300, 1.7e308})
      for (const double offset : {0.0, -1e-310, 1e-42, -3.3e38, 1.7e308}) {
        auto frame = whole;
        store(store(frame.data() + 64, step), offset);
        seal(frame);
        std::vector<T> expected(x.size()), there(x.size());
        ASSERT_EQ(cpu->decode(frame, {expected.data(), x.size(), dtype_of<T>}), Status::ok);
        ASSERT_EQ(codec.decode_lagged(frame, there), 0u);
        ASSERT_EQ(std::memcmp(there.data(), expected.data(), sizeof(T) * x.size()), 0)
            << step << " " << offset;
      }
  };
  check(on_grid<float>(printed<float>, 700, false));
  check(with_unit<float>());
  check(on_grid<double>(packed<double>, 700, false));
  check(with_unit<double>());
}

}  // namespace lossless_grid_test
}  // namespace taut
