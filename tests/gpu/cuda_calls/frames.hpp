// Encodes frames on the host and compares them with frames of the GPU, which the shim and a stand-in for the
// driver simulate.
#pragma once

#define TAUT_NO_MPI
#include <gtest/gtest.h>
#include <taut/taut.h>

#include "gpu/kernels/patterns.hpp"
#include "support/on_gpu.hpp"

namespace taut::test {

using FrameBytes = std::vector<std::byte>;

template <class T>
inline constexpr auto type_of = static_cast<TAUT_Type>(dtype_of<T>);

template <class T>
std::size_t room(const std::vector<T>& x, TAUT_Type type = type_of<T>, unsigned addends = 1) {
  return TAUT_Max_bytes(type, x.size(), addends);
}

template <class T>
FrameBytes encoded(const std::vector<T>& x, const char* coding, TAUT_Type type = type_of<T>) {
  FrameBytes frame(room(x, type));
  std::size_t bytes = 0;
  EXPECT_EQ(TAUT_Encode(x.data(), x.size(), type, coding, frame.data(), frame.size(), &bytes), TAUT_SUCCESS)
      << TAUT_Last_error();
  frame.resize(bytes);
  return frame;
}

template <class T>
std::vector<T> decoded(const FrameBytes& frame, std::size_t count, TAUT_Type type = type_of<T>) {
  std::vector<T> x(count);
  EXPECT_EQ(TAUT_Decode(frame.data(), frame.size(), x.data(), count, type), TAUT_SUCCESS)
      << TAUT_Last_error();
  return x;
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// Encodes and decodes with values, frame or both on the GPU, and compares the results with the host's.
// Returns true if kernels encoded the values.
template <class T>
bool round_trip(const std::vector<T>& x, const char* coding, TAUT_Type type = type_of<T>,
                std::size_t skipped = 0) {
  SCOPED_TRACE(coding);
  const FrameBytes frame = encoded(x, coding, type);
  const std::vector<T> back = decoded<T>(frame, x.size(), type);
  const OnGpu<T> values(x, skipped * sizeof(T)), got(x.size(), skipped * sizeof(T));
  const OnGpu<std::byte> there(room(x, type), skipped);
  FrameBytes here(room(x, type));
  std::size_t bytes = 0;
  const auto encode = [&](const void* from, void* to) {
    bytes = 0;
    return TAUT_Encode(from, x.size(), type, coding, to, here.size(), &bytes);
  };
  const unsigned long before = stand_in_launches();
  EXPECT_EQ(encode(values.data(), here.data()), TAUT_SUCCESS) << TAUT_Last_error();
  const bool by_kernels = stand_in_launches() > before;
  EXPECT_TRUE(same(FrameBytes(here.begin(), here.begin() + static_cast<std::ptrdiff_t>(bytes)), frame));
  EXPECT_EQ(encode(x.data(), there.data()), TAUT_SUCCESS) << TAUT_Last_error();
  EXPECT_TRUE(same(there.peek(bytes), frame));
  EXPECT_EQ(encode(values.data(), there.data()), TAUT_SUCCESS) << TAUT_Last_error();
  EXPECT_TRUE(same(there.peek(bytes), frame));

  std::vector<T> y(x.size());
  EXPECT_EQ(TAUT_Decode(there.data(), there.size(), y.data(), y.size(), type), TAUT_SUCCESS)
      << TAUT_Last_error();
  EXPECT_TRUE(same(y, back));
  for (const std::byte* const from : {frame.data(), static_cast<const std::byte*>(there.data())}) {
    EXPECT_EQ(TAUT_Decode(from, frame.size(), got.data(), got.size(), type), TAUT_SUCCESS)
        << TAUT_Last_error();
    EXPECT_TRUE(same(got.peek(got.size()), back));
  }
  return by_kernels;
}

}  // namespace taut::test
