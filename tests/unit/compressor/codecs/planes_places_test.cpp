// The decoded value depends on the input value alone: neither on the position of chunks nor on their coding.
// Sums therefore have the same bits for any algorithm and any number of segments.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "compressor/frame/codec.hpp"

namespace taut {
namespace planes_places_test {

std::mt19937_64 random_bits(7);
double uniform(double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random_bits);
}

// Returns magnitudes from coded to exact beside each other, with smooth, rough and incompressible chunks.
template <class T>
T value_at(std::size_t i, double bound) {
  const double steps = bound * 2;
  switch (i / 3000 % 5) {
    case 0: return static_cast<T>(steps * 100 * std::sin(0.01 * static_cast<double>(i)));
    case 1: return static_cast<T>(steps * uniform(-70000, 70000));
    case 2: return static_cast<T>(uniform(-1, 1) * std::exp2(uniform(-200, 100)));
    case 3: return static_cast<T>(i % 700 == 0 ? steps * uniform(-1e9, 1e9) : steps * uniform(-9000, 9000));
    default:
      if (i % 11 == 0) return std::numeric_limits<T>::quiet_NaN();
      return static_cast<T>(i % 3 == 0 ? 1e30 : steps * (std::floor(uniform(-20000, 20000)) + 0.5));
  }
}

template <class T>
std::vector<T> field(std::size_t n, double bound) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = value_at<T>(i, bound);
  return x;
}

using Frame = std::vector<std::byte>;

template <class T>
Frame encoded(const Codec& codec, std::span<const T> x) {
  Frame frame(codec.max_bytes(dtype_of<T>, x.size()));
  const SizeOrStatus size = codec.encode({{x.data(), x.size(), dtype_of<T>}}, frame);
  EXPECT_EQ(size.status, Status::ok);
  frame.resize(size.bytes);
  return frame;
}

// Returns the sum of three fields by frames of their values from `first` on.
template <class T>
std::vector<T> summed(const Codec& codec, const std::vector<T> (&x)[3], std::size_t first) {
  const std::size_t n = x[0].size() - first;
  Frame frames[3], sum(codec.max_bytes(dtype_of<T>, n, 3));
  ConstBytes all[3];
  for (int k = 0; k < 3; ++k) {
    frames[k] = encoded<T>(codec, std::span(x[k]).subspan(first));
    all[k] = frames[k];
  }
  const SizeOrStatus size = codec.arithmetic()->sum(all, sum);
  EXPECT_EQ(size.status, Status::ok);
  std::vector<T> out(n);
  EXPECT_EQ(codec.decode({sum.data(), size.bytes}, {{out.data(), n, dtype_of<T>}}), Status::ok);
  return out;
}

template <class T>
std::vector<T> decoded(const Codec& codec, std::span<const T> x) {
  std::vector<T> out(x.size());
  EXPECT_EQ(codec.decode(encoded(codec, x), {{out.data(), x.size(), dtype_of<T>}}), Status::ok);
  return out;
}

template <class T>
void expect_same(const std::vector<T>& whole, const std::vector<T>& part, std::size_t first) {
  for (std::size_t i = 0; i < part.size(); ++i)
    ASSERT_EQ(std::memcmp(&whole[first + i], &part[i], sizeof(T)), 0)
        << "value " << first + i << ": " << whole[first + i] << " and " << part[i];
}

template <class T>
class PlanesPlaces : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PlanesPlaces, Types);

TYPED_TEST(PlanesPlaces, AValueAloneOrAnywhereInAFrame) {
  using T = TypeParam;
  for (const double bound : {1e-6, 1e-3, 0.3}) {
    const auto codec = find_codec("planes")->make({.bound = bound});
    const std::vector<T> x = field<T>(20011, bound), whole = decoded<T>(*codec, x);
    for (const std::size_t first : {1u, 8u, 100u, 1500u, 4095u})
      expect_same(whole, decoded<T>(*codec, std::span(x).subspan(first)), first);
    for (std::size_t i = 0; i < x.size(); i += 7) expect_same(whole, decoded<T>(*codec, {&x[i], 1}), i);
  }
}

TYPED_TEST(PlanesPlaces, SumsWhereverChunksBegin) {
  using T = TypeParam;
  for (const double bound : {1e-6, 1e-3, 0.3}) {
    const auto codec = find_codec("planes")->make({.bound = bound});
    const std::vector<T> x[] = {field<T>(20011, bound), field<T>(20011, bound), field<T>(20011, bound)};
    const std::vector<T> whole = summed<T>(*codec, x, 0);
    for (const std::size_t first : {1u, 8u, 100u, 1500u, 4095u})
      expect_same(whole, summed<T>(*codec, x, first), first);
  }
}

}  // namespace planes_places_test
}  // namespace taut
