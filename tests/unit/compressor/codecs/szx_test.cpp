// Tests of the szx codec: kernel sets, its own kinds of blocks, the index, damage. szx_bound_test.cpp tests
// the bound.
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

#include "compressor/codecs/szx/chunk.hpp"
#include "compressor/codecs/szx/frame.hpp"
#include "support/frames.hpp"

namespace taut::test {
namespace szx_test {

using szx::block_values;
using szx::chunk_values;

std::unique_ptr<Codec> make(double bound, const char* kernels = "") {
  return find_codec("szx")->make({.bound = bound, .kernels = kernels});
}

std::vector<const char*> kernel_names() {
  std::vector<const char*> names;
  for (const szx::KernelSet* set : szx::kernel_sets())
    if (set->supported()) names.push_back(set->name);
  return names;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

std::mt19937_64 random_bits(11);
double uniform() { return std::uniform_real_distribution<double>(-1, 1)(random_bits); }

// Returns every kind of block: all widths, constants, fill values, NaN, values beyond all integers,
// denormals.
template <class T>
std::vector<T> mixture(std::size_t count, double bound) {
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t block = i / block_values, kind = block % 61;
    const double base = 100 * bound * static_cast<double>(block % 7);
    const double width = std::ldexp(bound, static_cast<int>(kind) - 6);
    double v = base + width * uniform();
    if (kind == 50) v = i % 3 == 0 ? 1e30 : v;
    if (kind == 51) v = i % 5 == 0 ? std::nan("") : base + bound * uniform();
    if (kind == 52) v = i % 2 == 0 ? INFINITY : i % 3 == 0 ? -INFINITY : v;
    if (kind == 53) v = 1e30;
    if (kind == 54) v = 1e-310 * uniform();
    if (kind == 55) v = -0.0;
    if (kind == 56) v = i % 2 == 0 ? -1e35 : 0;
    x[i] = static_cast<T>(v);
  }
  return x;
}

template <class T>
class Szx : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Szx, Types);

TYPED_TEST(Szx, AllSetsWriteTheSameBytesAndReadTheSameValues) {
  for (const double bound : {1e-3, 0.37, 1e-30, 1e10}) {
    for (const std::size_t count : {1u, 63u, 64u, 65u, 1000u, 5119u, 5120u, 5121u, 12000u}) {
      const std::vector<TypeParam> x = mixture<TypeParam>(count, bound),
                                   before = mixture<TypeParam>(count, bound);
      const Frame expected = encoded(*make(bound, "scalar"), x);
      const std::vector<TypeParam> values = decoded<TypeParam>(*make(bound, "scalar"), expected, count);
      for (const char* name : kernel_names()) {
        SCOPED_TRACE(testing::Message() << name << " bound " << bound << " count " << count);
        const auto codec = make(bound, name);
        ASSERT_TRUE(encoded(*codec, x) == expected);
        ASSERT_TRUE(same_bits(decoded<TypeParam>(*codec, expected, count), values));
        std::vector<TypeParam> sum = before, wanted = before;
        for (std::size_t i = 0; i < count; ++i) wanted[i] = before[i] + values[i];
        ASSERT_EQ(codec->reduce(expected, slice(sum), Reduction::sum), Status::ok);
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_TRUE(sum[i] == wanted[i] || std::isnan(wanted[i])) << i;
      }
    }
  }
}

TYPED_TEST(Szx, NothingHasToBeAligned) {
  const double bound = 1e-3;
  const std::size_t count = 6000;
  std::vector<TypeParam> x = mixture<TypeParam>(count + 16, bound);
  for (const char* name : kernel_names()) {
    const auto codec = make(bound, name);
    for (std::size_t shift = 0; shift < 16; ++shift) {
      const ConstSlice values{{x.data() + shift, count, dtype_of<TypeParam>}};
      const std::size_t most = codec->max_bytes(values.type, count);
      Frame room(most + 64), expected(most);
      const SizeOrStatus size = codec->encode(values, Bytes(room).subspan(shift, most));
      ASSERT_EQ(make(bound, "scalar")->encode(values, expected).bytes, size.bytes);
      const ConstBytes frame = ConstBytes(room).subspan(shift, size.bytes);
      ASSERT_EQ(std::memcmp(frame.data(), expected.data(), size.bytes), 0);
      std::vector<TypeParam> y(count + 16), z(count + 16);
      ASSERT_EQ(codec->decode(frame, {{y.data() + shift, count, dtype_of<TypeParam>}}), Status::ok);
      ASSERT_EQ(codec->reduce(frame, {{z.data() + shift, count, dtype_of<TypeParam>}}, Reduction::max),
                Status::ok);
      for (std::size_t i = 0; i < 16; ++i) ASSERT_EQ(y[i < shift ? i : count + i], 0);
    }
  }
}

TYPED_TEST(Szx, TheCallersRoundingModeChangesNothing) {
  const std::vector<TypeParam> x = mixture<TypeParam>(9000, 1e-3);
  const Frame expected = encoded(*make(1e-3), x);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    for (const char* name : kernel_names()) {
      std::fesetround(mode);
      const Frame frame = encoded(*make(1e-3, name), x);
      std::fesetround(FE_TONEAREST);
      ASSERT_TRUE(frame == expected) << name;
    }
  }
}

TYPED_TEST(Szx, BlocksWithinTheBoundOfOneMultipleAreConstant) {
  const double bound = 1;
  const auto codec = make(bound);
  FrameHeader header;
  std::vector<TypeParam> x(chunk_values);
  ASSERT_EQ(read_header(encoded(*codec, x), header), Status::ok);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<TypeParam>(7 * header.step + (i % 2 == 0 ? -0.999 : 0.999) * bound);
  const Frame frame = encoded(*codec, x);
  EXPECT_EQ(frame.size(), frame_header_bytes + 4 + szx::head_bytes<TypeParam>);
  for (const TypeParam y : decoded<TypeParam>(*codec, frame, x.size()))
    ASSERT_EQ(static_cast<double>(y), 7 * header.step);
}

TYPED_TEST(Szx, ZerosTakeAnIndexEntryOnly) {
  EXPECT_EQ(encoded(*make(1e-3), std::vector<TypeParam>(3 * chunk_values)).size(), frame_header_bytes + 12);
}

// Tests land in an ocean: one fill value at many positions.
TYPED_TEST(Szx, FillValuesTakeABitEachAndComeBackBitForBit) {
  using Bits = BitsOf<TypeParam>;
  const auto odd_nan = std::bit_cast<TypeParam>(
      static_cast<Bits>(sizeof(TypeParam) == 8 ? 0x7FF8'0000'1234'5678 : 0x7FC1'2345));
  const auto infinity = std::numeric_limits<TypeParam>::infinity();
  const std::size_t count = 4 * chunk_values;
  const auto codec = make(1e-3);
  for (const TypeParam fill : {TypeParam(1e20), odd_nan, -infinity}) {
    std::vector<TypeParam> x(count), sea(count);
    for (std::size_t i = 0; i < count; ++i) {
      sea[i] = static_cast<TypeParam>(0.1 * uniform());
      x[i] = i / 29 % 3 == 1 ? fill : sea[i];
    }
    const Frame frame = encoded(*codec, x);
    EXPECT_LE(frame.size(), encoded(*codec, sea).size() + count / block_values * szx::hole_bytes<TypeParam>);
    const std::vector<TypeParam> y = decoded<TypeParam>(*codec, frame, count);
    for (std::size_t i = 0; i < count; ++i) {
      if (i / 29 % 3 == 1) {
        ASSERT_EQ(std::bit_cast<Bits>(y[i]), std::bit_cast<Bits>(fill));
      } else {
        ASSERT_LE(std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])), 1e-3);
      }
    }
  }
}

TYPED_TEST(Szx, WhatDoesNotShrinkIsStored) {
  std::vector<TypeParam> x(3 * chunk_values + 100);
  for (TypeParam& v : x) v = static_cast<TypeParam>(1e25 * (2 + uniform()));
  for (const std::size_t count : {x.size(), std::size_t{64}, std::size_t{1}}) {
    x.resize(count);
    const Frame frame = encoded(*make(1e-6), x);
    EXPECT_EQ(frame.size(), frame_header_bytes + count * sizeof(TypeParam));
    EXPECT_TRUE(same_bits(decoded<TypeParam>(*make(1e-6), frame, count), x));
  }
}

TYPED_TEST(Szx, BoundsTooSmallForAStepAreServedExactly) {
  const double bound = sizeof(TypeParam) == 8 ? 1e-310 : 1e-40;
  const std::vector<TypeParam> x(chunk_values, TypeParam(1.1));
  EXPECT_TRUE(same_bits(decoded<TypeParam>(*make(bound), encoded(*make(bound), x), x.size()), x));
}

TYPED_TEST(Szx, OneRawChunkAmongOthers) {
  std::vector<TypeParam> x(3 * chunk_values);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = i / chunk_values == 1 ? static_cast<TypeParam>(std::pow(10, 30 * uniform())) : TypeParam(i % 100);
  const Frame frame = encoded(*make(0.1), x);
  const std::vector<TypeParam> y = decoded<TypeParam>(*make(0.1), frame, x.size());
  EXPECT_LE(frame.size(), x.size() * sizeof(TypeParam) * 2 / 3);
  EXPECT_EQ(std::memcmp(x.data() + chunk_values, y.data() + chunk_values, chunk_values * sizeof(TypeParam)),
            0);
}

// ---- The index

TYPED_TEST(Szx, AnyChunkDecodesByItself) {
  const std::size_t count = 4 * chunk_values + 77;
  const std::vector<TypeParam> x = mixture<TypeParam>(count, 1e-3);
  const Frame frame = encoded(*make(1e-3), x);
  const std::vector<TypeParam> all = decoded<TypeParam>(*make(1e-3), frame, count);
  szx::FrameReader<TypeParam> reader;
  ASSERT_EQ(reader.open(frame), Status::ok);
  ASSERT_EQ(reader.chunks(), 5u);
  for (std::size_t i = reader.chunks(); i-- > 0;) {
    const std::size_t n = reader.chunk_count(i);
    std::vector<TypeParam> part(n);
    const Frame alone(reader.record(i).begin(), reader.record(i).end());  // a record decodes alone
    ASSERT_TRUE(szx::decode_chunk(
        alone, n, reader.grid(), choose_kernels(szx::kernel_sets(), "")->for_type<TypeParam>(), part.data()));
    ASSERT_EQ(std::memcmp(part.data(), all.data() + i * chunk_values, n * sizeof(TypeParam)), 0) << i;
  }
}

// ---- Damage

class DamagedSzx : public testing::Test {
 protected:
  DamagedSzx() {
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(std::sin(0.01 * static_cast<double>(i)));
    frame = encoded(*codec, x);
  }
  Status decode_with(std::size_t at, int byte) {
    const std::byte before = std::exchange(frame[frame_header_bytes + at], std::byte(byte));
    const Status status = codec->decode(frame, slice(x));
    frame[frame_header_bytes + at] = before;
    return status;
  }
  Status decode_with_step(double step) {
    FrameHeader header;
    read_header(frame, header);
    header.step = step;
    Frame other = frame;
    write_header(header, other);
    return codec->decode(other, slice(x));
  }

  std::unique_ptr<Codec> codec = make(1e-3);
  std::vector<float> x = std::vector<float>(2 * chunk_values);
  Frame frame;
  static constexpr std::size_t first_record = 8, first_code = first_record + szx::head_bytes<float>;
};

TEST_F(DamagedSzx, IndexThatRunsBackOrOut) {
  EXPECT_EQ(decode_with(1, 0xFF), Status::corrupt_frame);
  EXPECT_EQ(decode_with(4, 0xFF), Status::corrupt_frame);
  EXPECT_EQ(decode_with(7, 0xFF), Status::corrupt_frame);
}

TEST_F(DamagedSzx, RecordHeads) {
  ASSERT_EQ(frame[frame_header_bytes + first_record], std::byte{2});
  for (const int form : {0, 1, 3, 255})
    EXPECT_EQ(decode_with(first_record, form), Status::corrupt_frame) << form;
  for (const int bytes : {0, 3, 5, 255})
    EXPECT_EQ(decode_with(first_record + 1, bytes), Status::corrupt_frame) << bytes;
  EXPECT_EQ(decode_with(first_record + 2, 1), Status::corrupt_frame);
  EXPECT_EQ(decode_with(first_record + 3, 1), Status::corrupt_frame);
}

TEST_F(DamagedSzx, CodesThatAreNoneOrAskForOtherBytes) {
  const int code = std::to_integer<int>(frame[frame_header_bytes + first_code]);
  for (int other = 0; other < 256; ++other)
    EXPECT_EQ(decode_with(first_code, other) == Status::ok, other == code) << other;
}

// Decodes handmade records, consistent in their sizes, of one block of float32.
bool decodes(std::uint8_t form, std::uint8_t distance_bytes, std::int32_t base, std::size_t rest,
             std::uint8_t code = 0) {
  Frame record(4 + rest);
  record[0] = std::byte(form);
  record[1] = std::byte(distance_bytes);
  if (rest >= 4) std::memcpy(record.data() + 4, &base, 4);
  if (rest >= 5) record[8] = std::byte(code);
  float values[block_values];
  std::size_t sets = 0, agree = 0;
  for (const szx::KernelSet* set : szx::kernel_sets()) {
    if (!set->supported()) continue;
    ++sets;
    agree +=
        szx::decode_chunk(record, block_values, szx::Grid<float>::make(1), set->for_type<float>(), values);
  }
  EXPECT_TRUE(agree == 0 || agree == sets);
  return agree != 0;
}

TEST_F(DamagedSzx, RecordsOfTheRightSize) {
  const std::int32_t least = -(1 << 19), most = (1 << 19) - 1;
  EXPECT_TRUE(decodes(0, 0, 0, 256));
  EXPECT_FALSE(decodes(0, 1, 0, 256));
  EXPECT_FALSE(decodes(1, 1, 0, 4));
  for (const std::int32_t base : {least, 0, most}) {
    EXPECT_TRUE(decodes(1, 0, base, 4)) << base;
    EXPECT_TRUE(decodes(2, 0, base, 8)) << base;
  }
  for (const std::int32_t base : {least - 1, most + 1, 1 << 30, std::numeric_limits<std::int32_t>::min()}) {
    EXPECT_FALSE(decodes(1, 0, base, 4)) << base;
    EXPECT_FALSE(decodes(2, 0, base, 8)) << base;
  }
  EXPECT_TRUE(decodes(2, 4, most, 12));
  EXPECT_FALSE(decodes(2, 5, most, 12));
  EXPECT_TRUE(decodes(2, 0, 0, 8 + 8 * 20, 20));
  EXPECT_FALSE(decodes(2, 0, 0, 8 + 8 * 21, 21));
  EXPECT_TRUE(decodes(2, 0, 0, 8 + 12 + 8 * 20, 128 + 20));
  EXPECT_FALSE(decodes(2, 0, 0, 8 + 12 + 8 * 21, 128 + 21));
}

// The distance moves a low out of its range, though the base is within it.
TEST_F(DamagedSzx, LowsBeyondTheIntegers) {
  Frame record(12);
  const std::int32_t base = 1 << 18;
  record[0] = std::byte{2};
  record[1] = std::byte{3};
  std::memcpy(record.data() + 4, &base, 4);
  for (const int top : {3, 4}) {
    record[11] = std::byte(top);  // 2^18 + top * 2^16
    float values[block_values];
    for (const szx::KernelSet* set : szx::kernel_sets())
      if (set->supported()) {
        EXPECT_EQ(szx::decode_chunk(record, block_values, szx::Grid<float>::make(1), set->for_type<float>(),
                                    values),
                  top == 3);
      }
  }
}

TEST_F(DamagedSzx, HeadersThatNoEncoderWrites) {
  FrameHeader header;
  read_header(frame, header);
  Frame other = frame;
  header.addends = 2;
  write_header(header, other);
  EXPECT_EQ(codec->decode(other, slice(x)), Status::corrupt_frame);
  header.addends = 1;
  header.parameters[2] = 1;
  write_header(header, other);
  EXPECT_EQ(codec->decode(other, slice(x)), Status::corrupt_frame);
}

TEST_F(DamagedSzx, StepsThatNoEncoderWrites) {
  EXPECT_EQ(decode_with_step(0x1.Ep-10), Status::ok);
  for (const double step : {0.0, 1e-3, 0x1.1p-10, 0x1p-140, 0x1p101})
    EXPECT_EQ(decode_with_step(step), Status::corrupt_frame) << step;
}

TEST_F(DamagedSzx, NoByteDoesHarm) {
  for (const char* name : kernel_names()) {
    const auto other = make(1e-3, name);
    for (std::size_t at = frame_header_bytes; at < frame.size(); at += at < 600 ? 1 : 7) {
      for (const int byte : {0, 1, 0x80, 0xFD, 0xFF}) {
        const Frame bad = [&] {
          Frame copy = frame;
          copy[at] = std::byte(byte);
          return copy;
        }();
        other->decode(bad, slice(x));
        other->reduce(bad, slice(x), Reduction::sum);
      }
    }
  }
}

TEST(SzxOptions, AreRefusedWhereTheyCannotBeServed) {
  for (const Bound bound : {Bound{}, Bound{-1.0}, Bound{INFINITY}, Bound{Bound::Kind::rate, 8}})
    EXPECT_THROW(find_codec("szx")->make({.bound = bound}), Error);
  EXPECT_THROW(make(1, "none"), Error);
}

}  // namespace szx_test
}  // namespace taut::test
