// All kernel sets of every codec write and read the same bytes as the scalar set: a short test for processors
// that are emulated. Values are finite; tests of each codec cover NaN and infinities.
#include <gtest/gtest.h>

#include "support/subjects.hpp"
#include "support/values.hpp"

namespace taut::test {
namespace {

using FrameBytes = std::vector<std::byte>;

constexpr std::size_t count = 4096 + 1003;  // one whole chunk of most codecs, and a part of one

FrameBytes cut(FrameBytes bytes, SizeOrStatus size) {
  EXPECT_EQ(size.status, Status::ok);
  bytes.resize(size.bytes);
  return bytes;
}

FrameBytes encoded(const Codec& codec, const Values& x) {
  FrameBytes frame(codec.max_bytes(x.type(), x.count()));
  const SizeOrStatus size = codec.encode(x.slice(), frame);
  return cut(std::move(frame), size);
}

// Frames and values that a codec makes of two messages.
struct Outcome {
  FrameBytes frame, sum, accumulated;
  Values decoded, reduced;
  bool operator==(const Outcome&) const = default;
};

Outcome outcome(const Codec& codec, const Values& x, const Values& y) {
  Outcome o{encoded(codec, x), {}, {}, Values(x.type(), x.count()), y};
  EXPECT_EQ(codec.decode(o.frame, o.decoded.slice()), Status::ok);
  EXPECT_EQ(codec.reduce(o.frame, o.reduced.slice(), Reduction::sum), Status::ok);
  if (const FrameArithmetic* arithmetic = codec.arithmetic()) {
    FrameBytes room(codec.max_bytes(x.type(), x.count(), 2));
    const FrameBytes other = encoded(codec, y);
    const ConstBytes both[] = {o.frame, other};
    const SizeOrStatus sum = arithmetic->sum(both, room);
    o.sum = cut(room, sum);
    const SizeOrStatus accumulated = arithmetic->accumulate(o.frame, y.slice(), room);
    o.accumulated = cut(room, accumulated);
  }
  return o;
}

TEST(KernelSets, WriteAndReadTheBytesOfTheScalarSet) {
  std::size_t sets = 0;
  std::uint64_t seed = 0;
  for (const CodecInfo* info : registered_codecs())
    for (const Subject& subject : subjects_of(*info, false))
      for (const Pattern pattern : {Pattern::smooth, Pattern::noisy, Pattern::wild}) {
        const Values x = make_values(subject.type, count, pattern, ++seed),
                     y = make_values(subject.type, count, Pattern::noisy, ++seed);
        const auto codecs = with_all_kernels(*info, subject.options);  // the scalar set first
        const Outcome expected = outcome(*codecs.front(), x, y);
        for (std::size_t i = 1; i < codecs.size(); ++i, ++sets)
          EXPECT_EQ(outcome(*codecs[i], x, y), expected)
              << subject.name() << ", set " << i << ", pattern " << static_cast<int>(pattern);
      }
  EXPECT_GT(sets, 100u);
}

}  // namespace
}  // namespace taut::test
