#include "communication/policy/plan/plan.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

namespace taut {
namespace plan_test {

constexpr std::size_t MiB = std::size_t{1} << 20;

Plan plan(const char* policy, Collective collective, std::size_t bytes, int ranks,
          Reduction op = Reduction::sum) {
  static std::deque<CandidateTable> tables;  // static: the plan refers to them
  CandidateTable& table = tables.emplace_back();
  const Policy asked = parse_policy(policy);
  const Call call{.collective = collective, .type = DType::f32, .op = op, .bytes = bytes, .ranks = ranks};
  return make_plan(asked, call, resolved(asked.coding.bound, {-1, 1}), table);
}

TEST(Plan, SomeCallsArePlainAtOnce) {
  using enum Fallback;
  EXPECT_EQ(plan("off", Collective::allreduce, MiB, 4).fallback, off);
  EXPECT_EQ(plan("abs:1", Collective::allreduce, MiB, 1).fallback, communicator);
  EXPECT_EQ(plan("abs:1", Collective::allreduce, 65532, 4).fallback, small);
  EXPECT_EQ(plan("abs:1", Collective::allreduce, 65536, 4).fallback, none);
  EXPECT_EQ(plan("lossless,codec=raw", Collective::allreduce, MiB, 4).fallback, none);
}

TEST(Plan, TheBoundOfAResultIsShared) {
  for (const int P : {2, 3, 7, 10, 1000}) {
    for (const double E : {1e-4, 0.1, 3.0}) {
      const std::string bound = "abs:" + std::to_string(E);
      const Plan frames = plan(bound.c_str(), Collective::allreduce, 100 * MiB, P);
      EXPECT_EQ(frames.arithmetic, Arithmetic::frames);
      EXPECT_LE(static_cast<long double>(frames.bound.value) * P,
                static_cast<long double>(std::stod(bound.substr(4))));
      EXPECT_GE(frames.bound.value * P, E * (1 - 1e-15) * (1 - 1e-6));
    }
  }
  EXPECT_EQ(
      plan("abs:1,reduction=values,algorithm=recursive_doubling", Collective::allreduce, MiB, 4).bound.value,
      1.0 / 7);
  EXPECT_EQ(plan("abs:1,reduction=values", Collective::reduce_scatter, MiB, 4).bound.value, 1.0 / 4);
}

TEST(Plan, AMeanMayBeCodedWithinTheWholeBound) {
  CandidateTable table;
  const auto bound = [&](const char* policy, int P) {
    const Policy parsed = parse_policy(policy);
    const Call call{
        .collective = Collective::allreduce, .type = DType::f32, .bytes = 4 * MiB, .ranks = P, .mean = true};
    return make_plan(parsed, call, parsed.coding.bound, table).bound.value;
  };
  EXPECT_EQ(bound("abs:0.1", 7), 0.1);
  EXPECT_EQ(bound("abs:0.1,reduction=values,algorithm=ring", 7), 0.1);
  const double tree = bound("abs:0.1,reduction=values,algorithm=recursive_doubling", 4);
  EXPECT_LE(7 * tree, 4 * 0.1);
  EXPECT_NEAR(tree, 0.4 / 7, 1e-15);
  EXPECT_DOUBLE_EQ(bound("abs:1,on=likely", 12), 3);
}

// A relative bound of values near the greatest of float64 is near it too.
TEST(Plan, TheBoundOfOneCodingIsFinite) {
  CandidateTable table;
  for (const char* policy :
       {"rel:0.9", "rel:0.9,on=likely", "rel:0.9,reduction=values,algorithm=recursive_doubling"})
    for (const int ranks : {2, 3, 12})
      for (const bool mean : {false, true}) {
        const Call call{.collective = Collective::allreduce,
                        .type = DType::f64,
                        .bytes = 4 * MiB,
                        .ranks = ranks,
                        .mean = mean};
        const Bound greatest(std::numeric_limits<double>::max());
        const Bound bound = make_plan(parse_policy(policy), call, greatest, table).bound;
        EXPECT_TRUE(std::isfinite(bound.value)) << policy << " on " << ranks << (mean ? ", mean" : "");
      }
}

TEST(Plan, TheBoundIsTheSameUnderEveryRoundingMode) {
  CandidateTable table;
  for (const char* policy :
       {"abs:0.1", "abs:0.1,on=likely", "abs:0.1,reduction=values,algorithm=recursive_doubling"})
    for (const bool mean : {false, true}) {
      const Policy parsed = parse_policy(policy);
      const Call call{.collective = Collective::allreduce,
                      .type = DType::f32,
                      .bytes = 4 * MiB,
                      .ranks = 7,
                      .mean = mean};
      const Bound nearest = make_plan(parsed, call, parsed.coding.bound, table).bound;
      for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        std::fesetround(mode);
        const Bound bound = make_plan(parsed, call, parsed.coding.bound, table).bound;
        std::fesetround(FE_TONEAREST);
        EXPECT_EQ(bound, nearest) << policy << (mean ? ", mean" : "");
      }
    }
}

TEST(Plan, ALikelyBoundIsSharedByItsSpread) {
  const auto share = [](const char* policy, int P, Reduction op = Reduction::sum) {
    return plan(policy, Collective::allreduce, MiB, P, op).bound.value;
  };
  EXPECT_EQ(share("abs:1,on=likely", 3), 0.5);
  EXPECT_DOUBLE_EQ(share("abs:1,on=likely", 12), 0.25);
  EXPECT_DOUBLE_EQ(share("abs:1,on=likely,reduction=values,algorithm=recursive_doubling", 2), 0.5);
  EXPECT_EQ(share("abs:1,on=likely", 4, Reduction::max), 1);
  EXPECT_EQ(plan("abs:1,on=likely", Collective::bcast, MiB, 4).bound, Bound(1));
}

TEST(Plan, WhereNothingIsLeftToShareMpiServes) {
  EXPECT_EQ(plan("abs:1e-323", Collective::allreduce, MiB, 8).fallback, Fallback::unsupported);
  EXPECT_EQ(plan("abs:1e-323", Collective::allgather, MiB, 8).fallback, Fallback::none);
}

TEST(Plan, WhatIsNotSummedKeepsTheWholeBound) {
  for (const Collective move : all_collectives)
    if (!reduces(move)) {
      EXPECT_EQ(plan("abs:1", move, MiB, 4).bound, Bound(1));
    }
  for (const Reduction op : {Reduction::min, Reduction::max}) {
    EXPECT_EQ(plan("abs:1", Collective::allreduce, MiB, 4, op).bound, Bound(1));
    EXPECT_EQ(plan("abs:1", Collective::allreduce, MiB, 4, op).arithmetic, Arithmetic::values);
  }
  EXPECT_EQ(plan("abs:1,on=input", Collective::allreduce, MiB, 4).bound, Bound(1));
}

// The step of the frames is the unit of the values, whatever shares the bound of other sums.
TEST(Plan, AnExactSumHasTheWholeBoundAndPromisesTheExactResult) {
  const Bound of_ones{Bound::Kind::snap, 0.5};
  Call call{.collective = Collective::allreduce, .type = DType::f32, .bytes = MiB, .ranks = 4};
  for (const char* text : {"lossless", "lossless,on=input", "lossless,bits=exact", "lossless,when=always",
                           "lossless,reduction=values", "lossless,algorithm=cpr_p2p"}) {
    CandidateTable table;
    const Policy policy = parse_policy(text);
    ASSERT_TRUE(may_sum_exactly(policy, call)) << text;
    const Plan plan = make_plan(policy, call, of_ones, table);
    EXPECT_EQ(plan.fallback, Fallback::none) << text;
    EXPECT_EQ(plan.bound, of_ones) << text;
    EXPECT_TRUE(plan.promise.bound.exact() && plan.promise.certain) << text;
    EXPECT_EQ(plan.min_ratio, worthwhile_ratio) << text;
    for (const Coding& candidate : plan.candidates) {
      EXPECT_STREQ(candidate.codec->name, "planes") << text;
      EXPECT_EQ(candidate.bits, PackedBits::rounded) << text;
    }
  }
  for (const char* text : {"lossless,codec=mpc", "lossless,predictor=d1", "abs:1e-3", "snap:1"})
    EXPECT_FALSE(may_sum_exactly(parse_policy(text), call)) << text;
  for (const DType type : {DType{}, DType::f16, DType::bf16, DType::i32}) {
    call.type = type;
    EXPECT_FALSE(may_sum_exactly(parse_policy("lossless"), call));
  }
  call.type = DType::f64;
  call.op = Reduction::max;
  EXPECT_FALSE(may_sum_exactly(parse_policy("lossless"), call));
}

// The order of MPI's own sums is unknown, and a bound relative to each value does not bound the error of a
// sum.
TEST(Plan, SumsThatHaveNoBoundAreMpis) {
  EXPECT_EQ(plan("lossless", Collective::allreduce, MiB, 4).fallback, Fallback::unsupported);
  EXPECT_EQ(plan("pwrel:1e-3", Collective::allreduce, MiB, 4).fallback, Fallback::unsupported);
  EXPECT_NE(plan("lossless", Collective::allreduce, MiB, 4, Reduction::max).fallback, Fallback::unsupported);
  EXPECT_NE(plan("lossless", Collective::bcast, MiB, 4).fallback, Fallback::unsupported);
}

// No bound is promised for such a reduction, so that the policy has to name the codec.
TEST(Plan, ReductionsAtARateNeedANamedCodec) {
  if (find_codec("zfp") == nullptr) GTEST_SKIP() << "the codec zfp is left out";
  for (const Collective collective : all_collectives)
    for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max}) {
      const Fallback unnamed = reduces(collective) ? Fallback::unsupported : Fallback::none;
      EXPECT_EQ(plan("rate:8", collective, MiB, 4, op).fallback, unnamed);
      const Plan named = plan("rate:8,codec=zfp", collective, MiB, 4, op);
      EXPECT_EQ(named.fallback, Fallback::none);
      EXPECT_EQ(named.arithmetic, Arithmetic::values);
      EXPECT_EQ(named.bound, Bound(Bound::Kind::rate, 8));  // not shared among the codings
      EXPECT_EQ(named.min_ratio, 0);
    }
}

// The form block:8 names its codec, which is left out where it does not serve the type.
TEST(Plan, BlockScaledFramesServeReductions) {
  for (const Collective collective : all_collectives) {
    const Plan named = plan("block:8", collective, MiB, 4);
    EXPECT_EQ(named.fallback, Fallback::none);
    EXPECT_STREQ(named.candidates[0].codec->name, "blocks");
    EXPECT_EQ(named.bound, Bound(Bound::Kind::rate, 8));
  }
}

TEST(Plan, RelativeBoundsComeFromTheRange) {
  EXPECT_NEAR(plan("rel:1e-3", Collective::bcast, MiB, 4).bound.value, 2e-3, 1e-8);
  EXPECT_NEAR(plan("psnr:60", Collective::bcast, MiB, 4).bound.value, 2e-3, 1e-8);
  EXPECT_NEAR(plan("rel:1e-3", Collective::allreduce, MiB, 4).bound.value, 5e-4, 1e-8);
  EXPECT_EQ(plan("rel:1e-3", Collective::bcast, MiB, 4).bound.kind, Bound::Kind::absolute);
}

// With a codec that is not idempotent, each coding adds an error to a minimum.
TEST(Plan, MinimaByCodecsThatAreNotIdempotentShareTheBound) {
  for (const CodecInfo* codec : registered_codecs()) {
    for (const auto& [name, kind] :
         {std::pair{"abs:0.5", Bound::Kind::absolute}, {"pwrel:0.5", Bound::Kind::pointwise}}) {
      if (!codec->serves(DType::f32, kind)) continue;
      const std::string policy = std::string(name) + ",codec=" + codec->name;
      for (const Reduction op : {Reduction::min, Reduction::max}) {
        const double E =
            plan(policy.c_str(), Collective::allreduce, MiB, 4, op).bound.value;  // coded 4 times
        if (codec->idempotent) {
          EXPECT_EQ(E, 0.5) << policy;
        } else {
          EXPECT_LE(kind == Bound::Kind::absolute ? 4 * E : std::pow(1 + E, 4) - 1, 0.5) << policy;
          EXPECT_GE(4 * E, 0.3) << policy;
        }
      }
      EXPECT_EQ(plan(policy.c_str(), Collective::bcast, MiB, 4).bound.value, 0.5) << policy;
    }
  }
}

// Values that are encoded again at each hop get an error at each hop, unless the codec is idempotent.
TEST(Plan, WhatIsMovedByManyCodingsSharesTheBound) {
  for (const CodecInfo* codec : registered_codecs()) {
    if (!codec->serves(DType::f32, Bound::Kind::absolute)) continue;
    const std::string policy = std::string("abs:0.5,algorithm=cpr_p2p,codec=") + codec->name;
    const double gather = plan(policy.c_str(), Collective::allgather, MiB, 4).bound.value,
                 bcast = plan((policy + ",on=input").c_str(), Collective::bcast, MiB, 8).bound.value;
    EXPECT_EQ(gather, codec->idempotent ? 0.5 : 0.5 / 3) << policy;
    EXPECT_EQ(bcast, codec->idempotent ? 0.5 : 0.5 / 3) << policy;
    const double scatter = plan(policy.c_str(), Collective::scatter, MiB, 8).bound.value;
    EXPECT_EQ(scatter, codec->idempotent ? 0.5 : 0.5 / 3) << policy;
    EXPECT_EQ(plan(policy.c_str(), Collective::gather, MiB, 4).bound.value, 0.5) << policy;
    EXPECT_EQ(plan(policy.c_str(), Collective::reduce_scatter, MiB, 4).bound.value, 0.5 / 3) << policy;
    const Plan sum = plan(policy.c_str(), Collective::allreduce, MiB, 4);
    EXPECT_EQ(sum.arithmetic, Arithmetic::values);
    EXPECT_EQ(sum.bound.value, 0.5 / 6);
  }
}

TEST(Plan, TheAlgorithmFollowsTheSizeUnlessNamed) {
  auto chosen = [](const char* policy, std::size_t bytes, int P) {
    return std::string(plan(policy, Collective::allreduce, bytes, P).algorithm->name);
  };
  EXPECT_EQ(chosen("abs:1", 64 << 10, 16), "recursive_doubling");
  EXPECT_EQ(chosen("abs:1", MiB, 8), "halving_doubling");
  EXPECT_EQ(chosen("abs:1", MiB, 12), "two_shot");
  EXPECT_EQ(chosen("abs:1", 2 * MiB, 8), "ring");
  EXPECT_EQ(chosen("abs:1", 128 << 10, 3), "two_shot");
  EXPECT_EQ(chosen("abs:1,reduction=values", 128 << 10, 8), "recursive_doubling");
  EXPECT_EQ(chosen("abs:1,codec=szx", MiB, 8), "ring");
  EXPECT_EQ(chosen("abs:1", MiB, 256), "recursive_doubling");
  EXPECT_EQ(chosen("abs:1,algorithm=ring", 128 << 10, 8), "ring");
  EXPECT_EQ(chosen("abs:1,algorithm=recursive_doubling", 100 * MiB, 8), "recursive_doubling");
  EXPECT_EQ(chosen("abs:1,algorithm=two_shot", MiB, 8), "two_shot");
  EXPECT_EQ(chosen("abs:1,algorithm=halving_doubling", MiB, 8), "halving_doubling");
  // If the named algorithm does not exist for the collective, the choice is free.
  EXPECT_STREQ(plan("abs:1,algorithm=ring", Collective::bcast, MiB / 8, 8).algorithm->name, "binomial");
}

TEST(Plan, LargeBroadcastsArePassedOnInSegmentsOrScattered) {
  auto chosen = [](const char* policy, std::size_t bytes, int P) {
    return std::string(plan(policy, Collective::bcast, bytes, P).algorithm->name);
  };
  EXPECT_EQ(chosen("abs:1", MiB / 8, 8), "binomial");
  EXPECT_EQ(chosen("abs:1", 64 * MiB, 2), "binomial");
  EXPECT_EQ(chosen("abs:1", 16 * MiB, 4), "chain");
  EXPECT_EQ(chosen("abs:1", 64 * MiB, 16), "chain");
  EXPECT_EQ(chosen("abs:1,segments=16", 64 * MiB, 32), "scatter_allgather");
  EXPECT_EQ(chosen("abs:1", MiB, 64), "binomial");
  EXPECT_EQ(chosen("abs:1", 4 * MiB, 64), "scatter_allgather");
}

TEST(Plan, LargeScansArePassedOnInSegments) {
  auto chosen = [](const char* policy, std::size_t bytes, int P) {
    return std::string(plan(policy, Collective::scan, bytes, P).algorithm->name);
  };
  EXPECT_EQ(chosen("abs:1", MiB / 16, 3), "recursive_doubling");
  EXPECT_EQ(chosen("abs:1", MiB / 2, 3), "chain");
  EXPECT_EQ(chosen("abs:1", MiB / 2, 16), "recursive_doubling");
  EXPECT_EQ(chosen("abs:1", 16 * MiB, 64), "chain");
  EXPECT_EQ(chosen("abs:1", 4 * MiB, 256), "recursive_doubling");
  EXPECT_EQ(chosen("abs:1,algorithm=chain", MiB / 2, 4), "chain");
  EXPECT_EQ(plan("abs:1,reduction=values,algorithm=chain", Collective::scan, MiB, 4).bound.value, 1.0 / 4);
  for (const Collective collective : {Collective::scan, Collective::exscan})
    EXPECT_EQ(plan("abs:1", collective, MiB, 4).bound.value, 1.0 / 4);
}

TEST(Plan, SegmentsFollowTheSizeUnlessNamed) {
  EXPECT_EQ(plan("abs:1", Collective::allreduce, MiB / 8, 4).segments, 1);
  EXPECT_EQ(plan("abs:1", Collective::allreduce, MiB / 4, 4).segments, 2);
  EXPECT_EQ(plan("abs:1", Collective::allreduce, 2 * MiB, 4).segments, 2);
  EXPECT_EQ(plan("abs:1", Collective::gather, MiB / 2, 4).segments, 1);
  EXPECT_EQ(plan("abs:1", Collective::allreduce, 4 * MiB, 4).segments, 4);
  EXPECT_EQ(plan("abs:1", Collective::allreduce, 16 * MiB, 4).segments, 8);
  EXPECT_EQ(plan("abs:1", Collective::allreduce, 2000 * MiB, 4).segments, 16);
  EXPECT_EQ(plan("abs:1,segments=64", Collective::bcast, MiB, 4).segments, 64);
}

TEST(Plan, AChainHasMoreSegmentsForMoreRanks) {
  const auto segments = [](std::size_t bytes, int P) {
    return plan("abs:1,algorithm=chain", Collective::bcast, bytes, P).segments;
  };
  EXPECT_EQ(segments(4 * MiB, 2), 8);
  EXPECT_EQ(segments(4 * MiB, 4), 18);
  EXPECT_EQ(segments(4 * MiB, 8), 32);
  EXPECT_EQ(segments(64 * MiB, 64), 64);
}

// A prefix has the same bits in communicators with more ranks.
TEST(Plan, SegmentsOfScansDoNotDependOnTheRanks) {
  for (const int P : {2, 3, 8, 64})
    for (const std::size_t bytes : {MiB / 2, 4 * MiB, 64 * MiB})
      EXPECT_EQ(plan("abs:1,algorithm=chain", Collective::scan, bytes, P).segments,
                plan("abs:1,algorithm=chain", Collective::scan, bytes, 4).segments);
}

TEST(Plan, MessagesStayCountableForMPI3) {
  for (const std::size_t bytes : {10000 * MiB, 31000 * MiB}) {
    const Plan p = plan("abs:1,segments=1", Collective::bcast, bytes, 4);
    ASSERT_EQ(p.fallback, Fallback::none);
    EXPECT_LT(bytes / static_cast<std::size_t>(p.segments), std::size_t{1} << 30);
  }
  EXPECT_EQ(plan("abs:1", Collective::bcast, 40000 * MiB, 4).fallback, Fallback::unsupported);
  EXPECT_EQ(plan("abs:1", Collective::allgather, 40000 * MiB, 4).fallback,
            Fallback::none);  // blocks of a quarter
}

TEST(Plan, MovedIntegersAreCodedWithoutLossAndReducedByPlainMpi) {
  CandidateTable table;
  for (const char* text : {"abs:0.1", "rel:0.5", "pwrel:0.1", "abs:0.1,codec=szx", "snap:4,predictor=none"})
    for (const DType type : {DType::i8, DType::u16, DType::i32, DType::u64}) {
      table = {};
      const Policy policy = parse_policy(text);
      Call call{.collective = Collective::bcast, .type = type, .bytes = MiB, .ranks = 4};
      const Plan moved = make_plan(policy, call, resolved(policy.coding.bound, {-1, 1}), table);
      ASSERT_EQ(moved.fallback, Fallback::none) << text;
      EXPECT_TRUE(moved.bound.exact()) << text;
      EXPECT_STREQ(moved.candidates[0].codec->name, "mpc") << text;
      call.collective = Collective::allreduce;
      for (const Reduction op : {Reduction::sum, Reduction::min}) {
        call.op = op;
        EXPECT_EQ(make_plan(policy, call, policy.coding.bound, table).fallback, Fallback::type) << text;
      }
    }
}

TEST(Plan, ANamedCodecIsUsedWhateverItGains) {
  EXPECT_GT(plan("abs:1", Collective::bcast, MiB, 4).min_ratio, 1);
  EXPECT_EQ(plan("abs:1,codec=planes", Collective::bcast, MiB, 4).min_ratio, 0);
}

// A call of 16 nodes with 32 ranks each.
Call on_full_nodes(Collective collective, std::size_t bytes) {
  return {.collective = collective, .type = DType::f32, .bytes = bytes, .ranks = 512, .nodes = 16};
}

TEST(Plan, ByNodesIsTheFirstRouteWhereMeasuredTimesMayChoose) {
  const AlgorithmInfo* const ring = find_algorithm(Collective::allreduce, "ring");
  const Call call = on_full_nodes(Collective::allreduce, 8 * MiB);
  for (const auto& [text, first] : {std::pair{"abs:1", true},
                                    {"abs:1,when=always", false},
                                    {"abs:1,codec=planes", false},
                                    {"abs:1,nodes=off", false},
                                    {"abs:1,when=always,nodes=on", true},
                                    {"abs:1,history=2", true}}) {
    CandidateTable table;
    const Policy policy = parse_policy(text);
    EXPECT_EQ(make_plan(policy, call, policy.coding.bound, table).by_nodes, first) << text;
  }
  CandidateTable table;
  const Policy policy = parse_policy("abs:1");
  const auto by = [&](const Route& route) {
    return make_plan(policy, call, policy.coding.bound, table, route);
  };
  EXPECT_FALSE(by({.on_devices = true}).by_nodes);
  EXPECT_FALSE(by({.algorithm = ring, .by_nodes = false}).by_nodes);
  EXPECT_TRUE(by({.algorithm = ring, .by_nodes = true}).by_nodes);
}

// On 15 nodes with 32 ranks and one with 16, each of 16 leaders has a sixteenth of the message. Few leaders
// would code for many ranks: such calls begin flat, and by nodes is tried.
TEST(Plan, LeadersOfUnequalNodesShareTheMessage) {
  const Policy policy = parse_policy("abs:1");
  CandidateTable table;
  Call call = on_full_nodes(Collective::allreduce, 8 * MiB);
  call.ranks = 15 * 32 + 16;
  call.leaders = 16;
  EXPECT_TRUE(make_plan(policy, call, policy.coding.bound, table).by_nodes);
  EXPECT_EQ(call_of_algorithm(call, true).bytes, MiB / 2);
  call.ranks = 15 * 32 + 1;
  call.leaders = 1;
  const Plan plan = make_plan(policy, call, policy.coding.bound, table);
  EXPECT_FALSE(plan.by_nodes);
  std::array<Route, max_alternatives> found;
  EXPECT_EQ(alternatives(policy, call, plan, found)[0].by_nodes, true);
  call.bytes = 481 * std::size_t{1024};
  const auto goes = [&](Collective collective) {
    call.collective = collective;
    return make_plan(parse_policy("abs:1,nodes=on"), call, policy.coding.bound, table).by_nodes;
  };
  EXPECT_FALSE(goes(Collective::allgather));
  EXPECT_FALSE(goes(Collective::reduce_scatter) || goes(Collective::gather));
  EXPECT_TRUE(goes(Collective::alltoall));
}

// By nodes an alltoall packs small blocks: it then sends few frames instead of many, and copies all values.
// Larger blocks, and those of unequal sizes, are frames between nodes and values within a node.
TEST(Plan, AnAlltoallGoesByNodesFirstAndPacksSmallBlocks) {
  const Policy policy = parse_policy("abs:1");
  CandidateTable table;
  for (const auto& [block, any_blocks, packs] :
       {std::tuple{std::size_t{1024}, false, true}, {1024, true, false}, {64 * 1024, false, false}}) {
    Call call = on_full_nodes(Collective::alltoall, 512 * block);
    call.any_blocks = any_blocks;
    const Plan plan = make_plan(policy, call, policy.coding.bound, table);
    EXPECT_TRUE(plan.by_nodes) << block;
    EXPECT_EQ(call_of_algorithm(call, true).ranks, packs ? 16 : 512) << block;
    EXPECT_EQ(coding_work(policy, call, plan, 0).cost.encodes, packs ? 15 : 480) << block;
    std::array<Route, max_alternatives> found;
    EXPECT_EQ(alternatives(policy, call, plan, found)[0].by_nodes, false);
  }
}

// One rank of each node codes the blocks of its node in a gather and a scatter, where they have one size.
TEST(Plan, AGatherHasAMessageForEachNode) {
  CandidateTable table;
  const Policy policy = parse_policy("abs:1");
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    Call call = on_full_nodes(collective, 512 * std::size_t{4096});
    const Plan plan = make_plan(policy, call, policy.coding.bound, table);
    const Call part = call_of_algorithm(call, true);
    EXPECT_TRUE(plan.by_nodes && part.ranks == 16 && part.bytes == call.bytes);
    EXPECT_DOUBLE_EQ(coding_work(policy, call, plan, 0).share, 1.0 / 16);
    call.any_blocks = true;
    EXPECT_FALSE(make_plan(policy, call, policy.coding.bound, table).by_nodes);
  }
}

// Blocks for neighbours stay values on a node, whatever their sizes.
TEST(Plan, ExchangesWithNeighboursGoByNodes) {
  CandidateTable table;
  Call call = on_full_nodes(Collective::neighbor_alltoall, 6 * std::size_t{4000});
  call.any_blocks = true;
  for (const auto& [text, by_nodes] :
       {std::pair{"abs:1,min_bytes=0", true}, {"abs:1,when=always,min_bytes=0", false}}) {
    const Policy policy = parse_policy(text);
    EXPECT_EQ(make_plan(policy, call, policy.coding.bound, table).by_nodes, by_nodes) << text;
  }
  EXPECT_EQ(call_of_algorithm(call, true).ranks, 512);
  call.collective = Collective::neighbor_allgather;
  const Policy on = parse_policy("abs:1,nodes=on,min_bytes=0");
  EXPECT_FALSE(make_plan(on, call, on.coding.bound, table).by_nodes);
}

TEST(Plan, TheFirstAlternativeGoesTheOtherWay) {
  const Policy policy = parse_policy("abs:1");
  CandidateTable table;
  for (const Collective collective : {Collective::allreduce, Collective::bcast}) {
    const Call call = on_full_nodes(collective, 8 * MiB);
    for (const bool by_nodes : {false, true}) {
      const Plan usual = make_plan(policy, call, policy.coding.bound, table, {.by_nodes = by_nodes});
      const Plan other = make_plan(policy, call, policy.coding.bound, table, {.by_nodes = !by_nodes});
      std::array<Route, max_alternatives> found;
      EXPECT_EQ(alternatives(policy, call, usual, found)[0], other.route());
    }
  }
}

// By recursive doubling every rank sends all of the message in each step. Where 32 ranks share a link, few
// kinds of messages are small enough for that.
TEST(Plan, WhatIsSmallDependsOnTheNodes) {
  const Policy policy = parse_policy("abs:1,when=always");
  CandidateTable table;
  const auto algorithm = [&](std::size_t bytes) {
    const Call call = on_full_nodes(Collective::allreduce, bytes);
    return std::string(make_plan(policy, call, policy.coding.bound, table).algorithm->name);
  };
  EXPECT_EQ(algorithm(MiB / 16), "recursive_doubling");
  EXPECT_EQ(algorithm(MiB), "halving_doubling");
}

TEST(Plan, HopelessAlgorithmsAreNoAlternatives) {
  const Policy policy = parse_policy("abs:1");
  CandidateTable table;
  const Call call{.collective = Collective::allreduce, .type = DType::f32, .bytes = 64 * MiB, .ranks = 64};
  const Plan usual = make_plan(policy, call, policy.coding.bound, table);
  std::array<Route, max_alternatives> found;
  for (const Route& route : alternatives(policy, call, usual, found))
    EXPECT_STRNE(route.algorithm->name, "recursive_doubling");
}

}  // namespace plan_test
}  // namespace taut
