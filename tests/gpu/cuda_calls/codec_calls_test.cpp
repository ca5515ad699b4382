// Tests the codec calls of taut.h on memory of a GPU, simulated by the shim and a stand-in for the driver:
// results equal the host's to the byte, wherever values and frames are stored.
#include <dlfcn.h>

#include <cmath>
#include <random>
#include <thread>

#include "compressor/gpu/device_call.hpp"
#include "gpu/cuda_calls/frames.hpp"

namespace taut::test {
namespace {

bool library_is_open() { return dlopen("libtaut_cuda.so.0", RTLD_LAZY | RTLD_NOLOAD) != nullptr; }

TEST(CodecCallsOnAGpu, NothingIsOpenedBeforeTheFirstOfItsPointers) {
  const auto x = make<float>(Pattern::walk, 5000, 1);
  decoded<float>(encoded(x, "abs:1e-3"), x.size());
  EXPECT_FALSE(library_is_open());
  EXPECT_TRUE(round_trip(x, "abs:1e-3"));
  EXPECT_TRUE(library_is_open());
}

TEST(CodecCallsOnAGpu, KernelsMakeTheHostsFrames) {
  for (const std::size_t n : {0, 1, 5000, 70001}) {
    SCOPED_TRACE(n);
    EXPECT_TRUE(round_trip(make<float>(Pattern::walk, n, 1), "abs:1e-3"));
    EXPECT_TRUE(round_trip(make<double>(Pattern::mixed, n, 2), "snap:1e-4"));
  }
  EXPECT_TRUE(round_trip(make<f16>(Pattern::walk, 70001, 3), "abs:1e-2"));
  EXPECT_TRUE(round_trip(make<bf16>(Pattern::mixed, 5000, 4), "abs:1e-2,codec=planes,predictor=second"));
  EXPECT_TRUE(round_trip(make<float>(Pattern::walk, 140002, 5), "rel:1e-4"));
  EXPECT_TRUE(round_trip(make<float>(Pattern::mixed, 5000, 6), "psnr:60"));
  EXPECT_TRUE(round_trip(make<float>(Pattern::walk, 70000, 7),
                         "abs:1e-3,codec=planes,predictor=lorenzo2,dims=70x1000"));
  EXPECT_TRUE(round_trip(make<double>(Pattern::mixed, 5000, 8), "abs:1e-3,predictor=second+64+100"));
}

TEST(CodecCallsOnAGpu, ComplexNumbersToo) {
  const auto parts = make<float>(Pattern::walk, 140004, 7);
  std::vector<std::uint64_t> x(70002);
  std::memcpy(x.data(), parts.data(), x.size() * sizeof x[0]);
  EXPECT_TRUE(round_trip(x, "abs:1e-3", TAUT_COMPLEX64));
  EXPECT_TRUE(round_trip(x, "abs:1e-3,predictor=pairs+70", TAUT_COMPLEX64));
}

// The distance is the one that the host chooses by a sample, or the one that is named.
TEST(CodecCallsOnAGpu, LosslessFramesToo) {
  for (const std::size_t n : {0, 1, 5000, 70001}) {
    SCOPED_TRACE(n);
    EXPECT_TRUE(round_trip(make<float>(Pattern::walk, n, 1), "lossless"));
    EXPECT_TRUE(round_trip(make<double>(Pattern::mixed, n, 2), "lossless,codec=mpc,predictor=d5"));
    EXPECT_TRUE(round_trip(make<f16>(Pattern::bits, n, 3), "lossless"));
  }
  std::vector<float> points = make<float>(Pattern::walk, 210000, 4);
  for (std::size_t i = 0; i < points.size(); ++i) points[i] += static_cast<float>(1000 * (i % 3));
  EXPECT_TRUE(round_trip(points, "lossless"));
  std::vector<std::uint64_t> complex(points.size() / 2);
  std::memcpy(complex.data(), points.data(), complex.size() * sizeof complex[0]);
  EXPECT_TRUE(round_trip(complex, "lossless", TAUT_COMPLEX64));
  std::vector<std::int8_t> integers(300000);
  for (std::size_t i = 0; i < integers.size(); ++i) integers[i] = static_cast<std::int8_t>(i / 7 % 100);
  for (const char* const coding : {"lossless", "abs:10", "rel:0.5", "abs:10,codec=planes"})
    EXPECT_TRUE(round_trip(integers, coding, TAUT_INT8)) << coding;
  EXPECT_TRUE(round_trip(std::vector<float>(70000, 3.0F), "rel:1e-3"));  // a range of 0 allows no error
}

TEST(CodecCallsOnAGpu, FramesOfExponentsToo) {
  for (const std::size_t n : {0, 1, 5000, 70001})
    for (const char* const coding : {"lossless,codec=exponents", "lossless"}) {
      EXPECT_TRUE(round_trip(make<bf16>(Pattern::tail, n, 1), coding)) << n;
      EXPECT_TRUE(round_trip(make<f16>(Pattern::mixed, n, 2), coding, TAUT_FLOAT16, 2)) << n;
    }
}

TEST(CodecCallsOnAGpu, FramesOfBlocksToo) {
  for (const std::size_t n : {0, 1, 5000, 70001})
    for (const char* const coding : {"block:8", "block:6", "block:4"}) {
      EXPECT_TRUE(round_trip(make<float>(Pattern::mixed, n, 1), coding)) << n;
      EXPECT_TRUE(round_trip(make<bf16>(Pattern::tail, n, 2), coding)) << n;
      EXPECT_TRUE(round_trip(make<f16>(Pattern::mixed, n, 3), coding, TAUT_FLOAT16, 2)) << n;
    }
}

std::vector<double> printed_numbers() {
  std::mt19937 random(1);
  std::vector<double> x(70000);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] =
        std::nearbyint(20000 * std::sin(static_cast<double>(i) / 700) + static_cast<double>(random() % 40)) /
        1000;
  return x;
}

bool has_grid(const FrameBytes& frame) { return (std::to_integer<unsigned>(frame[44]) & 0x30) != 0; }

TEST(CodecCallsOnAGpu, FramesOnAGridAreDecodedByKernels) {
  const std::vector<double> x = printed_numbers();
  const FrameBytes frame = encoded(x, "lossless");
  EXPECT_TRUE(has_grid(frame));
  const OnGpu<double> got(x.size());
  const unsigned long before = stand_in_launches();
  EXPECT_EQ(TAUT_Decode(frame.data(), frame.size(), got.data(), got.size(), TAUT_FLOAT64), TAUT_SUCCESS);
  EXPECT_GT(stand_in_launches(), before);
  EXPECT_TRUE(same(got.peek(got.size()), x));
}

// Returns the frame that kernels write, and the number of their launches.
template <class T>
std::pair<FrameBytes, unsigned long> encoded_there(const std::vector<T>& x, const char* coding) {
  const OnGpu<T> values(x);
  FrameBytes frame(room(x));
  std::size_t bytes = 0;
  const unsigned long before = stand_in_launches();
  EXPECT_EQ(TAUT_Encode(values.data(), x.size(), type_of<T>, coding, frame.data(), frame.size(), &bytes),
            TAUT_SUCCESS);
  frame.resize(bytes);
  return {frame, stand_in_launches() - before};
}

TEST(CodecCallsOnAGpu, KernelsEncodeOnAGrid) {
  const std::vector<double> x = printed_numbers();
  for (const char* const coding : {"lossless", "lossless,predictor=grid"}) {
    const auto [frame, launches] = encoded_there(x, coding);
    EXPECT_TRUE(has_grid(frame));
    EXPECT_EQ(launches, 5u);
    EXPECT_TRUE(same(frame, encoded(x, "lossless")));
    EXPECT_TRUE(same(decoded<double>(frame, x.size()), x));
  }
  const std::vector<float> few(x.begin(), x.begin() + 10000);
  EXPECT_TRUE(same(decoded<float>(encoded_there(few, "lossless,predictor=grid").first, few.size()), few));
}

TEST(CodecCallsOnAGpu, ValuesOffAGridTakeNoLaunchMore) {
  const auto x = make<double>(Pattern::walk, 70000, 1);
  const auto [frame, launches] = encoded_there(x, "lossless");
  EXPECT_FALSE(has_grid(frame));
  EXPECT_EQ(launches, encoded_there(x, "lossless,codec=mpc,predictor=d1").second);
}

TEST(CodecCallsOnAGpu, FramesOfRoundedMantissasToo) {
  EXPECT_TRUE(round_trip(make<float>(Pattern::mixed, 70001, 1), "pwrel:1e-3"));
  EXPECT_TRUE(round_trip(make<double>(Pattern::bits, 5000, 2), "pwrel:0.5,codec=mpc,predictor=d2"));
}

TEST(CodecCallsOnAGpu, PackedIntegersAreExactToo) {
  std::vector<double> x = make<double>(Pattern::walk, 70001, 1);
  for (std::size_t i = 0; i < x.size(); i += 50) x[i] = std::bit_cast<double>(std::uint64_t{4711} * i);
  for (const char* const coding : {"abs:1e-3,bits=exact", "rel:1e-4,bits=exact", "pwrel:1e-3,bits=exact",
                                   "abs:1e-3,predictor=delta+100,bits=exact"})
    EXPECT_TRUE(round_trip(x, coding));
  EXPECT_FALSE(same(encoded(x, "abs:1e-3,bits=exact"), encoded(x, "abs:1e-3")));
}

TEST(CodecCallsOnAGpu, WhatOnlyTheHostCodesGoesThroughIt) {
  const auto x = make<float>(Pattern::walk, 70000, 1);
  for (const char* const coding :
       {"lossless,checksum=on", "abs:1e-3,checksum=on", "lossless,codec=raw", "abs:1e-3,codec=szx"})
    EXPECT_FALSE(round_trip(x, coding));
}

TEST(CodecCallsOnAGpu, MemoryNeedNotBeAligned) {
  EXPECT_TRUE(round_trip(make<float>(Pattern::walk, 5000, 1), "abs:1e-3", TAUT_FLOAT32, 1));
  EXPECT_TRUE(round_trip(make<double>(Pattern::walk, 5000, 1), "lossless", TAUT_FLOAT64, 1));
}

// Extents would add predictions for which no sample is fetched.
TEST(CodecCallsOnAGpu, ExtentsAreLeftOutOfWhatKernelsCode) {
  const auto x = make<float>(Pattern::walk, 70000, 1);
  const OnGpu<float> values(x);
  const std::size_t extents[] = {70, 1000};
  FrameBytes frame(room(x));
  std::size_t bytes = 0;
  ASSERT_EQ(
      TAUT_Encode_nd(values.data(), 2, extents, TAUT_FLOAT32, "abs:1e-3", frame.data(), frame.size(), &bytes),
      TAUT_SUCCESS);
  frame.resize(bytes);
  EXPECT_TRUE(same(frame, encoded(x, "abs:1e-3")));
}

TEST(CodecCallsOnAGpu, FramesAddUp) {
  const auto x = make<float>(Pattern::walk, 20000, 1), y = make<float>(Pattern::mixed, 20000, 2);
  for (const char* const coding :
       {"abs:1e-3,predictor=pairs", "abs:1e-3,checksum=on", "abs:1e-3,predictor=delta+100"}) {
    SCOPED_TRACE(coding);
    const FrameBytes a = encoded(x, coding), b = encoded(y, coding);
    const OnGpu<std::byte> ga(a), gb(b), gsum(room(x, TAUT_FLOAT32, 2));
    FrameBytes sum(gsum.size()), here(gsum.size());
    std::size_t bytes = 0, most = 0;
    ASSERT_EQ(TAUT_Frame_add(a.data(), a.size(), b.data(), b.size(), sum.data(), sum.size(), &most),
              TAUT_SUCCESS);
    sum.resize(most);
    for (const std::byte* const first : {a.data(), static_cast<const std::byte*>(ga.data())}) {
      ASSERT_EQ(TAUT_Frame_add(first, a.size(), gb.data(), b.size(), gsum.data(), gsum.size(), &bytes),
                TAUT_SUCCESS)
          << TAUT_Last_error();
      EXPECT_TRUE(same(gsum.read(bytes), sum));
      ASSERT_EQ(TAUT_Frame_add(gb.data(), b.size(), first, a.size(), here.data(), here.size(), &bytes),
                TAUT_SUCCESS);
      EXPECT_TRUE(same(FrameBytes(here.begin(), here.begin() + static_cast<std::ptrdiff_t>(bytes)), sum));
    }
    ASSERT_EQ(TAUT_Frame_add(a.data(), a.size(), b.data(), b.size(), gsum.data(), gsum.size(), &bytes),
              TAUT_SUCCESS);
    EXPECT_TRUE(same(gsum.read(bytes), sum));
    EXPECT_EQ(TAUT_Frame_add(ga.data(), a.size(), gb.data(), b.size(), gsum.data(), 1000, &bytes),
              TAUT_ERR_BUFFER);
  }
}

TEST(CodecCallsOnAGpu, HeadersAreRead) {
  const auto x = make<float>(Pattern::walk, 5000, 1);
  for (const char* const coding : {"abs:1e-3", "lossless"}) {
    SCOPED_TRACE(coding);
    const OnGpu<std::byte> frame(encoded(x, coding));
    TAUT_Frame_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(TAUT_Frame_get_info(frame.data(), frame.size(), &info), TAUT_SUCCESS);
    EXPECT_EQ(info.count, x.size());
    EXPECT_EQ(info.bytes, frame.size());
    EXPECT_EQ(TAUT_Frame_get_info(frame.data(), frame.size() - 1, &info), TAUT_ERR_FRAME);
    EXPECT_EQ(TAUT_Frame_get_info(frame.data(), 10, &info), TAUT_ERR_FRAME);
  }
}

TEST(CodecCallsOnAGpu, MistakesAreToldAsOfTheHost) {
  const auto x = make<float>(Pattern::walk, 5000, 1);
  FrameBytes frame(room(x));
  const OnGpu<float> values(x);
  std::size_t bytes = 0;
  EXPECT_EQ(TAUT_Encode(values.data(), 5000, TAUT_FLOAT32, "abs:1e-3", frame.data(), 100, &bytes),
            TAUT_ERR_BUFFER);
  EXPECT_EQ(TAUT_Encode(values.data(), 5000, TAUT_FLOAT32, "lossless", frame.data(), 100, &bytes),
            TAUT_ERR_BUFFER);
  EXPECT_EQ(TAUT_Encode(values.data(), 5000, TAUT_FLOAT32, "abs:-1", frame.data(), 100, &bytes),
            TAUT_ERR_POLICY);
}

// Kernels access only the memory of their own device.
TEST(CodecCallsOnAGpu, MemoryMayBeOfSeveralDevices) {
  if (stand_in_device_count() < 2) GTEST_SKIP() << "there is one GPU";
  const auto x = make<float>(Pattern::walk, 20000, 1), y = make<float>(Pattern::walk, 20000, 2);
  const FrameBytes a = encoded(x, "abs:1e-3"), b = encoded(y, "abs:1e-3");
  const OnGpu<float> values(x, 0, 1);
  const OnGpu<std::byte> frame(room(x), 0, 0), other(b, 0, 1), sum(room(x, TAUT_FLOAT32, 2), 0, 0);
  std::size_t bytes = 0;
  ASSERT_EQ(
      TAUT_Encode(values.data(), x.size(), TAUT_FLOAT32, "abs:1e-3", frame.data(), frame.size(), &bytes),
      TAUT_SUCCESS)
      << TAUT_Last_error();
  EXPECT_TRUE(same(frame.read(bytes), a));
  ASSERT_EQ(TAUT_Decode(frame.data(), bytes, values.data(), x.size(), TAUT_FLOAT32), TAUT_SUCCESS);
  EXPECT_TRUE(same(values.read(), decoded<float>(a, x.size())));
  FrameBytes here(sum.size());
  std::size_t most = 0;
  ASSERT_EQ(TAUT_Frame_add(a.data(), a.size(), b.data(), b.size(), here.data(), here.size(), &most),
            TAUT_SUCCESS);
  here.resize(most);
  ASSERT_EQ(TAUT_Frame_add(frame.data(), bytes, other.data(), b.size(), sum.data(), sum.size(), &bytes),
            TAUT_SUCCESS);
  EXPECT_TRUE(same(sum.read(bytes), here));
}

TEST(CodecCallsOnAGpu, FollowTheStreamOfTheThread) {
  const auto x = make<float>(Pattern::walk, 20000, 1);
  const FrameBytes wanted = encoded(x, "abs:1e-3");
  const OnGpu<float> source(x), values(std::vector<float>(x.size()));
  const gpu::DeviceServices& services = gpu::device_services("values");
  void* stream = nullptr;
  ASSERT_EQ(services.open_stream(&stream), 0);
  ASSERT_EQ(services.copy_on(values.data(), source.data(), x.size() * sizeof x[0], stream), 0);
  gpu::DeviceCall::use_stream(stream);
  FrameBytes frame(room(x));
  std::size_t bytes = 0;
  EXPECT_EQ(
      TAUT_Encode(values.data(), x.size(), TAUT_FLOAT32, "abs:1e-3", frame.data(), frame.size(), &bytes),
      TAUT_SUCCESS);
  frame.resize(bytes);
  EXPECT_TRUE(same(frame, wanted));
  EXPECT_EQ(TAUT_Decode(frame.data(), bytes, source.data(), x.size(), TAUT_FLOAT32), TAUT_SUCCESS);
  EXPECT_TRUE(same(source.read(), decoded<float>(wanted, x.size())));
  gpu::DeviceCall::use_stream(nullptr);
  services.close_stream(stream);
}

TEST(CodecCallsOnAGpu, ThreadsTakeTurns) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([i] { round_trip(make<float>(Pattern::walk, 20000 + 4096 * i, i), "abs:1e-3"); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace taut::test
