// Tables of widths in planes records: every form comes back by every kernel set, and damage is found.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "compressor/codecs/planes/record/record.hpp"
#include "support/histories.hpp"

namespace taut::planes {
namespace planes_width_tables_test {

using test::header_of;

std::mt19937_64 draw(47);

// Returns widths of which most are one of four, from `least` on, and the rest are at most `most`.
Widths random_widths(std::size_t blocks, unsigned least, unsigned most) {
  Widths widths{};
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto width = draw() % 16 == 0 ? draw() % (most + 1) : least + draw() % 8 * (draw() % 8) / 16;
    widths.of[i] = static_cast<std::uint8_t>(width);
  }
  return widths;
}

WidthSummary summary_of(const Widths& widths) {
  WidthSummary summary;
  for (const std::uint8_t w : widths.of)
    summary = {summary.sum + w, summary.coded + (w != 0), std::max<unsigned>(summary.greatest, w)};
  return summary;
}

std::vector<const WidthKernels*> sets() {
  std::vector<const WidthKernels*> all;
  for (const KernelSet* set : kernel_sets())
    if (set->supported()) all.push_back(&set->widths);
  return all;
}

TEST(WidthTables, ComeBackByEveryKernelSet) {
  int named = 0;
  for (int round = 0; round < 600; ++round) {
    const std::size_t blocks = round % 3 == 0 ? chunk_blocks : 1 + draw() % chunk_blocks;
    const Widths widths = random_widths(blocks, draw() % 4, round % 2 == 0 ? 15 : 32);
    const WidthSummary summary = summary_of(widths);
    for (const std::uint8_t forms : {std::uint8_t{0}, std::uint8_t{two_bits}}) {
      std::vector<std::byte> reference;
      for (const WidthKernels* const kernels : sets()) {
        const WidthTable table = choose_table(widths, summary, blocks, forms, *kernels);
        std::vector<std::byte> written(max_table_bytes);
        kernels->write(written.data(), widths, blocks, table);
        written.resize(table.bytes);
        if (reference.empty()) reference = written;
        ASSERT_TRUE(written == reference) << blocks;
        written.resize(max_table_bytes, std::byte{0xFF});
        Widths back;
        const WidthsRead read = kernels->read(written.data(), blocks, table.flags, back);
        EXPECT_EQ(read.bytes, table.bytes);
        EXPECT_EQ(read.sum, summary.sum);
        EXPECT_EQ(read.greatest, summary.greatest);
        ASSERT_TRUE(std::ranges::equal(back.of, widths.of)) << blocks;
        named += (table.flags & two_bits) != 0;
      }
    }
  }
  EXPECT_GT(named, 300 * static_cast<int>(sets().size()));
}

// Bits of blocks that do not exist, and a fourth name.
TEST(WidthTables, WithBitsThatNameNothingAreRejected) {
  for (const std::size_t blocks : {1u, 2u, 3u, 4u, 509u, 510u, 511u, 512u}) {
    Widths widths{};
    std::fill_n(widths.of, blocks, std::uint8_t{3});
    WidthCounts counts{};
    counts[3] = static_cast<std::uint16_t>(blocks);
    const WidthTable table = choose_names(counts, summary_of(widths), blocks);
    EXPECT_EQ(table.bytes, names_bytes + two_bit_bytes(blocks));
    for (const WidthKernels* const kernels : sets()) {
      std::vector<std::byte> bytes(max_table_bytes);
      kernels->write(bytes.data(), widths, blocks, table);
      Widths back;
      for (std::size_t bit = 0; bit < 8 * table.bytes; ++bit) {
        std::vector<std::byte> damaged = bytes;
        damaged[bit / 8] ^= std::byte{1} << (bit % 8);
        const std::size_t entry = bit - 8 * names_bytes, nibble = entry / 4, half = first_half(blocks);
        const bool beyond = nibble >= half || (entry % 4 >= 2 && nibble + half >= blocks);
        const bool names_nothing = bit < 8 * names_bytes ? bit >= 12 : beyond;
        EXPECT_EQ(kernels->read(damaged.data(), blocks, table.flags, back).bytes == 0, names_nothing)
            << blocks << " " << bit;
      }
    }
  }
}

// A record may have named widths only where the frame refers to something.
TEST(WidthTables, WithNamesBelongToReferences) {
  test::History history(DType::f32, 9000, test::Pattern::noisy, 3);
  const auto codec = find_codec("planes")->make({.bound = 1e-2, .predictor = "none"});
  history.decode_earlier(*codec);
  const auto references = history.references(1);
  test::FrameBytes frame = test::frame_of(*codec, history.now, references);
  const std::size_t states = 8, index = frame_header_bytes + states + 4 * 4;
  ASSERT_EQ(std::to_integer<int>(frame[index]) & (two_bits | dense), two_bits);
  test::FrameBytes alone(frame.begin(), frame.begin() + frame_header_bytes);
  alone.insert(alone.end(), frame.begin() + frame_header_bytes + states, frame.end());
  FrameHeader header = header_of(frame);
  header.parameters[2] = 0;
  seal_frame(header, alone.data(), alone.size() - frame_header_bytes);
  test::Values values(DType::f32, 9000);
  EXPECT_EQ(codec->decode(alone, values.slice()), Status::corrupt_frame);
  frame[index] |= std::byte{dense};
  seal_frame(header_of(frame), frame.data(), frame.size() - frame_header_bytes);
  EXPECT_EQ(codec->decode(frame, references, values.slice()), Status::corrupt_frame);
}

}  // namespace planes_width_tables_test
}  // namespace taut::planes
