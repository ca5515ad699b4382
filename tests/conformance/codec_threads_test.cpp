// Threads within a codec: they give the same bytes and values as one thread, for any values and any damage.
#include <gtest/gtest.h>

#include "support/subjects.hpp"
#include "support/test_size.hpp"
#include "support/values.hpp"

namespace taut::test {
namespace {

std::vector<std::byte> encoded(const Codec& codec, const Values& values) {
  std::vector<std::byte> frame(codec.max_bytes(values.type(), values.count()));
  const SizeOrStatus size = codec.encode(values.slice(), frame);
  EXPECT_EQ(size.status, Status::ok);
  frame.resize(size.bytes);
  return frame;
}

class Threads : public testing::TestWithParam<const CodecInfo*> {};

struct Work {
  int threads;
  Pattern pattern;
  std::size_t count;
  bool still = false;  // for 3/5 of the values: the part of the first of two threads takes no bytes
};
constexpr Work works[] = {{3, Pattern::smooth, 100},
                          {2, Pattern::wild, 70001},
                          {3, Pattern::smooth, 70001},
                          {2, Pattern::wild, 262144},
                          {2, Pattern::smooth, 70001, true}};

Values values_of(const Work& work, DType type) {
  Values values = make_values(type, work.count, work.pattern, work.count);
  for (std::size_t i = 0; work.still && i < values.numbers() * 3 / 5; ++i) values.set(i, 0);
  return values;
}

void expect_same(const Codec& one, const Codec& many, const Values& values) {
  const auto frame = encoded(one, values);
  ASSERT_TRUE(encoded(many, values) == frame);
  Values a(values.type(), values.count()), b = a;
  ASSERT_EQ(one.decode(frame, a.slice()), Status::ok);
  ASSERT_EQ(many.decode(frame, b.slice()), Status::ok);
  ASSERT_TRUE(a == b);
  ASSERT_EQ(one.reduce(frame, a.slice(), Reduction::sum), Status::ok);
  ASSERT_EQ(many.reduce(frame, b.slice(), Reduction::sum), Status::ok);
  ASSERT_TRUE(a == b);
}

TEST_P(Threads, ChangeNothing) {
  for (const Subject& subject : subjects_of(*GetParam(), false)) {
    const auto one = subject.make();
    for (const Work& work : works) {
      if (!is_sampled()) continue;
      SCOPED_TRACE(subject.name() + " " + std::to_string(work.threads) + " " + std::to_string(work.count));
      Coding options = subject.options;
      options.threads = work.threads;
      expect_same(*one, *GetParam()->make(options), values_of(work, subject.type));
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

TEST_P(Threads, DamageIsFoundAlike) {
  const Subject subject = subjects_of(*GetParam(), false).front();
  Coding options = subject.options;
  options.threads = 4;
  const auto one = subject.make(), many = GetParam()->make(options);
  Values values = make_values(subject.type, 200000, Pattern::noisy, 1);
  const auto good = encoded(*one, values);
  std::mt19937_64 random(1);
  for (int i = 0; i < 100; ++i) {
    auto bad = good;
    bad[frame_header_bytes + random() % (bad.size() - frame_header_bytes)] ^= std::byte(1 + random() % 255);
    const bool found = one->decode(bad, values.slice()) != Status::ok;
    EXPECT_EQ(many->decode(bad, values.slice()) != Status::ok, found);
  }
}

std::string name_of_codec(const testing::TestParamInfo<const CodecInfo*>& info) { return info.param->name; }
INSTANTIATE_TEST_SUITE_P(All, Threads, testing::ValuesIn(registered_codecs()), name_of_codec);

}  // namespace
}  // namespace taut::test
