// Tests of reductions at a fixed rate, whose results have no bound: they equal those of decoding, combining
// and encoding in the order of the algorithm, to the bit, and their errors are of the size that the rate
// leaves.
#include <gtest/gtest.h>

#include "support/group.hpp"

namespace taut::test {
namespace rate_reductions_test {

using Frame = std::vector<std::byte>;

// The codings of a reduction without algorithms and teams.
class Reducer {
 public:
  Reducer(const Codec& codec, Reduction op) : codec_(codec), op_(op) {}

  Frame encode(ConstSlice values) const {
    Frame frame(codec_.max_bytes(values.type, values.count));
    const SizeOrStatus made = codec_.encode(values, frame);
    EXPECT_EQ(made.status, Status::ok);
    frame.resize(made.bytes);
    return frame;
  }
  Values decode(const Frame& frame, ConstSlice like) const {
    Values values(like.type, like.count);
    EXPECT_EQ(codec_.decode(frame, values.slice()), Status::ok);
    return values;
  }
  Frame combine(const Frame& partial, ConstSlice own) const {
    Values values = decode(partial, own);
    reduce_values(values.slice(), own, op_);
    return encode(values.slice());
  }

  // Returns the frame of the reduction along a chain of operands.
  Frame along(std::span<const ConstSlice> operands) const {
    Frame partial = encode(operands[0]);
    for (const ConstSlice own : operands.subspan(1)) partial = combine(partial, own);
    return partial;
  }
  // Returns the frame of the reduction in a binary tree, for a power of two of operands.
  Frame in_a_tree(std::span<const ConstSlice> operands) const {
    if (operands.size() == 1) return encode(operands[0]);
    const std::size_t half = operands.size() / 2;
    const Values right = decode(in_a_tree(operands.subspan(half)), operands[0]);
    return combine(in_a_tree(operands.first(half)), right.slice());
  }

 private:
  const Codec& codec_;
  Reduction op_;
};

struct Case {
  double bits;
  DType type;
  Reduction op;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const double bits : {3.5, 8.0, 16.0})
    for (const DType type : {DType::f32, DType::f64})
      for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max})
        all.push_back({bits, type, op});
  return all;
}

class RateReduction : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (find_codec("zfp") == nullptr) GTEST_SKIP() << "the codec zfp is left out";
    codec = find_codec("zfp")->make({.bound = {Bound::Kind::rate, GetParam().bits}});
  }

  Job job(Collective collective, int P) const {
    return {collective, P, 1003, GetParam().type, Pattern::noisy, 5, GetParam().op};
  }
  void run(const char* algorithm, Collective collective, int P, Job& job) const {
    LoopbackHub hub(P, {.seed = 3, .random_order = true});
    for (const CallCounters& counters :
         run_algorithm(hub, *find_algorithm(collective, algorithm), *codec, Arithmetic::values, 1, job))
      ASSERT_EQ(counters.status, Status::ok);
  }
  Reducer reducer() const { return {*codec, GetParam().op}; }

  static std::vector<ConstSlice> inputs_of(const Job& job) {
    std::vector<ConstSlice> all;
    for (const Values& values : job.inputs) all.push_back(values.slice());
    return all;
  }

  std::unique_ptr<Codec> codec;
};

TEST_P(RateReduction, APrefixAlongAChain) {
  constexpr int P = 6;
  for (const Collective collective : {Collective::scan, Collective::exscan}) {
    Job job = this->job(collective, P);
    run("chain", collective, P, job);
    const auto inputs = inputs_of(job);
    for (int r = 0; r < P; ++r) {
      const std::size_t addends = job.addends(r);
      if (addends == 0) continue;
      const Frame total = reducer().along(std::span(inputs).first(addends));
      EXPECT_TRUE(job.outputs[static_cast<std::size_t>(r)] == reducer().decode(total, inputs[0])) << r;
    }
  }
}

// The sum of block i begins at rank i + 1 and ends at rank i.
TEST_P(RateReduction, ASumAroundARing) {
  constexpr std::size_t P = 5;
  Job job = this->job(Collective::allreduce, P);
  run("ring", Collective::allreduce, P, job);
  EXPECT_TRUE(job.same_bits());
  for (std::size_t i = 0; i < P; ++i) {
    std::vector<ConstSlice> blocks;
    for (std::size_t k = 1; k <= P; ++k)
      blocks.push_back(block(ConstSlice(std::as_const(job.inputs[(i + k) % P]).slice()), i, P));
    const Values expected = reducer().decode(reducer().along(blocks), blocks[0]);
    const ConstSlice got = block(ConstSlice(std::as_const(job.outputs[0]).slice()), i, P);
    EXPECT_EQ(std::memcmp(got.data, expected.slice().data, got.bytes()), 0) << "block " << i;
  }
}

TEST_P(RateReduction, ASumInATree) {
  constexpr int P = 8;
  Job job = this->job(Collective::allreduce, P);
  run("recursive_doubling", Collective::allreduce, P, job);
  EXPECT_TRUE(job.same_bits());
  const auto inputs = inputs_of(job);
  EXPECT_TRUE(job.outputs[0] == reducer().decode(reducer().in_a_tree(inputs), inputs[0]));
}

INSTANTIATE_TEST_SUITE_P(All, RateReduction, testing::ValuesIn(cases()));

// Returns the root of the mean square of the errors of a sum over 4 ranks, as a part of that of the values.
double relative_error(const Codec& codec, DType type) {
  Job job(Collective::allreduce, 4, 1 << 14, type, Pattern::noisy, 9);
  LoopbackHub hub(4);
  run_algorithm(hub, *find_algorithm(Collective::allreduce, "ring"), codec, Arithmetic::values, 1, job);
  long double errors = 0, values = 0;
  for (std::size_t i = 0; i < job.count(); ++i) {
    const long double exact = job.exact(0, i).value, error = job.outputs[0].at(i) - exact;
    errors += error * error;
    values += exact * exact;
  }
  return std::sqrt(static_cast<double>(errors / values));
}

TEST(RateReductions, ErrorsAreOfTheSizeThatTheRateLeaves) {
  const CodecInfo* const zfp = find_codec("zfp");
  if (zfp == nullptr) GTEST_SKIP() << "the codec zfp is left out";
  for (const DType type : {DType::f32, DType::f64}) {
    const auto error = [&](double bits) {
      return relative_error(*zfp->make({.bound = {Bound::Kind::rate, bits}}), type);
    };
    const double coarse = error(8), fine = error(16);
    EXPECT_LT(coarse, 0.1);
    EXPECT_GT(coarse, 0.001);
    EXPECT_LT(fine, coarse / 100);
    EXPECT_GT(fine, coarse / 1000);
  }
}

}  // namespace rate_reductions_test
}  // namespace taut::test
