// Tests sums of frames whose records are drawn at random: widths of every size, all forms of the table, and
// chunks whose last thread has one to four blocks. No encoder writes such records together.
#include <gtest/gtest.h>

#include "gpu/kernels/gpu_codec.hpp"
#include "gpu/kernels/patterns.hpp"
#include "gpu/kernels/seal.hpp"
#include "support/test_size.hpp"

namespace taut {
namespace sum_widths_test {

using namespace planes;

using Frame = std::vector<std::byte>;
using Random = std::mt19937_64;

template <class V>
void append(Frame& to, const V& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

// Appends a table of widths in a form that holds them, drawn at random. Returns the form's flags.
unsigned append_table(Frame& to, const std::vector<unsigned>& widths, unsigned greatest, Random& random) {
  const bool by_bytes = greatest > 15 || random() % 4 == 0, is_dense = random() % 2 == 0;
  std::vector<unsigned> entries;
  Frame map(bitmap_bytes(widths.size()));
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const bool named = is_dense || widths[i] != 0 || random() % 8 == 0;
    if (named) map[i / 8] |= std::byte(1 << i % 8);
    if (named) entries.push_back(widths[i]);
  }
  if (!is_dense) to.insert(to.end(), map.begin(), map.end());
  for (std::size_t i = 0; i < entries.size(); i += by_bytes ? 1 : 2) {
    const unsigned next = by_bytes || i + 1 == entries.size() ? 0 : entries[i + 1];
    to.push_back(std::byte(entries[i] | next << 4));
  }
  return (by_bytes ? unsigned{byte_widths} : 0u) | (is_dense ? unsigned{dense} : 0u);
}

// Returns the record of a chunk of n values with no width above `greatest`.
Frame random_record(std::size_t n, unsigned greatest, std::uint32_t base, Random& random) {
  std::vector<unsigned> widths(blocks_of(n));
  const unsigned zeros = random() % 4;  // one of so many blocks has no planes
  std::uint32_t sum = 0;
  for (unsigned& width : widths) {
    width = zeros > 0 && random() % (zeros + 1) == 0 ? 0 : static_cast<unsigned>(random() % (greatest + 1));
    sum += width;
  }
  if (sum == 0) sum = widths[0] = 1;
  Frame record(8);
  for (std::uint32_t i = 0; i < sum; ++i) record.push_back(std::byte(random()));
  const unsigned flags = has_planes | append_table(record, widths, greatest, random);
  const std::uint32_t head[] = {flags | sum << 16, base};
  std::memcpy(record.data(), head, sizeof head);
  record.resize(whole_words(record.size()));
  return record;
}

// Returns a frame of n values whose records are random, or empty.
Frame random_frame(std::size_t n, Predictor predictor, unsigned greatest, Random& random) {
  Frame frame = cpu_frame<float>(std::vector<float>(n), {1e-3}, predictor), records;
  frame.resize(frame_header_bytes);
  append(frame, std::uint32_t{0});
  for (std::size_t first = 0; first < n; first += chunk_values) {
    const std::uint32_t base = predictor == Predictor::none ? 0 : static_cast<std::uint32_t>(random() % 1000);
    if (random() % 6 != 0) {
      const Frame record = random_record(std::min(chunk_values, n - first), greatest, base, random);
      records.insert(records.end(), record.begin(), record.end());
    }
    append(frame, static_cast<std::uint32_t>(records.size() / 4));
  }
  frame.insert(frame.end(), records.begin(), records.end());
  const std::uint64_t bytes = frame.size() - frame_header_bytes;
  std::memcpy(frame.data() + 32, &bytes, 8);
  seal(frame);
  return frame;
}

// Compares the sum of the frames with the CPU's.
void check(shim::Gpu& gpu, const std::vector<Frame>& frames, std::size_t n) {
  const auto codec = cpu_codec({1e-3}, Predictor::delta);
  std::vector<ConstBytes> parts(frames.begin(), frames.end());
  Frame cpu(codec->max_bytes(DType::f32, n, static_cast<std::uint32_t>(frames.size())));
  const SizeOrStatus size = codec->arithmetic()->sum(parts, cpu);
  ASSERT_EQ(size.status, Status::ok);
  GpuCodec<float> kernels(gpu, {1e-3}, Predictor::delta);
  const Frame sum = kernels.sum(frames, n, cpu.size());
  ASSERT_EQ(kernels.result().status, 0u);
  cpu.resize(size.bytes);
  ASSERT_EQ(sum == cpu, true);
}

class GpuSumOfRandomRecords : public testing::Test {
 protected:
  shim::Gpu gpu{7};
  Random random{11};
};

TEST_F(GpuSumOfRandomRecords, OfAnyWidthsIsThatOfTheCpu) {
  for (const unsigned greatest : {1u, 3u, 4u, 7u, 8u, 14u, 15u, 16u, 24u, 29u}) {
    for (const std::size_t count : {2u, 1u, 3u, 8u}) {
      for (const Predictor predictor : {Predictor::none, Predictor::delta, Predictor::second}) {
        if (!test::is_sampled()) continue;
        SCOPED_TRACE(testing::Message() << count << " frames, widths up to " << greatest << ", predictor "
                                        << static_cast<int>(predictor));
        const std::size_t n = 2 * chunk_values + 1 + random() % chunk_values;
        std::vector<Frame> frames;
        for (std::size_t k = 0; k < count; ++k)
          frames.push_back(random_frame(n, predictor, greatest, random));
        check(gpu, frames, n);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(GpuSumOfRandomRecords, OfAnySizeIsThatOfTheCpu) {
  for (const std::size_t whole : {std::size_t{0}, chunk_values - 64, chunk_values}) {
    for (std::size_t more = 1; more <= 65; more += more % 8 < 2 ? 1 : 6) {  // a block's first and last values
      if (!test::is_sampled()) continue;
      const std::size_t n = whole + more;
      SCOPED_TRACE(testing::Message() << n << " values");
      check(gpu, {random_frame(n, Predictor::delta, 9, random), random_frame(n, Predictor::delta, 5, random)},
            n);
      if (HasFatalFailure()) return;
    }
  }
}

// Records with different predictors are added integer by integer.
TEST_F(GpuSumOfRandomRecords, OfDifferentPredictorsIsThatOfTheCpu) {
  for (const std::size_t n : {1u, 9u, 40u, 64u, 1000u, 4089u, 4096u, 9000u}) {
    for (const Predictor predictor : {Predictor::none, Predictor::pairs, Predictor::second}) {
      if (!test::is_sampled()) continue;
      SCOPED_TRACE(testing::Message() << n << " values, predictor " << static_cast<int>(predictor));
      check(gpu, {random_frame(n, Predictor::delta, 5, random), random_frame(n, predictor, 3, random)}, n);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace sum_widths_test
}  // namespace taut
