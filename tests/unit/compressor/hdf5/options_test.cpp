#include "compressor/hdf5/options.hpp"

#include <gtest/gtest.h>

#include <random>

#include "compressor/file/failure.hpp"

namespace taut::hdf5 {
namespace {

bool is_refused(std::span<const unsigned> words) {
  try {
    read_options(words);
    return false;
  } catch (const file::Failure&) {
    return true;
  }
}

TEST(Options, ComeBack) {
  const std::vector<unsigned> words = words_of({DType::f64, {3, 1u << 31}, "rel:1e-3,codec=planes"});
  EXPECT_EQ(words.size(), 6 + 6u);
  const ChunkOptions options = read_options(words);
  EXPECT_EQ(options.type, DType::f64);
  EXPECT_EQ(options.extents, (std::vector<std::uint64_t>{3, 1u << 31}));
  EXPECT_EQ(options.coding, "rel:1e-3,codec=planes");
}

TEST(Options, NoWordsMeanLossless) {
  EXPECT_EQ(read_options({}).coding, "lossless");
  EXPECT_FALSE(read_options({}).type);
  EXPECT_EQ(read_options(words_of({})).coding, "lossless");
}

TEST(Options, EveryTruncationIsRefused) {
  const std::vector<unsigned> words = words_of({DType::f32, {4, 5, 6}, "abs:1e-3"});
  for (std::size_t count = 1; count < words.size(); ++count)
    EXPECT_TRUE(is_refused(std::span(words).first(count))) << count;
}

TEST(Options, HostileWordsAreRefused) {
  const std::vector<unsigned> good = words_of({DType::f32, {4, 5}, "abs:1e-3"});
  constexpr std::pair<std::size_t, unsigned> hostile[] = {{0, 2},   {1, 15},  {1, ~0u}, {2, 33},
                                                          {2, ~0u}, {5, 513}, {5, ~0u}};
  for (const auto& [at, word] : hostile) {
    std::vector<unsigned> words = good;
    words[at] = word;
    EXPECT_TRUE(is_refused(words)) << at;
  }
  EXPECT_TRUE(is_refused(words_of({DType::f32, {~0u, ~0u, ~0u}, "abs:1e-3"})))
      << "more bytes than there can be";
  EXPECT_THROW(words_of({DType::f32, {std::uint64_t{1} << 32}, "abs:1e-3"}), file::Failure);
}

TEST(Options, RandomWordsDoNoHarm) {
  std::mt19937 random(1);
  for (int run = 0; run < 20000; ++run) {
    std::vector<unsigned> words(random() % 12);
    for (unsigned& word : words) word = random() % 3 == 0 ? static_cast<unsigned>(random()) : random() % 8;
    if (!words.empty()) words[0] = 1;
    is_refused(words);
  }
}

}  // namespace
}  // namespace taut::hdf5
