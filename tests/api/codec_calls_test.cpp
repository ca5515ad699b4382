// The codec calls of taut.h. They need no MPI; every rank does the same.
#define TAUT_NO_MPI
#include <gtest/gtest.h>
#include <taut/taut.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace {

using FrameBytes = std::vector<unsigned char>;

std::vector<double> wave(std::size_t count, double phase = 0) {
  std::vector<double> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = 10 * std::sin(phase + 0.01 * static_cast<double>(i));
  return x;
}

FrameBytes encoded(const std::vector<double>& x, double bound, const char* options = nullptr) {
  FrameBytes frame(TAUT_Max_bytes(TAUT_FLOAT64, x.size(), 1));
  std::size_t bytes = 0;
  EXPECT_EQ(TAUT_Encode(x.data(), x.size(), TAUT_FLOAT64, bound, options, frame.data(), frame.size(), &bytes),
            TAUT_SUCCESS);
  frame.resize(bytes);
  return frame;
}

TEST(CodecCalls, RoundTripWithinTheBound) {
  const auto x = wave(10000);
  for (const double bound : {0.0, 1e-6, 1e-2}) {
    const FrameBytes frame = encoded(x, bound);
    std::vector<double> y(x.size());
    ASSERT_EQ(TAUT_Decode(frame.data(), frame.size(), y.data(), y.size(), TAUT_FLOAT64), TAUT_SUCCESS);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_LE(std::abs(x[i] - y[i]), bound);
    if (bound == 1e-2) {
      EXPECT_LT(frame.size() * 5, x.size() * sizeof(double));
    }
  }
}

TEST(CodecCalls, FramesAddUp) {
  const auto a = wave(10000), b = wave(10000, 1);
  const FrameBytes fa = encoded(a, 1e-3), fb = encoded(b, 1e-3);
  FrameBytes sum(TAUT_Max_bytes(TAUT_FLOAT64, a.size(), 2));
  std::size_t bytes = 0;
  ASSERT_EQ(TAUT_Frame_add(fa.data(), fa.size(), fb.data(), fb.size(), sum.data(), sum.size(), &bytes),
            TAUT_SUCCESS);
  TAUT_Frame_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(TAUT_Frame_get_info(sum.data(), bytes, &info), TAUT_SUCCESS);
  EXPECT_STREQ(info.codec, "planes");
  EXPECT_EQ(info.type, TAUT_FLOAT64);
  EXPECT_EQ(info.count, a.size());
  EXPECT_EQ(info.bound, 1e-3);
  EXPECT_EQ(info.addends, 2u);
  EXPECT_EQ(info.bytes, bytes);
  std::vector<double> y(a.size());
  ASSERT_EQ(TAUT_Decode(sum.data(), bytes, y.data(), y.size(), TAUT_FLOAT64), TAUT_SUCCESS);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_LE(std::abs(a[i] + b[i] - y[i]), 2e-3 * (1 + 1e-12));

  const FrameBytes raw = encoded(a, 1e-3, "codec=raw"), coarse = encoded(a, 1e-2);
  EXPECT_EQ(TAUT_Frame_add(raw.data(), raw.size(), raw.data(), raw.size(), sum.data(), sum.size(), &bytes),
            TAUT_ERR_FRAME_MISMATCH);
  EXPECT_EQ(TAUT_Frame_add(fa.data(), fa.size(), raw.data(), raw.size(), sum.data(), sum.size(), &bytes),
            TAUT_ERR_FRAME_MISMATCH);
  EXPECT_EQ(
      TAUT_Frame_add(fa.data(), fa.size(), coarse.data(), coarse.size(), sum.data(), sum.size(), &bytes),
      TAUT_ERR_FRAME_MISMATCH);
  EXPECT_EQ(TAUT_Frame_add(fa.data(), 10, fb.data(), fb.size(), sum.data(), sum.size(), &bytes),
            TAUT_ERR_FRAME);
}

TEST(CodecCalls, ArgumentsAreChecked) {
  const auto x = wave(100);
  FrameBytes frame(TAUT_Max_bytes(TAUT_FLOAT64, 100, 1));
  std::size_t bytes = 0;
  auto encode = [&](const void* values, std::size_t count, int type, double bound, const char* options,
                    void* out, std::size_t room, std::size_t* n) {
    return TAUT_Encode(values, count, static_cast<TAUT_Type>(type), bound, options, out, room, n);
  };
  const auto f = TAUT_FLOAT64;
  EXPECT_EQ(encode(x.data(), 100, f, 1e-3, nullptr, frame.data(), frame.size(), &bytes), TAUT_SUCCESS);
  EXPECT_EQ(encode(nullptr, 100, f, 1e-3, nullptr, frame.data(), frame.size(), &bytes), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(encode(x.data(), 100, f, 1e-3, nullptr, nullptr, frame.size(), &bytes), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(encode(x.data(), 100, f, 1e-3, nullptr, frame.data(), frame.size(), nullptr), TAUT_ERR_ARGUMENT);
  for (const double bound : {-1.0, std::nan(""), HUGE_VAL})
    EXPECT_EQ(encode(x.data(), 100, f, bound, nullptr, frame.data(), frame.size(), &bytes),
              TAUT_ERR_ARGUMENT);
  EXPECT_EQ(encode(x.data(), (std::size_t{1} << 30) + 1, f, 1, nullptr, frame.data(), frame.size(), &bytes),
            TAUT_ERR_COUNT);
  EXPECT_EQ(encode(x.data(), 100, 3, 1e-3, nullptr, frame.data(), frame.size(), &bytes), TAUT_ERR_TYPE);
  EXPECT_EQ(encode(x.data(), 100, f, 1e-3, "codec=zip", frame.data(), frame.size(), &bytes), TAUT_ERR_POLICY);
  EXPECT_EQ(encode(x.data(), 100, f, 1e-3, "codec=raw", frame.data(), 63, &bytes), TAUT_ERR_BUFFER);
  std::vector<double> y(101);
  EXPECT_EQ(TAUT_Decode(frame.data(), 63, y.data(), 100, f), TAUT_ERR_FRAME);
  EXPECT_EQ(TAUT_Decode(nullptr, 63, y.data(), 100, f), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(TAUT_Decode(frame.data(), bytes, y.data(), 101, f), TAUT_ERR_FRAME_MISMATCH);
  EXPECT_EQ(TAUT_Decode(frame.data(), bytes, y.data(), 100, TAUT_FLOAT32), TAUT_ERR_FRAME_MISMATCH);
  EXPECT_EQ(TAUT_Max_bytes(static_cast<TAUT_Type>(3), 1, 1), 0u);
  EXPECT_EQ(TAUT_Max_bytes(f, (std::size_t{1} << 30) + 1, 1), 0u);
}

TEST(CodecCalls, NothingAtAllIsAFrameToo) {
  const FrameBytes frame = encoded({}, 1e-3);
  EXPECT_EQ(TAUT_Decode(frame.data(), frame.size(), nullptr, 0, TAUT_FLOAT64), TAUT_SUCCESS);
}

TEST(CodecCalls, InfoIsCutToTheCallersStruct) {
  const FrameBytes frame = encoded(wave(10), 1e-3);
  TAUT_Frame_info info{};
  info.struct_size = offsetof(TAUT_Frame_info, bound);
  info.bound = 77;
  EXPECT_EQ(TAUT_Frame_get_info(frame.data(), frame.size(), &info), TAUT_SUCCESS);
  EXPECT_EQ(info.count, 10u);
  EXPECT_EQ(info.bound, 77);
  EXPECT_EQ(TAUT_Frame_get_info(frame.data(), frame.size(), nullptr), TAUT_ERR_ARGUMENT);
}

TEST(CodecCalls, StatusesAndVersionAreDescribed) {
  for (int status = -1; status < 120; ++status) EXPECT_NE(TAUT_Status_string(status), nullptr);
  EXPECT_STREQ(TAUT_Status_string(TAUT_ERR_MEMORY), "out of memory");
  int major = -1, minor = -1;
  TAUT_Get_version(&major, &minor, nullptr);
  EXPECT_EQ(major, TAUT_VERSION_MAJOR);
  EXPECT_EQ(minor, TAUT_VERSION_MINOR);
}

}  // namespace
