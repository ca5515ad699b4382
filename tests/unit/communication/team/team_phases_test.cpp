// Tests of the times of phases, by a codec that is slow in one of them.
#include <gtest/gtest.h>

#include <thread>

#include "support/group.hpp"

namespace taut::test {
namespace {

constexpr std::uint64_t ms = 1000000;  // nanoseconds

class Slow final : public Codec {
 public:
  Slow(Phase phase, std::unique_ptr<Codec> codec) : verb_(phase), codec_(std::move(codec)) {}
  const Contract& contract() const noexcept override { return codec_->contract(); }
  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends) const noexcept override {
    return codec_->max_bytes(type, count, addends);
  }
  SizeOrStatus encode(ConstSlice values, References, Bytes out) const noexcept override {
    return take_time(Phase::encode), codec_->encode(values, out);
  }
  Status decode(ConstBytes in, References, Slice values) const noexcept override {
    return take_time(Phase::decode), codec_->decode(in, values);
  }
  Status reduce(ConstBytes in, References, Slice values, Reduction op) const noexcept override {
    return take_time(Phase::combine), codec_->reduce(in, values, op);
  }

 private:
  void take_time(Phase phase) const noexcept {
    if (phase == verb_) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  Phase verb_;
  std::unique_ptr<Codec> codec_;
};

// Returns the times of a ring allreduce by values on three ranks: one encode, two combines (with an encode in
// each) and three decodes for each of two segments.
PhaseTimes times_with_slow(Phase phase) {
  LoopbackHub hub(3);
  Job job(Collective::allreduce, 3, 3000, DType::f32, Pattern::smooth, 1);
  const Slow codec(phase, find_codec("planes")->make({.bound = 1e-3}));
  const AlgorithmInfo& ring = *find_algorithm(Collective::allreduce, "ring");
  return run_algorithm(hub, ring, codec, Arithmetic::values, 2, job)[1].times;
}

TEST(TeamTimes, EachVerbHasItsOwn) {
  const PhaseTimes decode = times_with_slow(Phase::decode);
  EXPECT_GE(decode[Phase::decode], 2 * 3 * 2 * ms);
  const PhaseTimes combine = times_with_slow(Phase::combine);
  EXPECT_GE(combine[Phase::combine], 2 * 2 * 2 * ms);
  const PhaseTimes encode = times_with_slow(Phase::encode);
  EXPECT_GE(encode[Phase::encode], 2 * 1 * 2 * ms);
  EXPECT_GE(encode[Phase::combine], 2 * 2 * 2 * ms);
  for (const PhaseTimes& times : {decode, combine, encode}) {
    EXPECT_EQ(times[Phase::wait], 0u);  // waiting is what remains of a call
    EXPECT_EQ(times[Phase::call], 0u);
  }
}

TEST(TeamTimes, BundlesAreTimedToo) {
  LoopbackHub hub(3);
  Job job(Collective::scatter, 3, 3000, DType::f32, Pattern::smooth, 1);
  const Slow codec(Phase::encode, find_codec("planes")->make({.bound = 1e-3}));
  const AlgorithmInfo& binomial = *find_algorithm(Collective::scatter, "binomial");
  const auto ledgers = run_algorithm(hub, binomial, codec, Arithmetic::values, 1, job);
  EXPECT_GE(ledgers[0].times[Phase::encode], 2 * 2 * ms);
  EXPECT_EQ(ledgers[1].times[Phase::encode], 0u);
  EXPECT_GT(ledgers[1].times[Phase::decode], 0u);
}

// ---- Bytes sent, and the values that they represent

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
      const CallCounters& counters = ledgers[static_cast<std::size_t>(r)];
      EXPECT_EQ(counters.sent_bytes, hub.transport(r).traffic().bytes - before[r].bytes);
      EXPECT_EQ(counters.sent_messages, hub.transport(r).traffic().messages - before[r].messages);
      carried += counters.carried_bytes;
    }
    const auto frames = static_cast<std::size_t>(algorithm->cost(3).frames);
    const std::size_t frame = 12000 / static_cast<std::size_t>(algorithm->parts(3));
    EXPECT_EQ(carried, frames * frame);  // as if the same messages were values
  }
}

}  // namespace
}  // namespace taut::test
