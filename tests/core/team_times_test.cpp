// Where the time of verbs goes: a codec that takes its time in one of them.
#include <gtest/gtest.h>

#include <thread>

#include "support/group.hpp"

namespace taut::test {
namespace {

constexpr std::uint64_t ms = 1000000;  // nanoseconds

class Slow final : public Codec {
 public:
  Slow(Verb verb, std::unique_ptr<Codec> codec) : verb_(verb), codec_(std::move(codec)) {}
  const Contract& contract() const noexcept override { return codec_->contract(); }
  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends) const noexcept override {
    return codec_->max_bytes(type, count, addends);
  }
  Sized encode(ConstSlice values, Bytes out) const noexcept override {
    return take_time(Verb::encode), codec_->encode(values, out);
  }
  Status decode(ConstBytes in, Slice values) const noexcept override {
    return take_time(Verb::decode), codec_->decode(in, values);
  }
  Status reduce(ConstBytes in, Slice values, Reduction op) const noexcept override {
    return take_time(Verb::combine), codec_->reduce(in, values, op);
  }

 private:
  void take_time(Verb verb) const noexcept {
    if (verb == verb_) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  Verb verb_;
  std::unique_ptr<Codec> codec_;
};

// Of a ring allreduce by values on three ranks: one encode, two combines (with an encode in each), three
// decodes, for each of two segments.
Times times_with_slow(Verb verb) {
  LoopbackHub hub(3);
  Job job(Collective::allreduce, 3, 3000, DType::f32, Pattern::smooth, 1);
  const Slow codec(verb, find_codec("planes")->make({.bound = 1e-3}));
  const AlgorithmInfo& ring = *find_algorithm(Collective::allreduce, "ring");
  return run_algorithm(hub, ring, codec, Arithmetic::values, 2, job)[1].times;
}

TEST(TeamTimes, EachVerbHasItsOwn) {
  const Times decode = times_with_slow(Verb::decode);
  EXPECT_GE(decode[Verb::decode], 2 * 3 * 2 * ms);
  const Times combine = times_with_slow(Verb::combine);
  EXPECT_GE(combine[Verb::combine], 2 * 2 * 2 * ms);
  const Times encode = times_with_slow(Verb::encode);
  EXPECT_GE(encode[Verb::encode], 2 * 1 * 2 * ms);
  EXPECT_GE(encode[Verb::combine], 2 * 2 * 2 * ms);
  for (const Times& times : {decode, combine, encode}) {
    EXPECT_EQ(times[Verb::wait], 0u);  // is what remains of a call
    EXPECT_EQ(times[Verb::call], 0u);
  }
}

TEST(TeamTimes, BundlesAreTimedToo) {
  LoopbackHub hub(3);
  Job job(Collective::scatter, 3, 3000, DType::f32, Pattern::smooth, 1);
  const Slow codec(Verb::encode, find_codec("planes")->make({.bound = 1e-3}));
  const AlgorithmInfo& binomial = *find_algorithm(Collective::scatter, "binomial");
  const auto ledgers = run_algorithm(hub, binomial, codec, Arithmetic::values, 1, job);
  EXPECT_GE(ledgers[0].times[Verb::encode], 2 * 2 * ms);
  EXPECT_EQ(ledgers[1].times[Verb::encode], 0u);
  EXPECT_GT(ledgers[1].times[Verb::decode], 0u);
}

// ---- What is sent, and what it stands for

TEST(TeamTraffic, IsCountedByCall) {
  LoopbackHub hub(3);
  for (const AlgorithmInfo* algorithm : registered_algorithms()) {
    SCOPED_TRACE(testing::Message() << name_of(algorithm->collective) << " " << algorithm->name);
    Job job(algorithm->collective, 3, 3000, DType::f32, Pattern::smooth, 1);
    const auto codec = find_codec("planes")->make({.bound = 1e-3});
    Traffic before[3];
    for (int r = 0; r < 3; ++r) before[r] = hub.transport(r).traffic();
    const auto ledgers = run_algorithm(hub, *algorithm, *codec, Arithmetic::values, 2, job);
    std::uint64_t carried = 0;
    for (int r = 0; r < 3; ++r) {
      const Ledger& ledger = ledgers[static_cast<std::size_t>(r)];
      EXPECT_EQ(ledger.sent_bytes, hub.transport(r).traffic().bytes - before[r].bytes);
      EXPECT_EQ(ledger.sent_messages, hub.transport(r).traffic().messages - before[r].messages);
      carried += ledger.carried_bytes;
    }
    const auto frames = static_cast<std::size_t>(algorithm->cost(3).frames);
    const std::size_t frame = 12000 / static_cast<std::size_t>(algorithm->parts(3));
    EXPECT_EQ(carried, frames * frame);  // as if the same messages were values
  }
}

}  // namespace
}  // namespace taut::test
