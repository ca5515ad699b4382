// Sparse records of mpc: chunks whose words are mostly 0.
#include "support/mpc_sparse.hpp"
#include "compressor/codecs/mpc/frame_io.hpp"

namespace taut::test {
namespace mpc_sparse_test {

constexpr const char* predictors[] = {"d0", "d1", "d2", "d3",    "d4",       "d5",
                                      "d6", "d7", "d8", "d0+64", "d2+70+300"};

// Expects the frame of the scalar kernels from all kernel sets, and the values from each. Returns the frame.
ByteVector round_trip(DType type, const ByteVector& values, const char* predictor) {
  const ByteVector frame = mpc_frame(*mpc_codec(predictor, "scalar"), type, values);
  for (const char* kernels : mpc_kernel_names()) {
    const auto codec = mpc_codec(predictor, kernels);
    EXPECT_TRUE(mpc_frame(*codec, type, values) == frame) << kernels;
    ByteVector decoded(values.size());
    EXPECT_EQ(mpc_decode(*codec, type, frame, decoded), Status::ok) << kernels;
    EXPECT_TRUE(decoded == values) << kernels;
  }
  return frame;
}

double ratio(const ByteVector& values, const ByteVector& frame) {
  return static_cast<double>(values.size()) / static_cast<double>(frame.size() - frame_header_bytes);
}

// Differences of 16-bit weights between two steps, and a message of 96 % zeros whose other values are any
// floats. The least ratio allows for a third more bits than the entropy of places and values.
TEST(MpcSparse, RatiosOfSmallStepsAndOfMessagesOfZeros) {
  constexpr std::size_t count = std::size_t{1} << 18;
  const auto normal = [](std::mt19937_64& random) {
    return std::bit_cast<std::uint32_t>(std::normal_distribution<float>()(random));
  };
  for (const char* predictor : {"d0", "d1", "auto"}) {
    SCOPED_TRACE(predictor);
    const ByteVector few = sparse_words<std::uint16_t>(count, 0.014, small_step),
                     many = sparse_words<std::uint16_t>(count, 0.17, small_step),
                     zeros = sparse_words<std::uint32_t>(count, 0.04, normal);
    EXPECT_GT(ratio(few, round_trip(DType::bf16, few, predictor)), 66);
    EXPECT_GT(ratio(many, round_trip(DType::bf16, many, predictor)), 13);
    EXPECT_GT(ratio(zeros, round_trip(DType::f32, zeros, predictor)), 18);
  }
}

template <class Word>
void try_densities(std::size_t count) {
  const auto any = [](std::mt19937_64& random) { return random(); };
  const auto short_or_long = [](std::mt19937_64& random) {
    return random() % 7 == 0 ? random() : random() % 5;
  };
  for (const double density : {0.0005, 0.003, 0.02, 0.1, 0.24, 0.26, 0.5, 0.7, 0.8, 1.0})
    for (const char* predictor : predictors) {
      SCOPED_TRACE(testing::Message() << sizeof(Word) << " bytes, " << density << ", " << predictor);
      const DType type = unsigned_type(sizeof(Word));
      round_trip(type, sparse_words<Word>(count, density, small_step), predictor);
      round_trip(type, sparse_words<Word>(count, density, any), predictor);
      round_trip(type, sparse_words<Word>(count, density, short_or_long), predictor);
    }
}

// The last chunk is incomplete, with incomplete vectors and blocks.
TEST(MpcSparse, EveryWordSizeDensityAndPrediction) {
  try_densities<std::uint8_t>(4 * 4096 + 1003);
  try_densities<std::uint16_t>(4 * 2048 + 517);
  try_densities<std::uint32_t>(4 * 1024 + 301);
  try_densities<std::uint64_t>(4 * 512 + 99);
}

// One word of a chunk is not 0, at any place; and all but one are.
TEST(MpcSparse, OneWordAnywhere) {
  for (const std::size_t place : {0u, 1u, 63u, 64u, 1023u, 1024u, 2047u})
    for (const std::uint16_t word : std::initializer_list<std::uint16_t>{1, 2, 0x7FFF, 0x8000, 0xFFFF}) {
      SCOPED_TRACE(testing::Message() << place << " " << word);
      std::vector<std::uint16_t> one(5 * 2048 + 20), others(one.size(), word);
      for (std::size_t chunk = 0; chunk < 5; ++chunk) {
        one[chunk * 2048 + place] = word;
        others[chunk * 2048 + place] = 0;
      }
      one.back() = word;
      for (const char* predictor : {"d0", "d1", "d8"}) {
        round_trip(DType::u16, as_bytes(one), predictor);
        round_trip(DType::u16, as_bytes(others), predictor);
      }
    }
}

// Periodic words are shorter as differences, and a chunk without zeros is never sparse.
TEST(MpcSparse, TheShorterFormIsChosen) {
  std::vector<float> periodic(8192), wave(8192), mixed(8192);
  for (std::size_t i = 0; i < periodic.size(); ++i) {
    periodic[i] = i % 4 == 0 ? 1.7F : 0;
    wave[i] = static_cast<float>(i) * 1.001F + 1;
    mixed[i] = i / 1024 % 2 == 0 ? wave[i] : i % 40 == 0 ? wave[i] * wave[i] : 0;
  }
  const auto sparse_in = [](const std::vector<float>& values, const char* predictor, std::size_t heads) {
    const ByteVector bytes = as_bytes(values);
    return sparse_records(round_trip(DType::f32, bytes, predictor), bytes.size(), heads);
  };
  EXPECT_EQ(sparse_in(periodic, "d4", 16), 0u);
  EXPECT_EQ(sparse_in(periodic, "d0", 0), 0u);
  EXPECT_EQ(sparse_in(wave, "d1", 4), 0u);
  EXPECT_EQ(sparse_in(mixed, "d1", 4), 4u);
}

// Messages below the limit keep the bytes of earlier versions.
TEST(MpcSparse, ShortMessagesHaveNoSparseRecords) {
  const std::size_t least = mpc::min_sparse_bytes / 4;
  for (const std::size_t count : {least - 1, least}) {
    const ByteVector values = sparse_words<std::uint32_t>(count, 0.03, small_step);
    const ByteVector frame = round_trip(DType::u32, values, "d0");
    EXPECT_EQ(sparse_records(frame, values.size(), 0), count < least ? 0u : 4u);
  }
}

// Complex values, values that are rounded first, several threads, and sums.
TEST(MpcSparse, OtherWaysToEncodeAndDecode) {
  const ByteVector values = sparse_words<std::uint32_t>(1 << 16, 0.03, [](std::mt19937_64& random) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(random() % 1000));
  });
  round_trip(DType::c64, values, "auto");
  const auto codec = find_codec("mpc")->make({.predictor = "d0", .threads = 3});
  EXPECT_TRUE(mpc_frame(*codec, DType::f32, values) == mpc_frame(*mpc_codec("d0"), DType::f32, values));
  const auto rounded = mpc_codec("d1", "", {Bound::Kind::pointwise, 0.1});
  const ByteVector frame = mpc_frame(*rounded, DType::f32, values);
  EXPECT_GT(sparse_records(frame, values.size(), 4), 60u);
  std::vector<float> sums(values.size() / 4, 1), decoded(sums.size());
  ASSERT_EQ(rounded->decode(frame, {{decoded.data(), decoded.size(), DType::f32}}), Status::ok);
  ASSERT_EQ(rounded->reduce(frame, {{sums.data(), sums.size(), DType::f32}}, Reduction::sum), Status::ok);
  for (std::size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], decoded[i] + 1);
}

// A sample of a sparse message estimates its sparse records.
TEST(MpcSparse, SamplesEstimateThem) {
  const ByteVector values = sparse_words<std::uint16_t>(1 << 19, 0.014, small_step);
  for (const char* predictor : {"d0", "d2", "auto"}) {
    const auto codec = mpc_codec(predictor);
    const Sample sample = codec->sample({{values.data(), values.size() / 2, DType::bf16}}, {});
    ASSERT_EQ(sample.status, Status::ok);
    const double estimate = sample.ratio();
    EXPECT_GT(estimate, 0.6 * ratio(values, mpc_frame(*codec, DType::bf16, values))) << predictor;
  }
}

// A frame of eight chunks, whose first record is sparse and has two levels.
class MpcSparseDamage : public testing::Test {
 protected:
  static constexpr std::size_t record_at = frame_header_bytes + 4 * 9;

  Status decode(const ByteVector& frame, const char* kernels = "scalar") {
    return mpc_decode(*mpc_codec("d0", kernels), DType::u16, frame, decoded_);
  }
  // Returns the frame with bits of a byte of the first record exclusive-or `bits`.
  ByteVector changed(std::size_t at, unsigned bits) const {
    ByteVector bad = good_;
    bad[record_at + at] ^= std::byte(bits);
    return bad;
  }

  const ByteVector values_ = sparse_words<std::uint16_t>(8 * 2048, 0.014, small_step);
  const ByteVector good_ = mpc_frame(*mpc_codec("d0"), DType::u16, values_);
  const std::size_t size_ = mpc_record(good_, 8, 0).size();
  const mpc::Level first_{2048, load<std::uint16_t>(good_.data() + record_at) % 0x8000 + 1u, 1};
  ByteVector decoded_ = ByteVector(values_.size());
};

TEST_F(MpcSparseDamage, HeadsAndPlacesOfLevels) {
  ASSERT_EQ(sparse_records(good_, values_.size(), 0), 8u);
  ASSERT_EQ(decode(good_), Status::ok);
  ASSERT_NE(load<std::uint16_t>(good_.data() + record_at) & mpc::more_levels, 0);
  ASSERT_EQ(good_[record_at + 2], std::byte{1});
  const std::size_t second = first_.bytes(), lower = 3 + first_.upper_bytes();
  for (const auto& [at, bits] : {std::pair<std::size_t, unsigned>{0, 1},  // one number more, or less
                                 {1, 0x08},                               // more numbers than words
                                 {1, 0x80},                               // no second level
                                 {2, 0x11},                               // 16 bits, and another level
                                 {second + 2, 0x40},                      // more bits than a word has
                                 {second + 1, 0x80},                      // a third level
                                 {3, 0xFF},                               // other places, and another number
                                 {lower - 1, 0x80},                       // a bit after the bitmap
                                 {size_ - 9, 1},                          // padding, or the last level
                                 {size_ - 1, 1}})                         // no sparse record
    EXPECT_EQ(decode(changed(at, bits)), Status::corrupt_frame) << at << " " << bits;
}

// Every kernel set rejects the same records, and decodes the others to the same words. In a sanitizer's build
// this finds accesses outside of buffers.
TEST_F(MpcSparseDamage, EveryBit) {
  std::size_t rejected = 0;
  for (std::size_t bit = 0; bit < 8 * size_; ++bit) {
    const ByteVector bad = changed(bit / 8, 1u << bit % 8);
    const Status status = decode(bad);
    rejected += status != Status::ok;
    const ByteVector reference = decoded_;
    for (const char* kernels : mpc_kernel_names()) {
      ASSERT_EQ(decode(bad, kernels), status) << bit << " " << kernels;
      ASSERT_TRUE(status != Status::ok || decoded_ == reference) << bit << " " << kernels;
    }
  }
  EXPECT_GT(rejected, 8 * size_ / 4);
}

}  // namespace mpc_sparse_test
}  // namespace taut::test
