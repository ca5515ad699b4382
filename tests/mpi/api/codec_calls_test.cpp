// Tests of the codec calls of taut.h. They need no MPI; every rank does the same.
#define TAUT_NO_MPI
#include <gtest/gtest.h>
#include <taut/taut.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace codec_calls_test {

using FrameBytes = std::vector<unsigned char>;

std::vector<double> wave(std::size_t count, double phase = 0) {
  std::vector<double> x(count);
  for (std::size_t i = 0; i < count; ++i) x[i] = 10 * std::sin(phase + 0.01 * static_cast<double>(i));
  return x;
}

std::string abs(double bound) { return "abs:" + std::to_string(bound); }

FrameBytes encoded(const std::vector<double>& x, const std::string& coding) {
  FrameBytes frame(TAUT_Max_bytes(TAUT_FLOAT64, x.size(), 1));
  std::size_t bytes = 0;
  EXPECT_EQ(TAUT_Encode(x.data(), x.size(), TAUT_FLOAT64, coding.c_str(), frame.data(), frame.size(), &bytes),
            TAUT_SUCCESS);
  frame.resize(bytes);
  return frame;
}

TEST(CodecCalls, RoundTripWithinTheBound) {
  const auto x = wave(10000);
  for (const double bound : {0.0, 1e-6, 1e-2}) {
    const FrameBytes frame = encoded(x, bound == 0 ? "lossless" : abs(bound));
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
  const FrameBytes fa = encoded(a, "abs:1e-3"), fb = encoded(b, "abs:1e-3");
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

  const FrameBytes raw = encoded(a, "abs:1e-3,codec=raw"), coarse = encoded(a, "abs:1e-2");
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

TEST(CodecCalls, FramesAreMultiplied) {
  const auto x = wave(10000);
  const FrameBytes frame = encoded(x, "abs:1e-3,codec=planes");
  FrameBytes scaled(TAUT_Max_bytes(TAUT_FLOAT64, x.size(), 1));
  std::size_t bytes = 0;
  const auto scale = [&](const FrameBytes& of, double factor) {
    return TAUT_Frame_scale(of.data(), of.size(), factor, scaled.data(), scaled.size(), &bytes);
  };
  for (const double factor : {-1.0, 0.5, -3.0}) {
    ASSERT_EQ(scale(frame, factor), TAUT_SUCCESS);
    std::vector<double> y(x.size());
    ASSERT_EQ(TAUT_Decode(scaled.data(), bytes, y.data(), y.size(), TAUT_FLOAT64), TAUT_SUCCESS);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_LE(std::abs(factor * x[i] - y[i]), 1e-3 * std::abs(factor) * (1 + 1e-12));
    TAUT_Frame_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(TAUT_Frame_get_info(scaled.data(), bytes, &info), TAUT_SUCCESS);
    EXPECT_EQ(info.bound, 1e-3 * std::abs(factor));
  }
  for (const double factor : {0.0, -0.0, double{NAN}, double{INFINITY}, 1e300, 1e-308}) {
    EXPECT_EQ(scale(frame, factor), TAUT_ERR_ARGUMENT);
    EXPECT_NE(std::string(TAUT_Last_error()).find("factor"), std::string::npos);
  }
  EXPECT_EQ(scale(encoded(x, "lossless"), -1), TAUT_ERR_FRAME_MISMATCH);
  EXPECT_NE(std::string(TAUT_Last_error()).find("codec=planes"), std::string::npos);
  EXPECT_EQ(TAUT_Frame_scale(frame.data(), frame.size(), 1, nullptr, 0, &bytes), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(TAUT_Frame_scale(frame.data(), frame.size(), 1, scaled.data(), 10, &bytes), TAUT_ERR_BUFFER);
}

TEST(CodecCalls, FramesHaveStatistics) {
  auto x = wave(10000);
  x[7] = NAN;
  double sum = 0;
  for (const double v : x) sum += std::isnan(v) ? 0 : v;
  for (const char* coding : {"abs:1e-3,codec=planes", "abs:1e-3,codec=szx", "lossless"}) {
    const FrameBytes frame = encoded(x, coding);
    TAUT_Frame_statistics found{};
    found.struct_size = sizeof found;
    ASSERT_EQ(TAUT_Frame_get_statistics(frame.data(), frame.size(), &found), TAUT_SUCCESS) << coding;
    EXPECT_EQ(found.count, 9999u);
    EXPECT_NEAR(found.mean, sum / 9999, 1.001e-3);
    EXPECT_NEAR(found.least, -10, 1.1e-3);
    EXPECT_NEAR(found.greatest, 10, 1.1e-3);
    found.struct_size = offsetof(TAUT_Frame_statistics, greatest);
    found.greatest = 77;
    EXPECT_EQ(TAUT_Frame_get_statistics(frame.data(), frame.size(), &found), TAUT_SUCCESS);
    EXPECT_EQ(found.greatest, 77);
    EXPECT_EQ(TAUT_Frame_get_statistics(frame.data(), 10, &found), TAUT_ERR_FRAME);
  }
}

// Two earlier arrays, decoded, and one that goes on as they do.
struct Series {
  std::vector<double> now = wave(10000, 0.02), before = wave(10000, 0.01), earlier = wave(10000);
  std::vector<const void*> arrays{before.data(), earlier.data()};

  FrameBytes frame(const char* coding, int references) const {
    FrameBytes room(TAUT_Max_bytes(TAUT_FLOAT64, now.size(), 1));
    std::size_t bytes = 0;
    EXPECT_EQ(TAUT_Encode_with_references(now.data(), now.size(), TAUT_FLOAT64, coding, arrays.data(),
                                          references, room.data(), room.size(), &bytes),
              TAUT_SUCCESS);
    room.resize(bytes);
    return room;
  }
  static int decode(const FrameBytes& frame, const std::vector<const void*>& arrays,
                    std::vector<double>& to) {
    return TAUT_Decode_with_references(frame.data(), frame.size(), arrays.data(),
                                       static_cast<int>(arrays.size()), to.data(), to.size(), TAUT_FLOAT64);
  }
};

TEST(CodecCalls, ReferencesMakeFramesShorterAndChangeNoValue) {
  const Series series;
  for (const char* coding : {"abs:1e-4", "abs:1e-4,predictor=none", "snap:1e-3", "lossless"}) {
    const FrameBytes plain = encoded(series.now, coding), frame = series.frame(coding, 2);
    EXPECT_LT(frame.size(), plain.size()) << coding;
    std::vector<double> expected(series.now.size()), y(series.now.size());
    ASSERT_EQ(TAUT_Decode(plain.data(), plain.size(), expected.data(), expected.size(), TAUT_FLOAT64),
              TAUT_SUCCESS);
    ASSERT_EQ(Series::decode(frame, series.arrays, y), TAUT_SUCCESS) << TAUT_Last_error();
    EXPECT_EQ(y, expected) << coding;
    ASSERT_EQ(Series::decode(plain, series.arrays, y), TAUT_SUCCESS);  // which has none
    EXPECT_EQ(y, expected) << coding;
  }
}

TEST(CodecCalls, WrongReferencesAreAnErrorWithACause) {
  const Series series;
  const FrameBytes frame = series.frame("abs:1e-4", 2);
  std::vector<double> y(series.now.size()), other = series.before;
  const void *const before = series.arrays[0], *const earlier = series.arrays[1];
  other[5000] = -other[5000];
  for (const std::vector<const void*>& arrays :
       {std::vector<const void*>{before}, {earlier, before}, {other.data(), earlier}}) {
    EXPECT_EQ(Series::decode(frame, arrays, y), TAUT_ERR_FRAME);
    EXPECT_NE(std::strstr(TAUT_Last_error(), "references: they are not the arrays"), nullptr);
  }
  EXPECT_EQ(TAUT_Decode(frame.data(), frame.size(), y.data(), y.size(), TAUT_FLOAT64), TAUT_ERR_FRAME);
  EXPECT_NE(std::strstr(TAUT_Last_error(), "2 references, which are missing"), nullptr);
  TAUT_Frame_statistics statistics{};
  statistics.struct_size = sizeof statistics;
  EXPECT_EQ(TAUT_Frame_get_statistics(frame.data(), frame.size(), &statistics), TAUT_ERR_FRAME);
  FrameBytes room(TAUT_Max_bytes(TAUT_FLOAT64, y.size(), 1));
  std::size_t bytes = 0;
  EXPECT_EQ(TAUT_Frame_scale(frame.data(), frame.size(), -1, room.data(), room.size(), &bytes),
            TAUT_ERR_FRAME_MISMATCH);
  const auto encode = [&](const void* const* arrays, int n) {
    return TAUT_Encode_with_references(y.data(), y.size(), TAUT_FLOAT64, "abs:1", arrays, n, room.data(),
                                       room.size(), &bytes);
  };
  const void* const missing[] = {before, nullptr};
  EXPECT_EQ(encode(nullptr, 1), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(encode(series.arrays.data(), 3), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(encode(series.arrays.data(), -1), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(encode(missing, 2), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(encode(nullptr, 0), TAUT_SUCCESS);
}

TEST(CodecCalls, FramesNameTheirReferences) {
  const Series series;
  TAUT_Frame_info one{}, two{}, none{};
  for (TAUT_Frame_info* info : {&one, &two, &none}) info->struct_size = sizeof *info;
  const auto get = [&](int references, TAUT_Frame_info& info) {
    const FrameBytes frame = series.frame("abs:1e-4,predictor=delta", references);
    ASSERT_EQ(TAUT_Frame_get_info(frame.data(), frame.size(), &info), TAUT_SUCCESS);
    EXPECT_EQ(info.reference_count, references);
  };
  get(0, none);
  get(1, one);
  get(2, two);
  EXPECT_EQ(one.references[0], two.references[0]);
  EXPECT_NE(two.references[1], two.references[0]);
  EXPECT_NE(two.references[1], 0u);
  EXPECT_EQ(one.references[1], 0u);
}

TEST(CodecCalls, SumsOfFramesDecodeWithTheirReferences) {
  const Series series;
  const FrameBytes frame = series.frame("abs:1e-4", 2);
  FrameBytes sum(TAUT_Max_bytes(TAUT_FLOAT64, series.now.size(), 2));
  std::size_t bytes = 0;
  ASSERT_EQ(
      TAUT_Frame_add(frame.data(), frame.size(), frame.data(), frame.size(), sum.data(), sum.size(), &bytes),
      TAUT_SUCCESS);
  sum.resize(bytes);
  std::vector<double> y(series.now.size()), total(series.now.size());
  ASSERT_EQ(Series::decode(frame, series.arrays, y), TAUT_SUCCESS);
  ASSERT_EQ(Series::decode(sum, series.arrays, total), TAUT_SUCCESS);
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(total[i], 2 * y[i]);
  const FrameBytes plain = encoded(series.now, "abs:1e-4");
  EXPECT_EQ(
      TAUT_Frame_add(frame.data(), frame.size(), plain.data(), plain.size(), sum.data(), sum.size(), &bytes),
      TAUT_ERR_FRAME_MISMATCH);
}

TEST(CodecCalls, EveryTypeHasAFrame) {
  for (int code = TAUT_FLOAT32; code <= TAUT_UINT64; ++code) {
    const auto type = static_cast<TAUT_Type>(code);
    const std::vector<std::byte> x(160000);  // zeros of any type
    for (const char* coding : {"lossless", "abs:1e-3"}) {
      FrameBytes frame(TAUT_Max_bytes(type, 10000, 1));
      std::size_t bytes = 0;
      ASSERT_EQ(TAUT_Encode(x.data(), 10000, type, coding, frame.data(), frame.size(), &bytes), TAUT_SUCCESS);
      std::vector<std::byte> y(x.size(), std::byte{1});
      ASSERT_EQ(TAUT_Decode(frame.data(), bytes, y.data(), 10000, type), TAUT_SUCCESS);
      EXPECT_EQ(y[0], std::byte{0});
      EXPECT_EQ(TAUT_Decode(frame.data(), bytes, y.data(), 10000, code == 1 ? TAUT_INT32 : TAUT_FLOAT32),
                TAUT_ERR_FRAME_MISMATCH);
    }
    std::size_t bytes = 0;
    FrameBytes frame(TAUT_Max_bytes(type, 100, 1));
    const auto encode = [&](const char* coding) {
      return TAUT_Encode(x.data(), 100, type, coding, frame.data(), frame.size(), &bytes);
    };
    EXPECT_EQ(encode("abs:1,codec=planes"), TAUT_SUCCESS);  // integers: by another codec, without loss
    const bool refused =
        type == TAUT_FLOAT16 || type == TAUT_BFLOAT16 || type == TAUT_COMPLEX64 || type == TAUT_COMPLEX128;
    EXPECT_EQ(encode("abs:1,codec=szx"), refused ? TAUT_ERR_TYPE : TAUT_SUCCESS);
    if (refused) {
      EXPECT_NE(std::string(TAUT_Last_error()).find("codec=raw"), std::string::npos);
    }
  }
  EXPECT_EQ(TAUT_Max_bytes(TAUT_COMPLEX64, (std::size_t{1} << 29) + 1, 1), 0u);
}

TEST(CodecCalls, ArgumentsAreChecked) {
  const auto x = wave(100);
  FrameBytes frame(TAUT_Max_bytes(TAUT_FLOAT64, 100, 1));
  std::size_t bytes = 0;
  auto encode = [&](const void* values, std::size_t count, int type, const char* coding, void* out,
                    std::size_t room, std::size_t* n) {
    return TAUT_Encode(values, count, static_cast<TAUT_Type>(type), coding, out, room, n);
  };
  const auto f = TAUT_FLOAT64;
  const char* const fine = "abs:1e-3";
  EXPECT_EQ(encode(x.data(), 100, f, fine, frame.data(), frame.size(), &bytes), TAUT_SUCCESS);
  EXPECT_EQ(encode(nullptr, 100, f, fine, frame.data(), frame.size(), &bytes), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(encode(x.data(), 100, f, fine, nullptr, frame.size(), &bytes), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(encode(x.data(), 100, f, fine, frame.data(), frame.size(), nullptr), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(encode(x.data(), 100, f, nullptr, frame.data(), frame.size(), &bytes), TAUT_ERR_ARGUMENT);
  for (const char* coding : {"", "abs:-1", "abs:nan", "abs:inf", "off", "abs:1,codec=zip", "abs:1,on=input"})
    EXPECT_EQ(encode(x.data(), 100, f, coding, frame.data(), frame.size(), &bytes), TAUT_ERR_POLICY)
        << coding;
  EXPECT_NE(std::string(TAUT_Last_error()).find("'on' is not an option"), std::string::npos);
  EXPECT_EQ(encode(x.data(), (std::size_t{1} << 30) + 1, f, fine, frame.data(), frame.size(), &bytes),
            TAUT_ERR_COUNT);
  const int unknown = std::atoi("99");
  EXPECT_EQ(encode(x.data(), 100, unknown, fine, frame.data(), frame.size(), &bytes), TAUT_ERR_TYPE);
  EXPECT_EQ(encode(x.data(), 100, f, "abs:1,codec=raw", frame.data(), 63, &bytes), TAUT_ERR_BUFFER);
  std::vector<double> y(101);
  EXPECT_EQ(TAUT_Decode(frame.data(), 63, y.data(), 100, f), TAUT_ERR_FRAME);
  EXPECT_EQ(TAUT_Decode(nullptr, 63, y.data(), 100, f), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(TAUT_Decode(frame.data(), bytes, y.data(), 101, f), TAUT_ERR_FRAME_MISMATCH);
  EXPECT_EQ(TAUT_Decode(frame.data(), bytes, y.data(), 100, TAUT_FLOAT32), TAUT_ERR_FRAME_MISMATCH);
  EXPECT_EQ(TAUT_Max_bytes(static_cast<TAUT_Type>(unknown), 1, 1), 0u);
  EXPECT_EQ(TAUT_Max_bytes(f, (std::size_t{1} << 30) + 1, 1), 0u);
}

// The bound is relative to the values' range, without fill values.
TEST(CodecCalls, RelativeBounds) {
  auto x = wave(10000);
  x[17] = 1e20;
  const auto bound_of = [&](const char* coding) {
    const FrameBytes frame = encoded(x, coding);
    TAUT_Frame_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(TAUT_Frame_get_info(frame.data(), frame.size(), &info), TAUT_SUCCESS);
    EXPECT_EQ(info.bound_kind, info.bound == 0 ? 0 : 1);
    return info.bound;
  };
  EXPECT_NEAR(bound_of("rel:1e-3,fill=1e20"), 2e-2, 1e-5);
  EXPECT_NEAR(bound_of("psnr:60,fill=1e20"), 2e-2, 1e-5);
  EXPECT_NEAR(bound_of("rel:1e-3"), 1e17, 1e12);
  x.assign(x.size(), 3);
  EXPECT_EQ(bound_of("rel:1e-3"), 0);
}

TEST(CodecCalls, ArraysHaveExtents) {
  const auto x = wave(60 * 100);
  FrameBytes frame(TAUT_Max_bytes(TAUT_FLOAT64, x.size(), 1));
  std::size_t bytes = 0;
  const auto encode = [&](int n, const std::vector<std::size_t>& extents) {
    return TAUT_Encode_nd(x.data(), n, extents.data(), TAUT_FLOAT64, "abs:1e-3", frame.data(), frame.size(),
                          &bytes);
  };
  for (const std::vector<std::size_t>& extents :
       {std::vector<std::size_t>{60, 100}, {6000}, {1, 2, 30, 4, 25}}) {
    ASSERT_EQ(encode(static_cast<int>(extents.size()), extents), TAUT_SUCCESS);
    std::vector<double> y(x.size());
    ASSERT_EQ(TAUT_Decode(frame.data(), bytes, y.data(), y.size(), TAUT_FLOAT64), TAUT_SUCCESS);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_LE(std::abs(x[i] - y[i]), 1e-3);
  }
  EXPECT_EQ(encode(0, {60, 100}), TAUT_ERR_ARGUMENT);
  EXPECT_EQ(encode(2, {std::size_t{1} << 33, std::size_t{1} << 33}), TAUT_ERR_COUNT);
}

// Extents help from 8192 values on: 24,576 values are a halo of a program.
TEST(CodecCalls, ExtentsOfShortArraysAreUsed) {
  std::vector<double> x(6 * 64 * 64);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto along = static_cast<double>(i % 64), across = static_cast<double>(i / 64);
    x[i] = std::cos(1.7 * along * along) + std::sin(0.01 * across);
  }
  FrameBytes frame(TAUT_Max_bytes(TAUT_FLOAT64, x.size(), 1));
  const auto bytes = [&](const std::vector<std::size_t>& extents) {
    std::size_t size = 0;
    EXPECT_EQ(TAUT_Encode_nd(x.data(), static_cast<int>(extents.size()), extents.data(), TAUT_FLOAT64,
                             "abs:1e-4", frame.data(), frame.size(), &size),
              TAUT_SUCCESS);
    return size;
  };
  EXPECT_LT(bytes({6, 64, 64}), bytes({x.size()}) / 2);
}

TEST(CodecCalls, NothingAtAllIsAFrameToo) {
  const FrameBytes frame = encoded({}, "abs:1e-3");
  EXPECT_EQ(TAUT_Decode(frame.data(), frame.size(), nullptr, 0, TAUT_FLOAT64), TAUT_SUCCESS);
}

TEST(CodecCalls, InfoIsCutToTheCallersStruct) {
  const FrameBytes frame = encoded(wave(10), "abs:1e-3");
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

}  // namespace codec_calls_test
