// The short form of planes and widths: it holds the same differences, only frames with references have it,
// and no damage passes for it unnoticed or reads beyond the record.
#include "compressor/codecs/planes/record/short_form.hpp"

#include "compressor/codecs/planes/format/block.hpp"
#include "compressor/codecs/planes/record/frame_io.hpp"
#include "support/exact_values.hpp"
#include "support/histories.hpp"

namespace taut::test {
namespace planes_short_form_test {

constexpr double bound = 1e-2;

std::unique_ptr<Codec> planes_with(const char* predictor = "none", const char* kernels = "") {
  return find_codec("planes")->make({.bound = bound, .predictor = predictor, .kernels = kernels});
}

// Differences of blocks, as planes of their widths.
struct Planes {
  std::vector<std::byte> record;
  planes::Widths widths{};
  planes::WidthSummary summary;

  explicit Planes(const std::vector<std::int32_t>& differences) : record(8) {
    for (std::size_t b = 0; 8 * b < differences.size(); ++b) {
      const unsigned width = planes::block_width(&differences[8 * b]);
      for (unsigned plane = width; plane-- > 0;) {
        std::byte bits{};
        for (std::size_t j = 0; j < 8; ++j)
          bits |=
              static_cast<std::byte>((static_cast<std::uint32_t>(differences[8 * b + j]) >> plane & 1) << j);
        record.push_back(bits);
      }
      widths.of[b] = static_cast<std::uint8_t>(width);
      summary.coded += width > 0;
      summary.greatest = std::max(summary.greatest, width);
    }
    summary.sum = record.size() - 8;
    record.resize(record.size() + planes::chunk_blocks + 128);  // for tables, and what kernels overrun
  }
};

std::vector<std::int32_t> differences_of(const std::byte* plane, const planes::Widths& widths,
                                         std::size_t blocks) {
  std::vector<std::int32_t> all;
  for (std::size_t b = 0; b < blocks; plane += widths.of[b++])
    for (std::size_t j = 0; j < 8; ++j) {
      std::int32_t d = 0;
      for (unsigned k = 0; k < widths.of[b]; ++k) {
        const auto bit = static_cast<std::int32_t>(std::to_integer<unsigned>(plane[k]) >> j & 1);
        d = k == 0 ? -bit : 2 * d + bit;
      }
      all.push_back(d);
    }
  return all;
}

// Small numbers of which a part is not 0, and of these a part is as great as `most` allows.
std::vector<std::int32_t> noise(std::size_t blocks, int most, std::mt19937& random) {
  std::vector<std::int32_t> all(8 * blocks);
  const auto rare = 1 + random() % 200;
  for (std::int32_t& d : all) {
    const auto range = static_cast<std::uint32_t>(random() % rare == 0 ? most : 1);
    d = static_cast<std::int32_t>(random() % (2 * range + 1)) - static_cast<std::int32_t>(range);
  }
  return all;
}

TEST(PlanesShortForm, HoldsTheSameDifferences) {
  std::mt19937 random(1);
  std::size_t shortened = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::size_t blocks = 1 + random() % planes::chunk_blocks;
    const auto wanted = noise(blocks, 1 << random() % 28, random);
    Planes made(wanted);
    const planes::RecordHeader header{0, static_cast<std::uint16_t>(made.summary.sum), 0};
    const std::size_t bytes =
        planes::finish_short_planes(made.record.data(), header, made.widths, made.summary, blocks);
    if (bytes == 0) continue;
    ++shortened;
    const std::size_t usual = made.summary.sum + planes::choose_table(made.summary, blocks).bytes;
    ASSERT_LE(bytes, planes::whole_words(8 + usual));
    planes::RecordHeader read = header;
    read.form = std::to_integer<std::uint8_t>(made.record[1]);
    read.plane_bytes = load<std::uint16_t>(&made.record[2]);
    ASSERT_GE(read.form, 1);
    ASSERT_LE(read.form, planes::greatest_form);
    planes::Widths widths;
    alignas(64) std::byte room[planes::padding_bytes];
    const std::vector<std::byte> in(made.record.begin() + 8, made.record.begin() + bytes);
    const auto found = planes::read_short_planes(in, read, blocks, widths, room);
    ASSERT_LE(found.bytes, in.size());
    ASSERT_LT(in.size() - found.bytes, 4u);
    const std::byte* const at = found.expanded ? room : in.data();
    ASSERT_EQ(differences_of(at, widths, blocks), wanted);
    for (std::size_t less = 1; less <= std::min<std::size_t>(8, found.bytes);
         ++less) {  // a record that ends early
      const std::vector<std::byte> part(in.begin(), in.begin() + (found.bytes - less));
      ASSERT_EQ(planes::read_short_planes(part, read, blocks, widths, room).bytes, 0u);
    }
  }
  EXPECT_GT(shortened, 500u);
}

// ---- Frames

// Values a few steps from the reference, some of them special.
Values near(const Values& reference, double step, int most, bool special, std::mt19937& random) {
  Values values = reference;
  constexpr double specials[] = {INFINITY, NAN, 1e30, -0.0, 1e-42};
  for (std::size_t i = 0; i < values.count(); ++i) {
    const int range = random() % 50 == 0 ? most : 1;
    const int d = static_cast<int>(random() % static_cast<unsigned>(2 * range + 1)) - range;
    values.set(i, values.at(i) + d * step);
    if (special && i % 97 == 5) values.set(i, specials[i % 5]);
  }
  return values;
}

bool has_short_form(const FrameBytes& frame, std::size_t states) {
  const std::size_t first = frame_header_bytes + 8 * states,
                    chunks = planes::chunks_of(header_of(frame).count);
  return frame[first + 4 * (chunks + 1) + 1] != std::byte{0};
}

TEST(PlanesShortForm, DecodesToTheSameValuesWithAllKernelSets) {
  std::mt19937 random(2);
  std::size_t found = 0;
  for (const DType type : {DType::f32, DType::f64, DType::bf16})
    for (const std::size_t count : {1u, 7u, 8u, 65u, 1000u, 4096u, 4097u, 9001u})
      for (const int most : {1, 2, 9, 3000})
        for (const bool special : {false, true}) {
          const auto scalar = planes_with("none", "scalar");
          const Values first = make_values(type, count, Pattern::noisy, 3);
          const Values before = values_of(*scalar, frame_of(*scalar, first), first);
          const Values now = near(before, 2 * bound, most, special, random);
          const taut::Reference reference = reference_to(before);
          const References references(&reference, 1);
          const FrameBytes frame = frame_of(*scalar, now, references);
          found += header_of(frame).parameters[2] == 1 && count >= 4096 && has_short_form(frame, 1);
          const Values wanted = values_of(*scalar, frame_of(*scalar, now), now);
          for (const char* kernels : kernel_names()) {
            const auto codec = planes_with("none", kernels);
            ASSERT_TRUE(frame_of(*codec, now, references) == frame) << kernels << count;
            ASSERT_TRUE(values_of(*codec, frame, now, references) == wanted) << kernels << count;
          }
        }
  EXPECT_GT(found, 20u);
}

TEST(PlanesShortForm, OfNoiseSavesAFifth) {
  std::mt19937 random(4);
  const auto codec = planes_with();
  const Values zeros(DType::f32, 40960);
  const Values now = near(zeros, 2 * bound, 1, false, random);
  const taut::Reference reference = reference_to(zeros);
  EXPECT_LT(5 * frame_of(*codec, now, {&reference, 1}).size(), 4 * frame_of(*codec, now).size());
}

TEST(PlanesShortForm, OfDamagedFramesReadsNothingBeyond) {
  std::mt19937 random(5);
  const auto codec = planes_with();
  const Values first = make_values(DType::f32, 520, Pattern::noisy, 3);
  const Values before = values_of(*codec, frame_of(*codec, first), first);
  const taut::Reference reference = reference_to(before);
  const References references(&reference, 1);
  const FrameBytes good = frame_of(*codec, near(before, 2 * bound, 3, false, random), references);
  ASSERT_TRUE(has_short_form(good, 1));
  const std::size_t record = frame_header_bytes + 8 + 8;
  const auto refused = [&](const FrameBytes& bad) {
    Values out = first;
    return codec->decode(bad, references, out.slice()) != Status::ok;
  };
  EXPECT_FALSE(refused(good));
  for (const unsigned form : {15u, 128u, 255u}) {
    FrameBytes bad = good;
    bad[record + 1] = static_cast<std::byte>(form);
    EXPECT_TRUE(refused(bad)) << form;
  }
  for (const unsigned flag : {1u, 4u, 8u}) {
    FrameBytes bad = good;
    bad[record] |= static_cast<std::byte>(flag);
    EXPECT_TRUE(refused(bad)) << flag;
  }
  for (std::size_t bit = 8 * record; bit < 8 * good.size(); ++bit) {
    FrameBytes bad = good;
    bad[bit / 8] ^= std::byte{1} << bit % 8;
    refused(bad);  // or other values, as there is no checksum
  }
}

}  // namespace planes_short_form_test
}  // namespace taut::test
