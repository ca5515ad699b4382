// Fields shared by the tests of the zfp codec.
#pragma once

#include <cmath>
#include <limits>
#include <random>

#include "compressor/codecs/zfp/frame_reader.hpp"
#include "support/frames.hpp"

namespace taut::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline std::unique_ptr<Codec> zfp_codec(Bound bound, Dims dims = {}) {
  return find_codec("zfp")->make({.bound = bound, .dims = dims});
}
inline Bound rate(double bits) { return {Bound::Kind::rate, bits}; }

template <class T>
double greatest_error(const std::vector<T>& x, const std::vector<T>& y) {
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
  return worst;
}

template <class T>
std::vector<T> there_and_back(const Codec& codec, const std::vector<T>& x) {
  return decoded<T>(codec, encoded(codec, x), x.size());
}

template <class T>
std::vector<T> waves(const Dims& dims) {
  std::vector<T> x(dims.count());
  for (std::size_t i = 0; i < x.size(); ++i) {
    double sum = 0;
    for (unsigned k = 0; k < dims.n; ++k)
      sum += std::sin(0.1 * static_cast<double>(i / dims.stride(k) % dims.extent[k]) + k);
    x[i] = static_cast<T>(sum);
  }
  return x;
}

inline constexpr Dims shapes[] = {{{30011}, 1},         {{173, 120}, 2},     {{3, 20000}, 2},
                                  {{31, 22, 45}, 3},    {{5, 1, 900}, 3},    {{1000, 3, 3, 3}, 4},
                                  {{9, 10, 11, 13}, 4}, {{2, 2, 2, 2500}, 4}};

}  // namespace taut::test
