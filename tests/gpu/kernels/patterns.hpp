// Values that exercise all paths of a codec, and the frames that the CPU writes for them.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "compressor/codecs/planes/format/quantiser.hpp"
#include "compressor/frame/codec.hpp"

namespace taut {

enum class Pattern { zeros, constant, wave, walk, tail, sprinkled, masked, huge, denormal, bits, mixed };
inline constexpr Pattern all_patterns[] = {
    Pattern::zeros,  Pattern::constant, Pattern::wave,     Pattern::walk, Pattern::tail, Pattern::sprinkled,
    Pattern::masked, Pattern::huge,     Pattern::denormal, Pattern::bits, Pattern::mixed};
constexpr const char* name_of(Pattern p) {
  constexpr const char* names[] = {"zeros",  "constant", "wave",     "walk", "tail", "sprinkled",
                                   "masked", "huge",     "denormal", "bits", "mixed"};
  return names[static_cast<int>(p)];
}

namespace detail {

template <class T>
T value_of(Pattern pattern, std::size_t i, std::mt19937_64& random, double& state) {
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                   inf = std::numeric_limits<double>::infinity();
  switch (pattern) {
    case Pattern::zeros: return T{};
    case Pattern::constant: return static_cast<T>(0.37);
    case Pattern::wave:
      return static_cast<T>(std::sin(static_cast<double>(i) * 0.01) * (i / 700 % 3 == 1 ? 0 : 1));
    case Pattern::walk: return static_cast<T>(state += uniform() - 0.5);
    case Pattern::tail: return static_cast<T>((uniform() - 0.5) * 0.01 / (uniform() + 1e-7));
    case Pattern::sprinkled:
      if (random() % 100 == 0)
        return static_cast<T>(random() % 3 == 0 ? nan : random() % 2 == 0 ? inf : -inf);
      return static_cast<T>(std::cos(static_cast<double>(i) * 0.003));
    case Pattern::masked:
      return i / 137 % 3 == 0 ? static_cast<T>(1e20)
                              : static_cast<T>(std::sin(static_cast<double>(i) * 0.02));
    case Pattern::huge: return static_cast<T>((uniform() - 0.5) * (random() % 4 == 0 ? 1e30 : 1e3));
    case Pattern::denormal: return static_cast<T>((uniform() - 0.5) * (sizeof(T) == 8 ? 1e-310 : 1e-40));
    case Pattern::bits: return std::bit_cast<T>(static_cast<BitsOf<T>>(random()));
    case Pattern::mixed: break;
  }
  return value_of<T>(all_patterns[i / 1500 % 10], i, random, state);
}

}  // namespace detail

template <class T>
std::vector<T> make(Pattern pattern, std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  double state = 0;
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = detail::value_of<T>(pattern, i, random, state);
  return x;
}

inline std::unique_ptr<Codec> cpu_codec(const Bound& bound, const char* prediction,
                                        PackedBits bits = PackedBits::rounded) {
  return find_codec("planes")->make(
      {.bound = bound, .predictor = prediction, .kernels = "scalar", .bits = bits});
}
inline std::unique_ptr<Codec> cpu_codec(const Bound& bound, planes::Predictor predictor,
                                        PackedBits bits = PackedBits::rounded) {
  constexpr const char* names[] = {"none", "delta", "pairs", "second"};
  return cpu_codec(bound, names[static_cast<int>(predictor)], bits);
}

// `Prediction`: a Predictor, or its name in the options.
template <class T, class Prediction>
std::vector<std::byte> cpu_frame(const std::vector<T>& x, const Bound& bound, Prediction prediction,
                                 PackedBits bits = PackedBits::rounded) {
  const auto codec = cpu_codec(bound, prediction, bits);
  std::vector<std::byte> frame(codec->max_bytes(dtype_of<T>, x.size()));
  const SizeOrStatus size = codec->encode({x.data(), x.size(), dtype_of<T>}, frame);
  frame.resize(size.bytes);
  return frame;
}

}  // namespace taut
