// Communicators on nodes with several ranks each.
#include <gtest/gtest.h>

#include "communication/team/hierarchical.hpp"
#include "compressor/frame/codec.hpp"
#include "compressor/frame/sample.hpp"
#include "support/places.hpp"
#include "support/ranks.hpp"

namespace taut::test {
namespace hierarchical_test {

constexpr int P = 6;
constexpr double bound = 1e-3;

class OnNodes : public testing::Test {
 protected:
  std::unique_ptr<Ranks> ranks(const std::string& policy) const {
    return std::make_unique<Ranks>(
        P, policy, LoopbackHub::Options{.seed = 2, .random_order = true, .record = true}, nodes);
  }
  // Returns the bytes that the call sends from node to node.
  std::size_t sent(Ranks& on, Collective collective) const {
    const std::size_t before = on.hub.records().size();
    Job job(collective, P, 60000, DType::f32, Pattern::noisy, 1, Reduction::sum, 2);
    for (const Verdict& verdict : on.run(collective, job)) {
      EXPECT_EQ(verdict.status, Status::ok);
      EXPECT_EQ(verdict.fallback, Fallback::none);
    }
    for (int r = 0; r < P; ++r) EXPECT_EQ(job.check(r, bound, 2 * P), "") << name_of(collective);
    EXPECT_TRUE(job.same_bits());
    std::size_t bytes = 0;
    for (std::size_t i = before; i < on.hub.records().size(); ++i) {
      const LoopbackHub::Record& record = on.hub.records()[i];
      if (nodes.node(record.from) != nodes.node(record.to)) bytes += record.bytes;
    }
    return bytes;
  }

  const std::vector<int> node_of{0, 0, 0, 1, 1, 1};
  const Nodes nodes{node_of};
};

constexpr Collective served[] = {Collective::allreduce, Collective::reduce_scatter, Collective::allgather,
                                 Collective::bcast,     Collective::reduce,         Collective::alltoall,
                                 Collective::gather,    Collective::scatter};

// A flat ring sends every block over the link between the nodes. By nodes, the two nodes exchange their sums,
// and two sums share the bound instead of six values.
TEST_F(OnNodes, LessIsSentFromNodeToNode) {
  const auto flat = ranks("abs:1e-3,when=always,nodes=off,algorithm=ring");
  const auto by_nodes = ranks("abs:1e-3,when=always,nodes=on,algorithm=ring");
  for (const Collective collective : served) {
    if (collective == Collective::alltoall)  // large blocks go from rank to rank
      EXPECT_EQ(sent(*by_nodes, collective), sent(*flat, collective));
    else
      EXPECT_LT(sent(*by_nodes, collective), sent(*flat, collective)) << name_of(collective);
    EXPECT_EQ(by_nodes->comms[0]->calls().rows().back().decision.by_nodes, true);
    EXPECT_EQ(flat->comms[0]->calls().rows().back().decision.by_nodes, false);
  }
}

TEST_F(OnNodes, OtherCallsGoAsEver) {
  const auto on = ranks("abs:1e-3,when=always,nodes=on");
  sent(*on, Collective::scan);
  EXPECT_FALSE(on->comms[0]->calls().rows().back().decision.by_nodes);
}

// The bound is shared by as many sums as there are nodes; a root may be no leader.
TEST(OnUnequalNodes, CallsGoByNodesWhereLeadersCanServeThem) {
  for (const std::vector<int>& node_of : {std::vector{0, 0, 1}, {0, 1, 1, 1, 1}, {0, 0, 1, 1, 1, 2}}) {
    const int count = static_cast<int>(node_of.size());
    Ranks on(count, "abs:1e-3,when=always,nodes=on,min_bytes=0", {.seed = 3, .random_order = true},
             Nodes(node_of));
    for (const Collective collective : served) {
      const std::size_t blocks = static_cast<std::size_t>(count) * 900;
      Job job(collective, count, blocks, DType::f32, Pattern::noisy, 1, Reduction::sum, count - 1);
      for (const Verdict& verdict : on.run(collective, job)) {
        EXPECT_EQ(verdict.status, Status::ok);
        EXPECT_EQ(verdict.fallback, Fallback::none);
      }
      for (int r = 0; r < count; ++r) EXPECT_EQ(job.check(r, bound, 2 * count), "") << name_of(collective);
      EXPECT_TRUE(job.same_bits());
      for (const auto& comm : on.comms)
        EXPECT_EQ(comm->calls().rows().back().decision.by_nodes,
                  runs_by_nodes(collective, blocks, count, false));
    }
  }
}

// Returns the bytes that each rank reserves for a call on these nodes, which gets no other memory.
std::vector<std::size_t> reserved(const std::string& policy, std::span<const int> node_of,
                                  Collective collective, std::size_t count, int root) {
  const int ranks = static_cast<int>(node_of.size());
  Ranks on(ranks, policy);
  std::vector<StrictPlace*> places;
  for (int r = 0; r < ranks; ++r) {
    auto place = std::make_unique<StrictPlace>();
    places.push_back(place.get());
    const auto i = static_cast<std::size_t>(r);
    on.comms[i] = std::make_unique<Communicator>(on.hub.transport(r), *place, parse_policy(policy), "",
                                                 Observer{}, Nodes(node_of));
    on.places[i] = std::move(place);
  }
  Job job(collective, ranks, count, DType::f32, Pattern::smooth, 1, Reduction::sum, root);
  for (const Verdict& verdict : on.run(collective, job)) {
    EXPECT_EQ(verdict.status, Status::ok);
    EXPECT_EQ(verdict.fallback, Fallback::none);
  }
  for (int r = 0; r < ranks; ++r) EXPECT_EQ(job.check(r, bound, 2 * ranks), "");
  EXPECT_TRUE(on.comms[0]->calls().rows().back().decision.by_nodes);
  std::vector<std::size_t> bytes;
  for (const StrictPlace* place : places) bytes.push_back(place->reserved);
  return bytes;
}

// A rank that only sends its block to another one of its node needs memory for samples alone. The rank that
// collects or hands out needs the blocks of its node and a frame, the root a frame, and all blocks if it has
// to copy them.
TEST(MemoryOnNodes, GathersAndScattersReserveWhatEachRoleUses) {
  constexpr std::size_t N = 3, L = 4, block = 1501;
  constexpr int root = 5;
  const auto codec = find_codec("planes")->make({.bound = bound});
  for (const Collective collective : {Collective::gather, Collective::scatter})
    for (const std::size_t segments : {1, 3})
      for (const bool cyclic : {false, true}) {
        SCOPED_TRACE(testing::Message() << name_of(collective) << " " << segments << " " << cyclic);
        std::vector<int> node_of;
        for (std::size_t r = 0; r < N * L; ++r) node_of.push_back(static_cast<int>(cyclic ? r % N : r / L));
        const std::string policy = "abs:1e-3,when=always,nodes=on,codec=planes,min_bytes=0,algorithm=linear";
        const auto bytes = reserved(policy + ",segments=" + std::to_string(segments), node_of, collective,
                                    N * L * block, root);
        const std::size_t values = part_range(L * block, 0, segments).count;
        const std::size_t frame = frame_room(codec->max_bytes(DType::f32, values, 1));
        const Nodes nodes(node_of);
        for (int r = 0; r < static_cast<int>(N * L); ++r) {
          const bool joins = nodes.local_rank(r) == nodes.local_rank(root);
          const bool samples = r == root || collective == Collective::gather;
          const std::size_t copies = r != root ? 1 : cyclic ? N : 0;
          EXPECT_EQ(bytes[static_cast<std::size_t>(r)], joins * segments * (copies * values * 4 + frame) +
                                                            samples * sample_scratch(*codec, DType::f32))
              << r;
        }
      }
}

// On nodes of unequal size the ranks that do not lead hold no part of the message.
TEST(MemoryOnNodes, LeadersAloneReserveParts) {
  const std::vector<int> node_of{0, 0, 0, 1, 1};
  for (const Collective collective : {Collective::allreduce, Collective::reduce, Collective::bcast}) {
    const auto bytes = reserved("abs:1e-3,when=always,nodes=on,min_bytes=0", node_of, collective, 9000, 3);
    for (int r = 0; r < 5; ++r)
      EXPECT_EQ(bytes[static_cast<std::size_t>(r)] > 9000, r != 2) << name_of(collective) << " " << r;
  }
}

// Ranks that share frames reserve those of the others of their node, of which up to seven come together.
TEST(MemoryOnNodes, SharedFramesAreReserved) {
  const std::string policy = "abs:1e-3,when=always,min_bytes=0,algorithm=halving_doubling";
  for (const auto& [N, L] : {std::pair(2, 2), {3, 3}, {2, 8}, {2, 10}, {5, 4}})
    for (const char* const how : {",segments=1", ",segments=3", ",reduction=values"}) {
      SCOPED_TRACE(testing::Message() << N << " x " << L << how);
      std::vector<int> node_of;
      for (int r = 0; r < N * L; ++r) node_of.push_back(r % N);
      const auto bytes = [&](const char* nodes) {
        return reserved(policy + how + nodes, node_of, Collective::allreduce, 30011, 0).back();
      };
      EXPECT_GE(bytes(",nodes=frames"), bytes(",nodes=on"));
    }
}

// A mean of P values by the frames of N sums: each sum may be off by P/N times the bound.
TEST_F(OnNodes, MeansStayWithinTheirBound) {
  const auto on = ranks("abs:1e-3,when=always,nodes=on");
  Job job(Collective::allreduce, P, 10000, DType::f64, Pattern::noisy, 1);
  on->run(Collective::allreduce, job, [](int, CollectiveCall& request) { request.mean = true; });
  double worst = 0;
  for (std::size_t i = 0; i < job.count(); ++i)
    worst = std::max(worst, static_cast<double>(std::abs(job.outputs[0].at(i) - job.exact(0, i).value / P)));
  EXPECT_LE(worst, bound * (1 + 1e-9));
  EXPECT_GT(worst, bound / 10);
  EXPECT_TRUE(job.same_bits());
}

// If timing decides whether frames are used, it also decides on routes by nodes; otherwise the bits are
// always the same.
TEST_F(OnNodes, IsTriedWhereCallsHaveToPay) {
  for (const auto& [policy, tried] : {std::pair{"abs:1e-3,min_bytes=0", true},
                                      {"abs:1e-3,min_bytes=0,nodes=off", false},
                                      {"abs:1e-3,min_bytes=0,when=always", false}}) {
    const auto on = ranks(policy);
    bool by_nodes = false;
    for (int i = 0; i < 200; ++i) {
      Job job(Collective::allreduce, P, 3000, DType::f32, Pattern::smooth, 1);
      const auto verdicts = on->run(Collective::allreduce, job);
      ASSERT_EQ(verdicts[0].status, Status::ok);
      for (const Verdict& verdict : verdicts)
        if (verdict.plain_times != nullptr) verdict.plain_times->note(1, job.bytes());
      by_nodes |= on->comms[0]->calls().rows()[0].decision.by_nodes;
    }
    EXPECT_EQ(by_nodes, tried) << policy;
  }
}

}  // namespace hierarchical_test
}  // namespace taut::test
