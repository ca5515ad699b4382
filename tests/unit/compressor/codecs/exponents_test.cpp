// Tests specific to exponents: every bit of every value comes back, and every kernel set writes the same
// bytes.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compressor/api/host_codec.hpp"
#include "compressor/codecs/exponents/kernels.hpp"
#include "compressor/frame/candidates.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/values/half.hpp"

namespace taut::test {
namespace exponents_test {

using Words = std::vector<std::uint16_t>;

constexpr DType types[] = {DType::f16, DType::bf16};

std::unique_ptr<Codec> codec_of(const char* kernels = "", int threads = 1) {
  return find_codec("exponents")->make({.kernels = kernels, .threads = threads});
}

std::vector<const char*> kernel_names() {
  std::vector<const char*> names;
  for (const exponents::KernelSet* set : exponents::kernel_sets())
    if (set->supported()) names.push_back(set->name);
  return names;
}

// Returns a frame of exactly its size. The values are read from an unaligned address.
std::vector<std::byte> frame_of(const Codec& codec, DType type, const Words& x) {
  std::vector<std::byte> misaligned(2 * x.size() + 1);
  if (!x.empty()) std::memcpy(misaligned.data() + 1, x.data(), 2 * x.size());
  std::vector<std::byte> frame(codec.max_bytes(type, x.size()));
  const SizeOrStatus s = codec.encode({{misaligned.data() + 1, x.size(), type}}, frame);
  EXPECT_EQ(s.status, Status::ok);
  EXPECT_LE(s.bytes, frame_header_bytes + 2 * x.size());
  frame.resize(s.bytes);
  return frame;
}

Status decode(const Codec& codec, DType type, std::vector<std::byte> frame, Words& x) {
  frame.shrink_to_fit();  // any access beyond the end is detected
  return codec.decode(frame, {{x.data(), x.size(), type}});
}

void expect_round_trip(DType type, const Words& x) {
  const std::vector<std::byte> reference = frame_of(*codec_of("scalar"), type, x);
  for (const char* kernels : kernel_names()) {
    const auto codec = codec_of(kernels);
    ASSERT_TRUE(frame_of(*codec, type, x) == reference) << kernels;
    Words decoded(x.size(), 0xABCD);
    ASSERT_EQ(decode(*codec, type, reference, decoded), Status::ok) << kernels;
    ASSERT_TRUE(decoded == x) << kernels;
  }
}

enum class Data { normal, wide, zeros, any_bits, constant, zero, exponents_of_all, minus_zero, count };

Words values_of(Data data, DType type, std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const auto rounded = [type](double x) -> std::uint16_t {
    if (type == DType::f16) return std::bit_cast<std::uint16_t>(f16(static_cast<float>(x)));
    return std::bit_cast<std::uint16_t>(bf16(static_cast<float>(x)));
  };
  Words x(n);
  for (std::size_t i = 0; i < n; ++i) {
    switch (data) {
      case Data::normal: x[i] = rounded(normal(random)); break;
      case Data::wide: x[i] = rounded(normal(random) * std::exp2(-static_cast<double>(random() % 12))); break;
      case Data::zeros: x[i] = random() % 3 == 0 ? 0 : rounded(normal(random)); break;
      case Data::constant: x[i] = 0x3C01; break;
      case Data::zero: x[i] = 0; break;
      case Data::exponents_of_all: x[i] = static_cast<std::uint16_t>(i * 131 << 3); break;
      case Data::minus_zero: x[i] = random() % 3 == 0 ? 0x8000 : rounded(normal(random)); break;
      default: x[i] = static_cast<std::uint16_t>(random());
    }
  }
  return x;
}

TEST(Exponents, EveryBitComesBackAndAllKernelSetsWriteTheSameBytes) {
  for (const DType type : types)
    for (int data = 0; data < static_cast<int>(Data::count); ++data)
      for (const std::size_t n : {0u, 1u, 2u, 63u, 64u, 65u, 127u, 4095u, 4096u, 4097u, 40000u}) {
        SCOPED_TRACE(testing::Message() << name_of(type) << " data " << data << " n " << n);
        expect_round_trip(type, values_of(static_cast<Data>(data), type, n, 3));
        if (testing::Test::HasFailure()) return;
      }
}

// All 65536 bit patterns, in order and shuffled.
TEST(Exponents, EveryPatternComesBack) {
  Words x(65536);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint16_t>(i);
  for (const DType type : types) {
    expect_round_trip(type, x);
    Words mixed = x;
    std::shuffle(mixed.begin(), mixed.end(), std::mt19937(1));
    expect_round_trip(type, mixed);
  }
}

// Patterns from few to all, among values of a usual distribution: escapes of both books.
TEST(Exponents, EveryNumberOfRareValues) {
  std::mt19937_64 random(5);
  for (const DType type : types)
    for (std::size_t rare = 0; rare < 6000; rare = rare * 2 + 1) {
      Words x = values_of(Data::normal, type, 5000, 7);
      for (std::size_t k = 0; k < rare; ++k) x[random() % x.size()] = static_cast<std::uint16_t>(random());
      SCOPED_TRACE(testing::Message() << name_of(type) << " rare " << rare);
      expect_round_trip(type, x);
      if (testing::Test::HasFailure()) return;
    }
}

TEST(Exponents, ThreadsWriteTheSame) {
  const Words x = values_of(Data::wide, DType::bf16, 300000, 1);
  EXPECT_TRUE(frame_of(*codec_of("", 5), DType::bf16, x) == frame_of(*codec_of(), DType::bf16, x));
}

double ratio(DType type, const Words& x) {
  return static_cast<double>(2 * x.size()) /
         static_cast<double>(frame_of(*codec_of(), type, x).size() - frame_header_bytes);
}

// The entropy of the exponent of normally distributed values is 2.5 bits.
TEST(Exponents, Ratios) {
  EXPECT_GT(ratio(DType::bf16, values_of(Data::normal, DType::bf16, 200000, 2)), 1.41);
  EXPECT_GT(ratio(DType::f16, values_of(Data::normal, DType::f16, 200000, 2)), 1.11);
  EXPECT_GT(ratio(DType::bf16, values_of(Data::zeros, DType::bf16, 200000, 2)), 1.8);
  EXPECT_GT(ratio(DType::bf16, values_of(Data::zero, DType::bf16, 200000, 2)), 1900);
  EXPECT_EQ(frame_of(*codec_of(), DType::bf16, values_of(Data::any_bits, DType::bf16, 20000, 2)).size(),
            frame_header_bytes + 40000);
}

// Gradients, and a smooth field, whose neighbours mpc predicts.
TEST(Exponents, AutoTakesItWhereItIsShorter) {
  constexpr std::size_t n = 100000;
  const auto chosen = [](const Words& x) {
    const auto all = candidates({}, DType::bf16, Bound{});
    return std::string(api::best_by_sample(all, {{x.data(), x.size(), DType::bf16}}).codec->name);
  };
  EXPECT_EQ(chosen(values_of(Data::normal, DType::bf16, n, 1)), "exponents");
  Words smooth(n);
  for (std::size_t i = 0; i < n; ++i)
    smooth[i] = std::bit_cast<std::uint16_t>(bf16(std::sin(static_cast<float>(i) * 1e-4F)));
  EXPECT_EQ(chosen(smooth), "mpc");
}

TEST(Exponents, WhatItDoesNotServeIsRefused) {
  const auto codec = codec_of();
  std::vector<std::byte> room(1000);
  const float x[2] = {};
  EXPECT_EQ(codec->encode({x, 2, DType::f32}, room).status, Status::invalid_type);
  EXPECT_THROW(find_codec("exponents")->make({.bound = {Bound::Kind::absolute, 1e-3}}), Error);
  EXPECT_THROW(codec_of("abacus"), Error);
}

// ---- Frames that no encoder writes

class ExponentsDamage : public testing::TestWithParam<const char*> {
 protected:
  static constexpr std::size_t n = 4200, record_at = frame_header_bytes + 4 * 3;

  Status status_of(const std::vector<std::byte>& frame) const {
    Words decoded(n);
    return decode(*codec_of(GetParam()), DType::bf16, frame, decoded);
  }
  Status with_byte(std::size_t at, unsigned byte) const {
    std::vector<std::byte> bad = good;
    bad[record_at + at] = static_cast<std::byte>(byte);
    return status_of(bad);
  }

  const std::vector<std::byte> good =
      frame_of(*codec_of(), DType::bf16, values_of(Data::zeros, DType::bf16, n, 4));
};

TEST_P(ExponentsDamage, IsRejected) {
  EXPECT_EQ(status_of(good), Status::ok);
  EXPECT_EQ(with_byte(0, 0), Status::corrupt_frame);
  EXPECT_EQ(with_byte(0, 5), Status::corrupt_frame);
  EXPECT_EQ(with_byte(1, 2), Status::corrupt_frame);
  EXPECT_EQ(with_byte(3, 0xFF), Status::corrupt_frame);
  EXPECT_EQ(with_byte(5, 0xFF), Status::corrupt_frame);
  EXPECT_EQ(with_byte(7, 0xFF), Status::corrupt_frame);
}

// Any damage gives a status or other values, but no access out of bounds (ASan), and the same status with
// every kernel set.
TEST_P(ExponentsDamage, DoesNoHarm) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> bad = good;
    for (std::size_t k = 0; k < 1 + random() % 3; ++k) {
      const std::size_t reach = random() % 2 == 0 ? 60 : bad.size() - frame_header_bytes;
      bad[frame_header_bytes + random() % reach] ^= std::byte(1 << random() % 8);
    }
    Words decoded(n);
    ASSERT_EQ(status_of(bad), decode(*codec_of("scalar"), DType::bf16, bad, decoded)) << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, ExponentsDamage, testing::ValuesIn(kernel_names()),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace exponents_test
}  // namespace taut::test
