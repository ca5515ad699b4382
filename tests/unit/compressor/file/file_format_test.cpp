#include "compressor/file/file_format.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "compressor/file/coding.hpp"
#include "compressor/file/failure.hpp"
#include "compressor/file/files.hpp"
#include "compressor/frame/frame.hpp"
#include "memory_file.hpp"

namespace taut::file {
namespace {

using Contents = std::vector<char>;

// Offsets of docs/spec/file.md, in a file of two extents.
constexpr std::size_t coding_bytes = 8, header_bytes = 24 + 2 * 8 + coding_bytes + 4, footer_bytes = 40;

class TautFile : public testing::Test {
 protected:
  TautFile() {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = static_cast<float>(i % 17);
    const auto path = std::filesystem::path(testing::TempDir()) / ("taut_file_" + std::to_string(getpid()));
    write_file(path);
    std::ifstream file(path, std::ios::binary);
    good_.assign(std::istreambuf_iterator<char>(file), {});
    std::filesystem::remove(path);
  }

  void write_file(const std::string& path) const {
    OutputFile output(path, true);
    FrameWriter writer(output, {DType::f32, Form::raw, {4, 25}}, "abs:1e-3");
    const Room frame(most_frame_bytes(DType::f32, 50));
    for (const std::size_t first : {0, 50}) {
      const ConstBytes values = std::as_bytes(std::span(values_).subspan(first, 50));
      const std::size_t bytes = encode({first, {2, 25}}, values, DType::f32, "abs:1e-3", frame.all());
      writer.add(frame.first(bytes), 50);
    }
    writer.finish();
    output.commit();
  }

  // Returns the values, or none if the file is refused; any other exception than a Failure fails the test.
  std::vector<float> read(const Contents& contents) const {
    const MemoryFile memory({contents.data(), contents.size()});
    try {
      const InputFile file(memory.path());
      FrameReader reader(file);
      EXPECT_LE(reader.array().bytes(), 1u << 20) << "more than these frames can hold";
      std::vector<float> all;
      for (const FrameEntry& entry : reader.entries()) {
        std::vector<float> values(entry.values);
        if (reader.array().type != DType::f32) return {};
        if (!decode(reader.next(), entry.values, DType::f32, std::as_writable_bytes(std::span(values))))
          return {};
        all.insert(all.end(), values.begin(), values.end());
      }
      return all;
    } catch (const Failure&) {
      return {};
    }
  }

  static void put(Contents& contents, std::size_t at, auto value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    for (std::size_t i = 0; i < bytes.size(); ++i) contents.at(at + i) = static_cast<char>(bytes[i]);
  }
  static std::uint32_t checksum(const Contents& contents, std::size_t begin, std::size_t size) {
    return crc32c(std::as_bytes(std::span(contents)).subspan(begin, size));
  }
  // Mends the checksums, so that other checks have to find the error.
  void repair(Contents& contents) const {
    const std::size_t footer = contents.size() - footer_bytes, index = footer - 2 * sizeof(FrameEntry);
    put(contents, header_bytes - 4, checksum(contents, 0, header_bytes - 4));
    std::size_t frame = header_bytes;
    for (std::size_t i = 0; i < 2; ++i) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, good_.data() + index + 16 * i, sizeof bytes);
      put(contents, index + 16 * i + 12, checksum(contents, frame, bytes));
      frame += bytes;
    }
    put(contents, footer + 16, checksum(contents, index, 2 * sizeof(FrameEntry)));
    put(contents, footer + 20, checksum(contents, 0, header_bytes - 4));
    put(contents, footer + 28, checksum(contents, footer, 28));
  }

  std::vector<float> values_ = std::vector<float>(100);
  Contents good_;
};

TEST_F(TautFile, ComesBack) {
  const std::vector<float> values = read(good_);
  ASSERT_EQ(values.size(), 100u);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_NEAR(values[i], values_[i], 1e-3);
  Contents repaired = good_;
  repair(repaired);
  EXPECT_EQ(repaired, good_) << "the test knows the format";
}

TEST_F(TautFile, EveryTruncationIsRefused) {
  for (std::size_t size = 0; size < good_.size(); ++size)
    EXPECT_TRUE(read(Contents(good_.begin(), good_.begin() + static_cast<std::ptrdiff_t>(size))).empty())
        << size;
}

TEST_F(TautFile, EveryFlippedBitIsRefused) {
  for (std::size_t bit = 0; bit < 8 * good_.size(); ++bit) {
    Contents flipped = good_;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    EXPECT_TRUE(read(flipped).empty()) << "bit " << bit;
  }
}

TEST_F(TautFile, BytesBehindTheEndAreRefused) {
  Contents longer = good_;
  longer.push_back(0);
  EXPECT_TRUE(read(longer).empty());
}

TEST_F(TautFile, NoByteUnderARightChecksumDoesHarm) {
  for (std::size_t at = 0; at < good_.size(); ++at) {
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      Contents hostile = good_;
      hostile[at] = static_cast<char>(value);
      repair(hostile);
      const std::vector<float> values = read(hostile);
      EXPECT_TRUE(values.empty() || values.size() == 100) << "byte " << at;
    }
  }
}

TEST_F(TautFile, AnArrayThatIsNotThereIsRefusedBeforeMemoryIsTaken) {
  Contents hostile = good_;
  put(hostile, 24, std::uint64_t{1} << 40);
  repair(hostile);
  EXPECT_TRUE(read(hostile).empty());
  put(hostile, 32, std::uint64_t{1} << 40);  // the product overflows
  repair(hostile);
  EXPECT_TRUE(read(hostile).empty());
  hostile = good_;
  put(hostile, good_.size() - footer_bytes - 2 * sizeof(FrameEntry) + 8, std::uint32_t{1} << 31);
  repair(hostile);
  EXPECT_TRUE(read(hostile).empty());
}

TEST_F(TautFile, VersionAndNumberOfReferencesBelongTogether) {
  for (const std::uint32_t version : {1u, 2u, 3u})
    for (const int references : {0, 1, 2, 3}) {
      Contents file = good_;
      put(file, 8, version);
      put(file, 19, static_cast<std::uint8_t>(references));
      repair(file);
      const bool belong =
          version == 1 ? references == 0 : version == 2 && (references == 1 || references == 2);
      EXPECT_EQ(!read(file).empty(), belong) << version << ", " << references;
    }
}

TEST_F(TautFile, MoreValuesThanItsFramesCanHoldAreRefused) {
  const std::size_t index = good_.size() - footer_bytes - 2 * sizeof(FrameEntry);
  std::uint32_t second = 0;
  std::memcpy(&second, good_.data() + index + sizeof(FrameEntry) + 8, sizeof second);
  Contents hostile = good_;
  put(hostile, 24, std::uint64_t{most_values_a_frame} + second);
  put(hostile, 32, std::uint64_t{1});
  put(hostile, index + 8, static_cast<std::uint32_t>(most_values_a_frame));
  repair(hostile);
  EXPECT_TRUE(read(hostile).empty());
}

}  // namespace
}  // namespace taut::file
