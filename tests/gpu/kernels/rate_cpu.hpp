// Frames that the CPU's zfp codec writes at a rate.
#pragma once

#include "compressor/frame/codec.hpp"

namespace taut {

inline std::unique_ptr<Codec> rate_cpu_codec(double rate, const Dims& dims = {}) {
  return find_codec("zfp")->make({.bound = {Bound::Kind::rate, rate}, .dims = dims});
}

template <class T>
std::vector<std::byte> rate_cpu_frame(const std::vector<T>& x, double rate, const Dims& dims = {}) {
  const auto codec = rate_cpu_codec(rate, dims);
  std::vector<std::byte> frame(codec->max_bytes(dtype_of<T>, x.size(), 1));
  frame.resize(codec->encode({x.data(), x.size(), dtype_of<T>}, frame).bytes);
  return frame;
}

}  // namespace taut
