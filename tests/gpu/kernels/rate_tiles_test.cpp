// Tests zfp frames at a rate whose tiles take all ways: values that are not finite, records that move because
// another one is stored, extents beside multiples of 4, and bit planes with long runs of zeros.
#include "gpu/kernels/rate_round.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace rate_tiles_test {

template <class T>
class GpuRateTiles : public testing::Test {
 public:
  static constexpr T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();

  void try_it(const std::vector<T>& x, double rate, const Dims& dims = {}) {
    SCOPED_TRACE(testing::Message() << dims.extent[0] << " x " << dims.extent[1] << " x " << dims.extent[2]
                                    << " x " << dims.extent[3] << " n " << x.size() << " rate " << rate);
    gpu.reseed(x.size());
    there_and_back(codec, x, rate, dims);
  }

  shim::Gpu gpu{0};
  RateGpuCodec<T> codec{gpu};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(GpuRateTiles, Types);

// Fields of several tiles. Each third one has a single NaN, each fifth one nothing but NaN, for which some of
// these rates have no room.
TYPED_TEST(GpuRateTiles, MovePiecesBehindStoredOnes) {
  using T = TypeParam;
  for (const Dims& dims :
       {Dims{{4 * 65536 + 9}, 1}, Dims{{261, 500}, 2}, Dims{{9, 90, 100}, 3}, Dims{{9, 9, 20, 40}, 4}}) {
    for (const double rate : {0.3, 2.1, 2.3, 4.0, 7.0}) {
      if (!test::is_sampled()) continue;
      const std::size_t n = dims.count(), slab = n / 9;
      for (const std::size_t first : {std::size_t{0}, 4 * slab}) {
        std::vector<T> x = make<T>(Pattern::wave, n, 3);
        for (std::size_t i = first; i < first + slab; ++i) x[i] = i % 5 == 0 ? -this->infinity : this->nan;
        for (std::size_t i = 0; i < n; i += n / 3) x[i] = this->infinity;
        this->try_it(x, rate, dims);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// A frame without values that are not finite follows one that has some, and so on, in the same scratch
// memory.
TYPED_TEST(GpuRateTiles, LeaveNoMarkOfTheCallBefore) {
  using T = TypeParam;
  for (const double rate : {3.0, 4.0, 9.0, 3.0}) {
    std::vector<T> x = make<T>(Pattern::walk, 150000, 1);
    this->try_it(x, rate);
    for (std::size_t i = 0; i < 70000; ++i) x[i] = this->nan;
    this->try_it(x, rate);
    this->try_it({}, rate);
    if (testing::Test::HasFailure()) return;
  }
}

// One value that is not finite, at each place of a block, or none; negative zeros and denormal numbers beside
// it.
TYPED_TEST(GpuRateTiles, FindEachValueThatIsNotFinite) {
  using T = TypeParam;
  for (const Dims& dims : {Dims{{67}, 1}, Dims{{5, 7}, 2}, Dims{{3, 5, 6}, 3}, Dims{{5, 2, 3, 5}, 4}}) {
    for (std::size_t at = 0; at <= dims.count(); ++at) {
      if (!test::is_sampled()) continue;
      std::vector<T> x(dims.count());
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = i % 3 == 0   ? T(-0.0)
               : i % 3 == 1 ? std::numeric_limits<T>::denorm_min()
                            : std::numeric_limits<T>::max();
      if (at < x.size()) x[at] = at % 3 == 0 ? this->nan : at % 3 == 1 ? this->infinity : -this->infinity;
      this->try_it(x, at % 2 == 0 ? 8 : 3.3, dims);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TYPED_TEST(GpuRateTiles, ServeExtentsBesideMultiplesOfFour) {
  constexpr std::uint32_t extents[] = {1, 3, 4, 63, 65};
  int number = 0;
  for (const std::uint32_t a : extents)
    for (const std::uint32_t b : extents)
      for (const std::uint32_t c : extents) {
        const double rate = 1.0 + 1.7 * (++number % 13);
        const Pattern pattern = all_patterns[number % std::size(all_patterns)];
        if (!test::is_sampled()) continue;
        this->try_it(make<TypeParam>(pattern, a * b, 2), rate, {{a, b}, 2});
        if (a * b * c < 20000) this->try_it(make<TypeParam>(pattern, a * b * c, 2), rate, {{a, b, c}, 3});
        if (3 * a * b * c < 20000)
          this->try_it(make<TypeParam>(pattern, 3 * a * b * c, 2), rate, {{a, 3, b, c}, 4});
        if (testing::Test::HasFailure()) return;
      }
}

// Streams of few 1 bits: long runs of zeros in each plane. Their values have such planes too.
TYPED_TEST(GpuRateTiles, ServeLongRunsOfZeros) {
  using T = TypeParam;
  std::mt19937_64 random(5);
  for (const Dims& dims : {Dims{{403}, 1}, Dims{{31, 22}, 2}, Dims{{9, 14, 11}, 3}, Dims{{5, 6, 7, 9}, 4}}) {
    for (const double rate : {2.0, 5.5, 13.0, 30.0}) {
      for (const unsigned sparse : {1u, 2u, 3u, 5u}) {
        if (!test::is_sampled()) continue;
        const std::size_t n = dims.count(), front = frame_header_bytes + zfp::cuda::front_bytes(dims.n, 1);
        auto frame = rate_cpu_frame(std::vector<T>(n), rate, dims);
        for (std::size_t i = front; i < frame.size(); ++i) {
          std::uint64_t bits = ~std::uint64_t{0};
          for (unsigned k = 0; k < sparse; ++k) bits &= random();
          frame[i] = std::byte(bits | random() % 2);
        }
        std::vector<T> x(n), expected(n);
        ASSERT_EQ(rate_cpu_codec(rate)->decode(frame, {expected.data(), n, dtype_of<T>}), Status::ok);
        ASSERT_EQ(this->codec.decode(frame, x, dims), 0u);
        ASSERT_EQ(std::memcmp(x.data(), expected.data(), n * sizeof(T)), 0)
            << dims.n << " extents, rate " << rate;
        this->try_it(x, rate, dims);
        this->try_it(x, 2 * rate, dims);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

}  // namespace rate_tiles_test
}  // namespace taut
