// Tests of mpc frames with lags: prediction across rows and planes.
#include "support/mpc_frames.hpp"

namespace taut::test {
namespace mpc_lags_test {

constexpr std::uint32_t planes = 12, rows = 40, columns = 150;

// Returns a field that differs from row to row and from plane to plane by little.
ByteVector field() {
  std::mt19937_64 random(5);
  std::vector<float> along(columns), x;
  for (float& value : along) value = static_cast<float>(random() % 100000) / 100;
  for (unsigned p = 0; p < planes; ++p)
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned c = 0; c < columns; ++c)
        x.push_back(along[c] + static_cast<float>(p) / 4 + static_cast<float>(r) / 16);
  return as_bytes(x);
}

std::unique_ptr<Codec> codec_of(const char* predictor, Dims dims = {}, int threads = 1, Bound bound = {}) {
  return find_codec("mpc")->make({.bound = bound, .predictor = predictor, .dims = dims, .threads = threads});
}

FrameHeader header_of(const ByteVector& frame) {
  FrameHeader header;
  EXPECT_EQ(read_header(frame, header), Status::ok);
  return header;
}

TEST(MpcLags, TakeWhatRowsAndPlanesHaveInCommon) {
  const ByteVector values = field(), frame = mpc_frame(*codec_of("d0+150+6000"), DType::f32, values),
                   without = mpc_frame(*codec_of("d1"), DType::f32, values);
  EXPECT_LT(frame.size(), without.size() / 2);
  ByteVector decoded(values.size());
  ASSERT_EQ(mpc_decode(*codec_of("d1"), DType::f32, frame, decoded), Status::ok);
  EXPECT_TRUE(decoded == values);
}

TEST(MpcLags, NamesGiveThemInAscendingOrder) {
  const ByteVector values = field(), frame = mpc_frame(*codec_of("d1+6000+150"), DType::f32, values);
  EXPECT_EQ(load<std::uint32_t>(frame.data() + frame_header_bytes), 150u);
  EXPECT_EQ(load<std::uint32_t>(frame.data() + frame_header_bytes + 4), 6000u);
  EXPECT_EQ(header_of(frame).parameters[1], 2);
  const Dims dims{{planes, rows, columns}, 3};
  EXPECT_TRUE(mpc_frame(*codec_of("lorenzo3", dims), DType::f32, values) == frame);
  EXPECT_TRUE(mpc_frame(*codec_of("lorenzo2", dims), DType::f32, values) ==
              mpc_frame(*codec_of("d1+150"), DType::f32, values));
}

TEST(MpcLags, AutoTakesThemWhereExtentsAreGiven) {
  const ByteVector values = field();
  const ByteVector with = mpc_frame(*codec_of("auto", {{planes, rows, columns}, 3}), DType::f32, values);
  EXPECT_GT(header_of(with).parameters[1], 0);
  EXPECT_LT(with.size(), mpc_frame(*codec_of("auto"), DType::f32, values).size() / 2);
}

TEST(MpcLags, ThatReachNoValueAreLeftOut) {
  const ByteVector values = as_bytes(std::vector<float>(100, 1.0f));
  EXPECT_TRUE(mpc_frame(*codec_of("d1+100"), DType::f32, values) ==
              mpc_frame(*codec_of("d1"), DType::f32, values));
  EXPECT_EQ(header_of(mpc_frame(*codec_of("d1+99+100"), DType::f32, values)).parameters[1], 1);
}

TEST(MpcLags, ThreadsAndReductionsGiveTheSame) {
  const ByteVector values = field(), frame = mpc_frame(*codec_of("d1+150+6000"), DType::f32, values);
  EXPECT_TRUE(mpc_frame(*codec_of("d1+150+6000", {}, 4), DType::f32, values) == frame);
  const std::size_t count = values.size() / 4;
  std::vector<float> sums(count, 1.0f);
  ASSERT_EQ(codec_of("d1")->reduce(frame, {{sums.data(), count, DType::f32}}, Reduction::sum), Status::ok);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(sums[i], 1.0f + load<float>(values.data() + 4 * i)) << i;
}

// A lag of 150 complex values is one of 300 words.
TEST(MpcLags, OfComplexValues) {
  const ByteVector values = field(), frame = mpc_frame(*codec_of("d2+150"), DType::c64, values);
  EXPECT_EQ(load<std::uint32_t>(frame.data() + frame_header_bytes), 300u);
  ByteVector decoded(values.size());
  ASSERT_EQ(mpc_decode(*codec_of("auto"), DType::c64, frame, decoded), Status::ok);
  EXPECT_TRUE(decoded == values);
}

TEST(MpcLags, OfRoundedValues) {
  const ByteVector values = field();
  const Bound bound{Bound::Kind::pointwise, 1e-3};
  const auto lagged = codec_of("d1+150+6000", {}, 1, bound), plain = codec_of("d1", {}, 1, bound);
  ByteVector with(values.size()), without(values.size());
  ASSERT_EQ(mpc_decode(*lagged, DType::f32, mpc_frame(*lagged, DType::f32, values), with), Status::ok);
  ASSERT_EQ(mpc_decode(*plain, DType::f32, mpc_frame(*plain, DType::f32, values), without), Status::ok);
  EXPECT_TRUE(with == without);
}

// Encodes with random lags, distances, types and lengths.
TEST(MpcLags, EveryBitComesBackAndAllKernelSetsWriteTheSameBytes) {
  constexpr DType types[] = {DType::u8, DType::bf16, DType::f32, DType::f64, DType::c128};
  std::mt19937_64 random(17);
  for (int round = 0; round < 400; ++round) {
    const DType type = types[random() % std::size(types)];
    std::string name = "d" + std::to_string(random() % 9);
    for (std::size_t n = random() % 3; n > 0; --n)
      name += "+" + std::to_string(64 + random() % (1u << random() % 13));
    ByteVector values(size_of(type) * (random() % 9000));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::byte>(random() % 40 == 0 ? random() : i / 700 % 3);
    SCOPED_TRACE(testing::Message() << taut::name_of(type) << " " << name << " bytes " << values.size());
    const ByteVector reference = mpc_frame(*mpc_codec(name.c_str(), "scalar"), type, values);
    for (const char* kernels : mpc_kernel_names()) {
      const auto codec = mpc_codec(name.c_str(), kernels);
      ASSERT_TRUE(mpc_frame(*codec, type, values) == reference) << kernels;
      ByteVector decoded(values.size());
      ASSERT_EQ(mpc_decode(*codec, type, reference, decoded), Status::ok) << kernels;
      ASSERT_TRUE(decoded == values) << kernels;
    }
  }
}

class MpcLagsDamage : public testing::Test {
 protected:
  Status decode(const ByteVector& frame) const {
    ByteVector decoded(values.size());
    return mpc_decode(*codec_of("d1"), DType::f32, frame, decoded);
  }
  template <class Change>
  Status with_header(Change change) const {
    ByteVector bad = good;
    FrameHeader header = header_of(bad);
    change(header);
    write_header(header, bad);
    return decode(bad);
  }
  Status with_lag(std::size_t i, std::uint32_t lag) const {
    ByteVector bad = good;
    store(bad.data() + frame_header_bytes + 4 * i, lag);
    return decode(bad);
  }

  const ByteVector values = field(), good = mpc_frame(*codec_of("d1+150+6000"), DType::f32, values);
};

TEST_F(MpcLagsDamage, IsRejected) {
  constexpr std::uint32_t count = planes * rows * columns;
  EXPECT_EQ(decode(good), Status::ok);
  EXPECT_EQ(with_lag(0, 63), Status::corrupt_frame);
  EXPECT_EQ(with_lag(0, 6001), Status::corrupt_frame);
  EXPECT_EQ(with_lag(1, 149), Status::corrupt_frame);
  EXPECT_EQ(with_lag(1, count), Status::corrupt_frame);
  EXPECT_EQ(with_lag(1, count - 1), Status::ok);  // other values, but a possible frame
  EXPECT_EQ(with_header([](FrameHeader& h) { h.parameters[1] = 3; }), Status::corrupt_frame);
  EXPECT_EQ(with_header([](FrameHeader& h) { h.parameters[1] = 1; }), Status::corrupt_frame);
  EXPECT_EQ(with_header([](FrameHeader& h) { h.parameters[1] = 0; }), Status::corrupt_frame);
  EXPECT_EQ(with_header([](FrameHeader& h) { h.payload_bytes = 4; }), Status::corrupt_frame);
}

}  // namespace mpc_lags_test
}  // namespace taut::test
