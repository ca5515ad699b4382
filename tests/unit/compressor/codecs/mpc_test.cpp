// Tests specific to mpc: every bit of every type comes back, and every kernel set writes the same bytes.
#include <cmath>

#include "compressor/codecs/mpc/frame_io.hpp"
#include "support/mpc_frames.hpp"

namespace taut::test {
namespace mpc_test {

enum class Data { any_bits, smooth, series, short_words, sparse, zero, constant, one_off, special, count };

constexpr DType all_types[] = {DType::f32,  DType::f64, DType::f16, DType::bf16, DType::c64,
                               DType::c128, DType::i8,  DType::u8,  DType::i16,  DType::u16,
                               DType::i32,  DType::u32, DType::i64, DType::u64};

std::uint64_t word(Data data, std::size_t i, std::size_t bits, std::mt19937_64& random) {
  const auto wave = [&](double step) {
    const double x = std::sin(step * static_cast<double>(i)) * 100;
    if (bits == 64) return std::bit_cast<std::uint64_t>(x);
    return std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(x))} >> (bits < 32 ? 32 - bits : 0);
  };
  switch (data) {
    case Data::smooth: return wave(0.001);
    case Data::series: return wave(0.001) + i % 3 * (std::uint64_t{1} << (bits - 3));
    case Data::short_words: return random() % 1000 << (bits / 2);
    case Data::sparse: return random() % 300 == 0 ? random() : 0;
    case Data::zero: return 0;
    case Data::constant: return 0x0102030405060708;
    case Data::one_off: return i == 1500 ? 1 : 0;
    case Data::special: {  // in binary32: NaNs with payloads, -0, denormals, infinities, the largest
      constexpr std::uint32_t bits32[] = {0x7FC00001, 0xFFBFFFFF, 0x80000000, 0x00000001,
                                          0x807FFFFF, 0x7F800000, 0xFF800000, 0x7F7FFFFF};
      return bits32[random() % 8];
    }
    default: return random();
  }
}

ByteVector values_of(Data data, DType type, std::size_t count) {
  const std::size_t word_bytes = size_of(component_of(type)), words = count * components_of(type);
  std::mt19937_64 random(count + 100 * static_cast<std::size_t>(data));
  ByteVector bytes(words * word_bytes);
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t w = word(data, i, 8 * word_bytes, random);
    std::memcpy(bytes.data() + i * word_bytes, &w, word_bytes);
  }
  return bytes;
}

void expect_round_trip(DType type, const ByteVector& values, const char* predictor) {
  const ByteVector reference = mpc_frame(*mpc_codec(predictor, "scalar"), type, values);
  for (const char* kernels : mpc_kernel_names()) {
    const auto codec = mpc_codec(predictor, kernels);
    EXPECT_TRUE(mpc_frame(*codec, type, values) == reference) << kernels;
    ByteVector decoded(values.size());
    ASSERT_EQ(mpc_decode(*codec, type, reference, decoded), Status::ok) << kernels;
    EXPECT_TRUE(decoded == values) << kernels;
  }
}

TEST(Mpc, EveryBitComesBackAndAllKernelSetsWriteTheSameBytes) {
  for (const DType type : all_types) {
    for (int data = 0; data < static_cast<int>(Data::count); ++data) {
      for (const std::size_t count : {0u, 1u, 7u, 65u, 511u, 1023u, 1024u, 1025u, 2500u}) {
        const ByteVector values = values_of(static_cast<Data>(data), type, count);
        for (const char* predictor :
             {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d0+64", "d1+100", "d2+64+300"}) {
          SCOPED_TRACE(testing::Message()
                       << name_of(type) << " data " << data << " count " << count << " " << predictor);
          expect_round_trip(type, values, predictor);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

// Tests every length of a chunk's tail.
TEST(Mpc, EveryLengthOfALastChunk) {
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::f64})
    for (std::size_t count = 0; count <= 4096 / size_of(type); count += count < 200 ? 1 : 61)
      for (const char* predictor : {"d0", "d1", "d5", "d8", "d1+64+65"})
        expect_round_trip(type, values_of(Data::series, type, count), predictor);
}

TEST(Mpc, EveryKernelSetReadsFramesOfEveryDistance) {
  const ByteVector values = values_of(Data::series, DType::f32, 5000);
  for (const char* predictor : {"d0", "d1", "d3", "d8", "d0+200+3000"}) {
    const ByteVector frame = mpc_frame(*mpc_codec(predictor), DType::f32, values);
    ByteVector decoded(values.size());
    ASSERT_EQ(mpc_decode(*mpc_codec("auto"), DType::f32, frame, decoded), Status::ok);
    EXPECT_TRUE(decoded == values);
  }
}

std::size_t payload_bytes(const char* predictor, DType type, const ByteVector& values) {
  return mpc_frame(*mpc_codec(predictor), type, values).size() - frame_header_bytes;
}

TEST(Mpc, SizesOfTheSimplestChunks) {
  const std::size_t index = 4 * 5;  // index of 4 chunks
  const ByteVector zero = values_of(Data::zero, DType::f32, 4096),
                   same = values_of(Data::constant, DType::f32, 4096),
                   one_off = values_of(Data::one_off, DType::f32, 4000);
  EXPECT_EQ(payload_bytes("d1", DType::f32, zero), index);
  EXPECT_EQ(payload_bytes("d1", DType::f32, same), index + 4 * (4 + 8));
  EXPECT_EQ(payload_bytes("d3", DType::f32, same), index + 4 * (12 + 8));
  // In a message too short for sparse records: 1, then -1: digits 1 and 11, both in one block; its bitmap,
  // and that back to none; a flag byte, in one vector
  EXPECT_EQ(payload_bytes("d1", DType::f32, one_off), index + (2 + 2 + 1 + 3) + 4 + 8);
}

TEST(Mpc, IncompressibleValuesAreStored) {
  for (const std::size_t count : {1u, 100u, 100000u}) {
    const ByteVector noise = values_of(Data::any_bits, DType::f64, count);
    const ByteVector frame = mpc_frame(*mpc_codec("d1"), DType::f64, noise);
    FrameHeader header;
    ASSERT_EQ(read_header(frame, header), Status::ok);
    EXPECT_TRUE(header.has(FrameHeader::stored));
    EXPECT_EQ(frame.size(), frame_header_bytes + noise.size());
  }
}

TEST(Mpc, AutoTakesTheDistanceThatFits) {
  const ByteVector one = values_of(Data::smooth, DType::f32, 100000),
                   three = values_of(Data::series, DType::f32, 100000);
  EXPECT_EQ(payload_bytes("auto", DType::f32, one), payload_bytes("d1", DType::f32, one));
  EXPECT_EQ(payload_bytes("auto", DType::f32, three), payload_bytes("d3", DType::f32, three));
  EXPECT_LT(1.05 * static_cast<double>(payload_bytes("auto", DType::f32, three)),
            static_cast<double>(payload_bytes("d1", DType::f32, three)));
  const ByteVector few = values_of(Data::smooth, DType::c64, 500);  // too few for a sample
  EXPECT_EQ(payload_bytes("auto", DType::c64, few), payload_bytes("d2", DType::c64, few));
}

// At every distance the first words are found in the heads; these must count neither for nor against the
// longer distances.
TEST(Mpc, HeadsDoNotMisleadTheSample) {
  std::mt19937_64 random(9);
  const auto noise = [&](int bits) { return random() % (std::uint64_t{1} << bits); };
  std::vector<std::uint64_t> walk(100000), eight(100000);
  std::uint64_t at = std::uint64_t{1} << 60, of[8];
  for (std::uint64_t& x : of) x = at + noise(42);
  for (std::size_t i = 0; i < walk.size(); ++i) {
    walk[i] = at += noise(40) - (std::uint64_t{1} << 39);
    eight[i] = of[i % 8] + noise(40);
  }
  const ByteVector a = as_bytes(walk), b = as_bytes(eight);
  EXPECT_EQ(payload_bytes("auto", DType::u64, a), payload_bytes("d1", DType::u64, a));
  EXPECT_EQ(payload_bytes("auto", DType::u64, b), payload_bytes("d8", DType::u64, b));

  const ByteVector same = values_of(Data::constant, DType::u64, 131072);  // nothing but heads: 4 pieces
  const mpc::KernelSet& kernels = mpc::KernelSet::with<simd::Scalar>();
  const auto bytes_at = [&](unsigned distance) {
    return mpc::sampled(same, {.word_bytes = 8, .prediction = {distance, {}}}, kernels).record_bytes;
  };
  EXPECT_EQ(bytes_at(8), 4 * 64);
  EXPECT_EQ(bytes_at(1), 4 * 8);
}

TEST(Mpc, WhatItDoesNotServeIsRefused) {
  EXPECT_THROW(mpc_codec("d1", "abacus"), Error);
  EXPECT_THROW(mpc_codec("d9"), Error);
  EXPECT_THROW(mpc_codec("d1+"), Error);
  EXPECT_THROW(mpc_codec("d1+63"), Error);
  EXPECT_THROW(mpc_codec("d1+64+65+66"), Error);
  EXPECT_THROW(mpc_codec("lorenzo2"), Error);  // without extents
  EXPECT_THROW(mpc_codec("d1", "", 1e-3), Error);
  EXPECT_THROW(mpc_codec("d1", "", {Bound::Kind::pointwise, 0}), Error);
  EXPECT_THROW(mpc_codec("d1", "", {Bound::Kind::pointwise, INFINITY}), Error);
}

}  // namespace mpc_test
}  // namespace taut::test
