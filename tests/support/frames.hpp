// Encodes, decodes and adds vectors of values by one codec.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "compressor/frame/codec.hpp"

namespace taut::test {

using Frame = std::vector<std::byte>;

inline std::unique_ptr<Codec> planes(double bound, const char* kernels = "",
                                     const char* predictor = "delta") {
  return find_codec("planes")->make({.bound = bound, .predictor = predictor, .kernels = kernels});
}

template <class T>
ConstSlice slice(const std::vector<T>& x) {
  return {{x.data(), x.size(), dtype_of<T>}};
}
template <class T>
Slice slice(std::vector<T>& x) {
  return {{x.data(), x.size(), dtype_of<T>}};
}

inline Frame taken(Frame&& room, SizeOrStatus size) {
  EXPECT_EQ(size.status, Status::ok);
  room.resize(size.bytes);
  return std::move(room);
}

template <class T>
Frame encoded(const Codec& codec, const std::vector<T>& x) {
  Frame room(codec.max_bytes(dtype_of<T>, x.size()));
  const SizeOrStatus size = codec.encode(slice(x), room);
  return taken(std::move(room), size);
}

template <class T>
std::vector<T> decoded(const Codec& codec, const Frame& frame, std::size_t n) {
  std::vector<T> x(n);
  EXPECT_EQ(codec.decode(frame, slice(x)), Status::ok);
  return x;
}

inline std::uint32_t addends_of(const Frame& frame) {
  FrameHeader header;
  EXPECT_EQ(read_header(frame, header), Status::ok);
  return header.addends;
}

inline Frame summed(const Codec& codec, const std::vector<Frame>& frames) {
  FrameHeader header;
  EXPECT_EQ(read_header(frames[0], header), Status::ok);
  std::uint32_t addends = 0;
  std::vector<ConstBytes> views;
  for (const Frame& frame : frames) {
    addends += addends_of(frame);
    views.emplace_back(frame);
  }
  Frame room(codec.max_bytes(header.type, header.count, addends));
  const SizeOrStatus size = codec.arithmetic()->sum(views, room);
  return taken(std::move(room), size);
}

}  // namespace taut::test
