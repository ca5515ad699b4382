// Tables of widths in planes records: every form comes back by every kernel set, and damage is found.
#include <gtest/gtest.h>

#include <map>
#include <optional>
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
    widths.width[i] = static_cast<std::uint8_t>(width);
  }
  return widths;
}

// Returns widths of which few, of blocks in rows of four, are not 0.
Widths few_widths(std::size_t blocks, unsigned most) {
  Widths widths{};
  const std::size_t distance = 4 + draw() % 40;
  bool in_row = false;
  for (std::size_t i = 0; i < blocks; ++i) {
    if (i % 4 == 0) in_row = draw() % distance == 0;
    if (in_row || i == blocks - 1) widths.width[i] = static_cast<std::uint8_t>(1 + draw() % most);
  }
  return widths;
}

WidthSummary summary_of(const Widths& widths) {
  WidthSummary summary;
  for (const std::uint8_t w : widths.width)
    summary = {summary.sum + w, summary.coded + (w != 0), std::max<unsigned>(summary.max_width, w)};
  return summary;
}

std::vector<const WidthKernels*> sets() {
  std::vector<const WidthKernels*> all;
  for (const KernelSet* set : kernel_sets())
    if (set->supported()) all.push_back(&set->widths);
  return all;
}

TEST(WidthTables, ComeBackByEveryKernelSet) {
  int named = 0, sparse = 0;
  for (int round = 0; round < 600; ++round) {
    const std::size_t blocks = round % 3 == 0 ? chunk_blocks : 1 + draw() % chunk_blocks;
    const unsigned most = round % 2 == 0 ? 15 : 32;
    const Widths widths = round % 8 < 2 ? few_widths(blocks, most) : random_widths(blocks, draw() % 4, most);
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
        EXPECT_EQ(read.max_width, summary.max_width);
        ASSERT_TRUE(std::ranges::equal(back.width, widths.width)) << blocks;
        named += table_form(table.flags) == TableForm::names;
        sparse += table_form(table.flags) == TableForm::sparse_bitmap;
      }
    }
  }
  EXPECT_GT(named, 300 * static_cast<int>(sets().size()));
  EXPECT_GT(sparse, 100 * static_cast<int>(sets().size()));
}

// Sizes of the tables of all forms, in the order in which equal ones are preferred.
std::vector<std::pair<TableForm, std::size_t>> sizes_of_forms(const Widths& widths, std::size_t blocks) {
  std::vector<std::size_t> counts(256);
  std::size_t coded = 0, bytes = 0, most = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    ++counts[widths.width[i]];
    coded += widths.width[i] != 0;
    most = std::max<std::size_t>(most, widths.width[i]);
  }
  for (std::size_t i = 0; i < blocks; i += 8)
    bytes +=
        std::any_of(widths.width + i, widths.width + std::min(blocks, i + 8), [](auto w) { return w != 0; });
  std::sort(counts.begin(), counts.begin() + 16, std::greater<>());
  const std::size_t others = blocks - counts[0] - counts[1] - counts[2], map = (blocks + 7) / 8;
  const auto entries = [&](std::size_t n) { return most > 15 ? n : (n + 1) / 2; };
  return {{TableForm::all_blocks, entries(blocks)},
          {TableForm::bitmap, map + entries(coded)},
          {TableForm::names, 2 + ((blocks + 1) / 2 + 1) / 2 + entries(others)},
          {TableForm::sparse_bitmap, (map + 7) / 8 + bytes + entries(coded)}};
}

TEST(WidthTables, TakeTheShortestForm) {
  std::map<TableForm, int> chosen, equal;
  for (int round = 0; round < 20000; ++round) {
    const std::size_t blocks =
        round % 3 == 0 ? chunk_blocks : 1 + draw() % (round % 3 == 1 ? 24 : chunk_blocks);
    const unsigned most = round % 2 == 0 ? 15 : 32;
    const Widths widths = round % 4 < 2 ? few_widths(blocks, most) : random_widths(blocks, draw() % 2, most);
    const WidthSummary summary = summary_of(widths);
    if (summary.sum == 0 || summary.sum > max_average_of_named_widths * blocks) continue;
    const auto sizes = sizes_of_forms(widths, blocks);
    const auto best = std::ranges::min_element(sizes, {}, &std::pair<TableForm, std::size_t>::second);
    const WidthTable table = choose_table(widths, summary, blocks, two_bits, *sets().front());
    ASSERT_EQ(table.bytes, best->second) << blocks;
    ASSERT_EQ(table_form(table.flags), best->first) << blocks;
    ++chosen[best->first];
    for (auto other = best + 1; other != sizes.end(); ++other)
      equal[other->first] += other->second == best->second;
  }
  for (const TableForm form : {TableForm::names, TableForm::sparse_bitmap}) {
    EXPECT_GT(chosen[form], 500);
    EXPECT_GT(equal[form], 20);
  }
  EXPECT_GT(chosen[TableForm::all_blocks], 100);
  EXPECT_GT(chosen[TableForm::bitmap], 100);
}

// Reads a table with a sparse bitmap, bit by bit. Returns nothing if it has to be rejected.
std::optional<Widths> slowly_read(const std::vector<std::byte>& table, std::size_t blocks, bool by_bytes) {
  const auto byte = [&](std::size_t i) { return std::to_integer<unsigned>(table[i]); };
  const std::size_t map = (blocks + 7) / 8, marks = (map + 7) / 8;
  std::vector<std::size_t> coded;
  std::size_t at = marks;
  for (std::size_t b = 0; b < 8 * marks; ++b) {
    if ((byte(b / 8) >> b % 8 & 1) == 0) continue;
    if (b >= map || byte(at) == 0) return {};
    for (std::size_t i = 0; i < 8; ++i)
      if ((byte(at) >> i & 1) != 0) coded.push_back(8 * b + i);
    ++at;
  }
  if (!coded.empty() && coded.back() >= blocks) return {};
  Widths widths{};
  for (std::size_t e = 0; e < coded.size(); ++e)
    widths.width[coded[e]] =
        static_cast<std::uint8_t>(by_bytes ? byte(at + e) : byte(at + e / 2) >> (4 * (e % 2)) & 15);
  return widths;
}

// Marks of bytes beyond the bitmap, bytes of 0, bits of blocks that do not exist.
TEST(WidthTables, WithSparseBitmapsThatAreNotTheirOwnAreRejected) {
  int rejected = 0, kept = 0;
  for (const std::size_t blocks :
       {1u, 2u, 7u, 8u, 9u, 63u, 64u, 65u, 71u, 128u, 301u, 504u, 505u, 511u, 512u}) {
    for (const unsigned most : {15u, 32u}) {
      const Widths widths = few_widths(blocks, most);
      WidthSummary summary = summary_of(widths);
      summary.max_width = most;
      const auto bytes = sizes_of_forms(widths, blocks).back().second;
      WidthTable table = sparse_table(summary, blocks, 0);
      table.bytes = max_table_bytes;
      for (const WidthKernels* const kernels : sets()) {
        std::vector<std::byte> whole(max_table_bytes);
        kernels->write(whole.data(), widths, blocks, table);
        const auto expect = [&](const std::vector<std::byte>& damaged) {
          const auto expected = slowly_read(damaged, blocks, most > 15);
          Widths back;
          const WidthsRead read = kernels->read(damaged.data(), blocks, table.flags, back);
          ASSERT_EQ(read.bytes != 0, expected.has_value()) << blocks;
          ASSERT_TRUE(!expected || std::ranges::equal(back.width, expected->width)) << blocks;
          ++(expected ? kept : rejected);
        };
        expect(whole);
        for (std::size_t bit = 0; bit < 8 * std::min(bytes + 2, whole.size()); ++bit) {
          std::vector<std::byte> damaged = whole;
          damaged[bit / 8] ^= std::byte{1} << (bit % 8);
          expect(damaged);
          damaged[bit / 8] = std::byte{0};
          expect(damaged);
        }
        expect(std::vector<std::byte>(max_table_bytes, std::byte{0xFF}));
        expect(std::vector<std::byte>(max_table_bytes));
      }
    }
  }
  EXPECT_GT(rejected, 1000);
  EXPECT_GT(kept, 1000);
}

// Bits of blocks that do not exist, and a fourth name.
TEST(WidthTables, WithBitsThatNameNothingAreRejected) {
  for (const std::size_t blocks : {1u, 2u, 3u, 4u, 509u, 510u, 511u, 512u}) {
    Widths widths{};
    std::fill_n(widths.width, blocks, std::uint8_t{3});
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

// Record of a chunk whose table may name widths or have a sparse bitmap, without values: the widths, and
// zeros for planes.
struct NamedRecord {
  std::vector<std::byte> bytes;
  std::size_t table;  // position of the table
  std::size_t blocks;

  NamedRecord(const Widths& widths, std::size_t chunk, const WidthKernels& kernels, std::uint8_t flags = 0)
      : blocks(chunk) {
    const WidthSummary summary = summary_of(widths);
    const RecordHeader header{static_cast<std::uint8_t>(two_bits | flags),
                              static_cast<std::uint16_t>(summary.sum)};
    bytes.resize(max_plane_record<std::int64_t>);
    table = header.bytes() + summary.sum;
    bytes.resize(finish_planes(bytes.data(), header, widths, summary, blocks, kernels));
  }

  std::size_t others() const { return table + names_bytes + two_bit_bytes(blocks); }  // their position
  std::uint8_t flags() const { return std::to_integer<std::uint8_t>(bytes[0]); }

  // Reads the record from memory of exactly its size. Returns its widths; nothing if it is rejected.
  static std::optional<Widths> read(const std::vector<std::byte>& bytes, std::size_t blocks,
                                    const WidthKernels& kernels) {
    const std::vector<std::byte> exact(bytes);
    Record<float> record;
    if (!read_record(exact, exact.data() + exact.size(), block_values * blocks, kernels, record)) return {};
    return record.widths;
  }
};

// Widths of which most are 3, 4 or 5, and every `distance`-th one is another, the greatest of them `most`.
Widths with_others(std::size_t blocks, std::size_t distance, unsigned most) {
  Widths widths{};
  for (std::size_t i = 0; i < blocks; ++i) {
    const bool other = i % distance == distance / 2;
    const auto width = other ? (i == distance / 2 ? most : 6 + i % (most - 5)) : 3 + i % 7 / 3;
    widths.width[i] = static_cast<std::uint8_t>(width);
  }
  return widths;
}

constexpr std::size_t chunks_with_others[] = {64, 65, 301, 511, 512};

// Expects that a record is read as a whole, and rejected wherever its table is cut.
void expect_only_whole(const NamedRecord& record, const Widths& widths, std::size_t blocks,
                       const WidthKernels& kernels) {
  const auto whole = NamedRecord::read(record.bytes, blocks, kernels);
  ASSERT_TRUE(whole && std::ranges::equal(whole->width, widths.width)) << blocks;
  for (std::size_t n = record.table; n < record.bytes.size(); ++n) {
    const std::vector<std::byte> cut(record.bytes.begin(),
                                     record.bytes.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_FALSE(NamedRecord::read(cut, blocks, kernels)) << blocks << " " << n;
  }
}

TEST(WidthTables, WithTruncatedSparseBitmapsAreRejected) {
  for (const std::size_t blocks : {65u, 301u, 511u, 512u})
    for (const unsigned most : {15u, 32u})
      for (const WidthKernels* const kernels : sets()) {
        Widths widths{};
        for (std::size_t i = 0; i < blocks; i += 70)
          widths.width[i] = static_cast<std::uint8_t>(most - i % 3);
        const NamedRecord record(widths, blocks, *kernels);
        ASSERT_EQ(record.flags(), has_planes | two_bits | dense | (most > 15 ? byte_widths : 0)) << blocks;
        expect_only_whole(record, widths, blocks, *kernels);
      }
}

TEST(WidthTables, WithTruncatedOthersAreRejected) {
  for (const std::size_t blocks : chunks_with_others)
    for (const unsigned most : {15u, 32u})
      for (const WidthKernels* const kernels : sets()) {
        const Widths widths = with_others(blocks, 20, most);
        const NamedRecord record(widths, blocks, *kernels);
        ASSERT_EQ(record.flags(), has_planes | two_bits | (most > 15 ? byte_widths : 0)) << blocks;
        expect_only_whole(record, widths, blocks, *kernels);
      }
}

// Widths beyond 32 bits in a record of 32-bit integers, beyond 64 bits in a wide one.
TEST(WidthTables, WithOthersOutOfRangeAreRejected) {
  for (const std::size_t blocks : chunks_with_others)
    for (const WidthKernels* const kernels : sets())
      for (const std::uint8_t flags : {std::uint8_t{0}, std::uint8_t{wide}}) {
        const unsigned limit = flags != 0 ? 64 : 32;
        for (const unsigned most : {limit, limit + 1, 128u, 255u}) {
          const NamedRecord record(with_others(blocks, 70, most), blocks, *kernels, flags);
          ASSERT_EQ(record.flags() & (two_bits | byte_widths), two_bits | byte_widths);
          EXPECT_EQ(NamedRecord::read(record.bytes, blocks, *kernels).has_value(), most == limit)
              << blocks << " " << most;
        }
      }
}

// An entry that claims one width more, or one fewer, than the list of others has: the widths no longer add
// up. All blocks may claim one: then the list has the length of the chunk.
TEST(WidthTables, WithTooManyOrTooFewOthersAreRejected) {
  for (const std::size_t blocks : chunks_with_others)
    for (const unsigned most : {15u, 32u})
      for (const WidthKernels* const kernels : sets()) {
        const NamedRecord record(with_others(blocks, 20, most), blocks, *kernels);
        const std::size_t half = first_half(blocks);
        for (std::size_t i = 0; i < blocks; ++i) {
          std::vector<std::byte> damaged = record.bytes;
          std::byte& entries = damaged[record.table + names_bytes + i % half / 2];
          const unsigned shift = static_cast<unsigned>(i % half % 2 * 4 + i / half * 2);
          const bool is_other = (std::to_integer<unsigned>(entries) >> shift & 3) == 3;
          entries ^= std::byte{3} << shift;
          if (!is_other) entries |= std::byte{3} << shift;
          EXPECT_FALSE(NamedRecord::read(damaged, blocks, *kernels)) << blocks << " " << i;
        }
        std::vector<std::byte> all = record.bytes;
        for (std::size_t i = 0; i < blocks; ++i)
          all[record.table + names_bytes + i % half / 2] |= std::byte{3} << (i % half % 2 * 4 + i / half * 2);
        EXPECT_FALSE(NamedRecord::read(all, blocks, *kernels)) << blocks;
        all.resize(record.table + max_table_bytes);
        Widths back;
        const WidthsRead read = kernels->read(all.data() + record.table, blocks, record.flags(), back);
        EXPECT_EQ(read.bytes, names_bytes + two_bit_bytes(blocks) + entry_bytes(blocks, record.flags()));
      }
}

// All kernel sets accept the same damaged lists, and read the same widths from them.
TEST(WidthTables, WithDamagedOthersAreReadAlikeByEveryKernelSet) {
  for (const std::size_t blocks : chunks_with_others)
    for (const unsigned most : {15u, 32u})
      for (int round = 0; round < 200; ++round) {
        const NamedRecord record(with_others(blocks, 20, most), blocks, *sets().front());
        std::vector<std::byte> damaged = record.bytes;
        for (int k = 0; k < 1 + round % 3; ++k)
          damaged[record.others() + draw() % (damaged.size() - record.others())] = std::byte(draw());
        const auto expected = NamedRecord::read(damaged, blocks, *sets().front());
        for (const WidthKernels* const kernels : sets()) {
          const auto found = NamedRecord::read(damaged, blocks, *kernels);
          ASSERT_EQ(found.has_value(), expected.has_value()) << blocks << " " << round;
          ASSERT_TRUE(!found || std::ranges::equal(found->width, expected->width)) << blocks << " " << round;
        }
      }
}

// The longest table, with a byte for each block behind names that none has, ends at the limit of its size.
TEST(WidthTables, OfTheGreatestSizeFitARecord) {
  Widths widths{};
  std::fill_n(widths.width, chunk_blocks, std::uint8_t{64});
  const WidthTable table{two_bits | byte_widths, names_bytes + two_bit_bytes(chunk_blocks) + chunk_blocks,
                         0x210};
  static_assert(max_plane_record<std::int64_t> >= 12 + 8 * chunk_values + max_table_bytes);
  EXPECT_EQ(table.bytes + overrun, max_table_bytes);
  for (const WidthKernels* const kernels : sets()) {
    std::vector<std::byte> bytes(max_table_bytes);
    kernels->write(bytes.data(), widths, chunk_blocks, table);
    Widths back;
    EXPECT_EQ(kernels->read(bytes.data(), chunk_blocks, table.flags, back).bytes, table.bytes);
    EXPECT_TRUE(std::ranges::equal(back.width, widths.width));
  }
}

// Frames

constexpr std::size_t states = 8;  // bytes of the number of one reference

// Returns the form of the table in the first record of a frame of three chunks behind one reference.
TableForm form_in(const test::FrameBytes& frame) {
  return table_form(std::to_integer<std::uint8_t>(frame[frame_header_bytes + states + 4 * 4]));
}

// Changes two rows of 32 values in each chunk, at places that depend on `seed`.
void change_rows(test::Values& values, std::size_t seed) {
  for (std::size_t i = 0; i < values.numbers(); ++i) {
    const std::size_t row = i % chunk_values / 32;
    if (row == seed || row == 64 + 3 * seed)
      values.set(i, values.at(i) + 0.1 * static_cast<double>(1 + i % 5));
  }
}

// A record may name widths, or have a sparse bitmap, only where the frame refers to something.
TEST(WidthTables, OfSomeFormsBelongToReferences) {
  for (const TableForm form : {TableForm::names, TableForm::sparse_bitmap}) {
    test::History history(DType::f32, 9000, test::Pattern::noisy, 3);
    const auto codec = find_codec("planes")->make({.bound = 1e-2, .predictor = "none"});
    history.decode_earlier(*codec);
    if (form == TableForm::sparse_bitmap) change_rows(history.now = history.before, 5);
    const test::FrameBytes frame = test::frame_of(*codec, history.now, history.references(1));
    ASSERT_EQ(form_in(frame), form);
    test::FrameBytes alone(frame.begin(), frame.begin() + frame_header_bytes);
    alone.insert(alone.end(), frame.begin() + frame_header_bytes + states, frame.end());
    FrameHeader header = header_of(frame);
    header.parameters[2] = 0;
    seal_frame(header, alone.data(), alone.size() - frame_header_bytes);
    test::Values values(DType::f32, 9000);
    EXPECT_EQ(codec->decode(alone, values.slice()), Status::corrupt_frame);
  }
}

// Every kernel set writes the same frames and sums of them, and reads the values of those without references.
TEST(WidthTables, WithSparseBitmapsComeBackInFramesAndSums) {
  for (const DType type : {DType::f32, DType::f64, DType::f16, DType::bf16})
    for (const double bound : {1e-2, 1e-11}) {
      if (bound < 1e-6 && type != DType::f64) continue;
      test::FrameBytes expected_sum;
      for (const KernelSet* const set : kernel_sets()) {
        if (!set->supported()) continue;
        const auto codec =
            find_codec("planes")->make({.bound = bound, .predictor = "none", .kernels = set->name});
        test::History history(type, 9001, test::Pattern::noisy, 3);
        history.decode_earlier(*codec);
        const auto references = history.references(1);
        std::vector<test::FrameBytes> with, without;
        for (std::size_t seed = 1; seed <= 2; ++seed) {
          test::Values x = history.before;
          change_rows(x, seed);
          with.push_back(test::frame_of(*codec, x, references));
          without.push_back(test::frame_of(*codec, x));
          ASSERT_EQ(form_in(with.back()), TableForm::sparse_bitmap) << set->name << name_of(type);
          ASSERT_TRUE(test::values_of(*codec, with.back(), x, references) ==
                      test::values_of(*codec, without.back(), x));
        }
        test::FrameBytes sums[2];
        for (const auto* const frames : {&with, &without}) {
          const ConstBytes both[] = {(*frames)[0], (*frames)[1]};
          test::FrameBytes& sum = sums[frames == &without];
          sum.resize(codec->max_bytes(type, 9001, 2));
          const SizeOrStatus size = codec->arithmetic()->sum(both, sum);
          ASSERT_EQ(size.status, Status::ok);
          sum.resize(size.bytes);
        }
        ASSERT_EQ(form_in(sums[0]), TableForm::sparse_bitmap) << set->name << name_of(type);
        ASSERT_TRUE(test::values_of(*codec, sums[0], history.now, references) ==
                    test::values_of(*codec, sums[1], history.now));
        if (expected_sum.empty()) expected_sum = sums[0];
        ASSERT_TRUE(sums[0] == expected_sum) << set->name << name_of(type);
      }
    }
}

}  // namespace planes_width_tables_test
}  // namespace taut::planes
