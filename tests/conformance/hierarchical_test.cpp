// Tests of every algorithm on nodes with several ranks each, on loopback with random schedules.
#include "communication/team/hierarchical.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "support/cost.hpp"
#include "support/damage.hpp"
#include "support/group.hpp"
#include "support/honest.hpp"
#include "support/places.hpp"

namespace taut::test {
namespace hierarchical_test {

constexpr double codec_bound = 1e-3;

struct Case {
  const AlgorithmInfo* algorithm;
  Arithmetic how;
  bool frames_on_node = false;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const AlgorithmInfo* algorithm : registered_algorithms()) {
    if (of_neighbours(algorithm->collective) || !runs_by_nodes(algorithm->collective, 0, 1)) continue;
    all.push_back({algorithm, Arithmetic::values});
    if (reduces(algorithm->collective) && algorithm->may_add_frames())
      all.push_back({algorithm, Arithmetic::frames});
    for (const Arithmetic how : {Arithmetic::values, Arithmetic::frames})
      if (algorithm->hands_over_frames) all.push_back({algorithm, how, true});
  }
  return all;
}
std::string name_of_case(const Case& c) {
  return std::string(name_of(c.algorithm->collective)) + "_" + c.algorithm->name + "_" + name_of(c.how) +
         (c.frames_on_node ? "_shared" : "");
}
void PrintTo(const Case& c, std::ostream* out) { *out << name_of_case(c); }
std::string name_of_test(const testing::TestParamInfo<Case>& test) { return name_of_case(test.param); }

// Returns the node of each rank, for nodes of these sizes: node after node, in turn, or random.
std::vector<int> layout(std::span<const int> sizes, std::uint64_t seed) {
  std::vector<int> node_of, left(sizes.begin(), sizes.end());
  for (std::size_t n = 0; n < sizes.size(); ++n) node_of.insert(node_of.end(), sizes[n], static_cast<int>(n));
  if (seed % 3 == 1) {
    const int P = static_cast<int>(node_of.size());
    for (int r = 0, n = 0; r < P; n = (n + 1) % static_cast<int>(sizes.size()))
      if (left[static_cast<std::size_t>(n)]-- > 0) node_of[static_cast<std::size_t>(r++)] = n;
  }
  if (seed % 3 == 2) std::shuffle(node_of.begin(), node_of.end(), std::mt19937_64(seed));
  return node_of;
}

std::vector<int> layout(int N, int L, std::uint64_t seed) {
  return layout(std::vector(static_cast<std::size_t>(N), L), seed);
}

class ByNodes : public testing::TestWithParam<Case> {
 protected:
  const AlgorithmInfo& algorithm = *GetParam().algorithm;
  const Arithmetic how = GetParam().how;
  const bool frames_on_node = GetParam().frames_on_node;
  const std::unique_ptr<Codec> codec = find_codec("planes")->make({.bound = codec_bound, .checksum = true});

  double allowed(int N) const { return codec_bound * algorithm.growth(N, how); }
  static int roundings(int P) { return 2 * P; }
  bool serves(std::size_t count, int P, bool equal_nodes = true) const {
    return runs_by_nodes(algorithm.collective, count, P, equal_nodes) && (equal_nodes || !frames_on_node);
  }
  std::vector<CallCounters> run(LoopbackHub& hub, int segments, Job& job, const Nodes& nodes,
                                const std::function<Place&(int)>& place_of = nullptr) const {
    return run_algorithm(hub, algorithm, *codec, how, segments, job, place_of, &nodes, frames_on_node);
  }

  // Checks calls with several counts and segments on one set of nodes, each with a layout and type of its
  // own.
  void check_results(std::span<const int> sizes, std::uint64_t& seed) const;
  void check_damage(const Nodes& nodes) const;
  void check_allocations(const Nodes& nodes) const;
};

constexpr std::pair<int, int> shapes[] = {{2, 2}, {3, 2}, {2, 3}, {4, 2}, {5, 3}, {3, 4}};
const std::vector<int> unequal[] = {{2, 1}, {3, 1}, {1, 4}, {2, 3, 1}, {3, 2}, {4, 4, 2}, {5, 3, 4}};
constexpr DType reals[] = {DType::f32, DType::f64, DType::f16, DType::c64, DType::bf16};

void ByNodes::check_results(std::span<const int> sizes, std::uint64_t& seed) const {
  const int N = static_cast<int>(sizes.size()), P = std::accumulate(sizes.begin(), sizes.end(), 0);
  for (const std::size_t count : {0, 1, P - 1, P, 7 * P, 1003, 84 * P}) {
    for (const int segments : {1, 3}) {
      const DType type = reals[++seed % std::size(reals)];
      const Nodes nodes(layout(sizes, seed));
      if (!serves(count, P, nodes.equal())) continue;
      SCOPED_TRACE(testing::Message() << testing::PrintToString(sizes) << " count " << count << " segments "
                                      << segments << " seed " << seed);
      Job job(algorithm.collective, P, count, type, Pattern::noisy, seed, Reduction::sum,
              static_cast<int>(seed / 3) % P, seed % 4 == 1);
      LoopbackHub hub(P, {.seed = seed, .random_order = true});
      for (const CallCounters& counters : run(hub, segments, job, nodes))
        ASSERT_EQ(counters.status, Status::ok) << describe(counters.status);
      for (int r = 0; r < P; ++r) ASSERT_EQ(job.check(r, allowed(N), roundings(P)), "");
      ASSERT_TRUE(job.same_bits() && job.inputs_stayed());
    }
  }
}

TEST_P(ByNodes, ResultBoundAndSameBits) {
  std::uint64_t seed = 0;
  for (const auto& [N, L] : shapes) check_results(std::vector(static_cast<std::size_t>(N), L), seed);
}

TEST_P(ByNodes, NodesOfUnequalSize) {
  std::uint64_t seed = 0;
  for (const std::vector<int>& sizes : unequal) check_results(sizes, seed);
}

TEST_P(ByNodes, MinimaAndMaxima) {
  if (!reduces(algorithm.collective) || how == Arithmetic::frames) return;  // no reduction to test
  const Nodes nodes(layout(3, 2, 2));
  for (const Reduction op : {Reduction::min, Reduction::max}) {
    Job job(algorithm.collective, 6, 1002, DType::f32, Pattern::noisy, 4, op, 5);
    LoopbackHub hub(6, {.seed = 4, .random_order = true});
    run(hub, 2, job, nodes);
    for (int r = 0; r < 6; ++r) ASSERT_EQ(job.check(r, codec_bound, 0), "");  // planes is idempotent
    ASSERT_TRUE(job.same_bits());
  }
}

// A sum by frames depends on the nodes, but neither on the algorithm nor on how it cuts the message into
// segments.
TEST_P(ByNodes, SameBitsByAnyAlgorithmAndSegments) {
  if (how == Arithmetic::values || algorithm.collective != Collective::allreduce) return;
  const AlgorithmInfo& reference = *find_algorithm(Collective::allreduce, "recursive_doubling");
  const Nodes nodes(layout(3, 3, 0));
  Job whole(Collective::allreduce, 9, 20011, DType::f32, Pattern::wild, 1);
  LoopbackHub first(9);
  run_algorithm(first, reference, *codec, how, 1, whole, nullptr, &nodes);
  for (const int segments : {1, 2, 7}) {
    Job job(Collective::allreduce, 9, 20011, DType::f32, Pattern::wild, 1);
    LoopbackHub hub(9);
    run(hub, segments, job, nodes);
    EXPECT_TRUE(job.outputs == whole.outputs) << segments << " segments";
  }
}

// On a node, frames take the place of the second half of the values, and each rank decodes all blocks.
TEST_P(ByNodes, FramesAreSharedOnANode) {
  if (!frames_on_node) return;
  for (const int N : {2, 3, 4})
    for (const int L : {2, 9}) {  // more ranks than a batch of messages has
      const Nodes nodes(layout(N, L, 1));
      const auto P = static_cast<std::size_t>(N * L);
      const std::size_t count = 100 * P * P;
      Job job(algorithm.collective, N * L, count, DType::f32, Pattern::smooth, 1);
      LoopbackHub hub(N * L, {.record = true});
      const Cost cost = cost_of(run(hub, 1, job, nodes));
      EXPECT_EQ(cost.decodes, L * algorithm.cost(N).decodes);
      EXPECT_EQ(cost.encodes, algorithm.cost(N).encodes);
      std::size_t on_nodes = 0, messages = 0;
      for (const LoopbackHub::Record& record : hub.records()) {
        if (nodes.node(record.from) != nodes.node(record.to)) continue;
        on_nodes += record.bytes;
        ++messages;
      }
      const std::size_t values = static_cast<std::size_t>(N * (L - 1)) * 4 * count;
      EXPECT_EQ(messages, 2 * P * static_cast<std::size_t>(L - 1));
      EXPECT_GT(on_nodes, values);
      EXPECT_LT(on_nodes, values + values / 2);
      for (int r = 0; r < N * L; ++r) EXPECT_EQ(job.check(r, allowed(N), roundings(N * L)), "");
      EXPECT_TRUE(job.same_bits());
    }
}

// Between nodes the traffic is L times what the algorithm declares for one rank of each node; of a gather or
// scatter, whose blocks one rank of each node joins, once. Within nodes it is values, in steps of L (L-1)
// messages.
TEST_P(ByNodes, OnlyFramesGoBetweenNodes) {
  if (frames_on_node) return;
  constexpr int L = 2;
  for (const int N : {2, 3, 4}) {
    const std::size_t count = 12 * static_cast<std::size_t>(N * L * N * L);
    const Nodes nodes(layout(N, L, 1));
    Job job(algorithm.collective, N * L, count, DType::f32, Pattern::smooth, 1);
    LoopbackHub hub(N * L, {.record = true});
    const Cost cost = cost_of(run(hub, 1, job, nodes));
    const Cost declared = algorithm.cost(N);
    const bool joins = joins_blocks(algorithm.collective);
    const int messages = (joins ? 1 : L) * declared.messages;
    EXPECT_EQ(cost.messages, messages);
    EXPECT_EQ(cost.messages_a_rank, declared.messages_a_rank);
    EXPECT_EQ(cost.encodes, declared.encodes);
    EXPECT_EQ(cost.combines, declared.combines);
    EXPECT_EQ(cost.decodes, declared.decodes);
    int between = 0, bytes_on_nodes = 0;
    for (const LoopbackHub::Record& record : hub.records()) {
      if (nodes.node(record.from) != nodes.node(record.to))
        ++between;
      else
        bytes_on_nodes += static_cast<int>(record.bytes);
    }
    EXPECT_EQ(between, messages);
    const int message = 4 * static_cast<int>(count), one_step = N * (L - 1) * message;
    const auto expected = [&] {
      switch (algorithm.collective) {
        case Collective::allreduce: return 2 * one_step;
        case Collective::reduce: return one_step + message / L;
        case Collective::bcast: return one_step + message / L;
        default: return joins ? message / L * (L - 1) : one_step;
      }
    };
    EXPECT_EQ(bytes_on_nodes, expected());
  }
}

// Blocks above 4 KiB of an alltoall are frames where they leave a node, and values elsewhere.
TEST_P(ByNodes, LargeBlocksGoFromRankToRank) {
  if (algorithm.collective != Collective::alltoall) return;
  const std::vector<int> sizes{3, 1, 2};
  constexpr int P = 6, on_nodes = 3 * 2 + 2 * 1;
  constexpr std::size_t block = 1500;
  for (const std::uint64_t seed : {0, 1, 2}) {
    const Nodes nodes(layout(sizes, seed));
    Job job(algorithm.collective, P, P * block, DType::f32, Pattern::noisy, seed, Reduction::sum, 0,
            seed == 1);
    LoopbackHub hub(P, {.seed = seed, .random_order = true, .record = true});
    run(hub, 2, job, nodes);
    int values = 0, frames = 0;
    for (const LoopbackHub::Record& record : hub.records()) {
      const bool on_node = nodes.node(record.from) == nodes.node(record.to);
      ++(on_node ? values : frames);
      EXPECT_EQ(on_node, record.bytes == 2 * block);  // half a block of four bytes a value
    }
    EXPECT_EQ(values, 2 * on_nodes);
    EXPECT_EQ(frames, 2 * (P * (P - 1) - on_nodes));
    for (int r = 0; r < P; ++r) EXPECT_EQ(job.check(r, codec_bound, 0), "");
  }
}

// A gather and a scatter keep the blocks of the root's node bit for bit. The root has one message for each
// other node, whatever its place, and no values twice where the nodes are in the order of the ranks.
TEST_P(ByNodes, BlocksBesideTheRootStayExact) {
  if (!joins_blocks(algorithm.collective)) return;
  constexpr int N = 3, L = 4, P = N * L;
  constexpr std::size_t block = 700;
  const bool gathers = algorithm.collective == Collective::gather;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Nodes nodes(layout(N, L, seed));
    for (const int segments : {1, 5, 7})
      for (int root = 0; root < P; root += 5) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << " segments " << segments << " root " << root);
        Job job(algorithm.collective, P, P * block, DType::f32, Pattern::noisy, seed, Reduction::sum, root);
        LoopbackHub hub(P, {.seed = seed, .random_order = true, .record = true});
        run(hub, segments, job, nodes);
        for (int r = 0; r < P; ++r) ASSERT_EQ(job.check(r, codec_bound, 0), "");
        for (int r = 0; r < P; ++r) {
          if (nodes.node(r) != nodes.node(root)) continue;
          const auto at = static_cast<std::size_t>(r) * block, of = static_cast<std::size_t>(root);
          const Values& sent = job.inputs[gathers ? static_cast<std::size_t>(r) : of];
          const Values& received = job.outputs[gathers ? of : static_cast<std::size_t>(r)];
          for (std::size_t i = at; i < at + block; ++i) ASSERT_EQ(sent.at(i), received.at(i)) << r;
        }
        const auto to_other_nodes = std::ranges::count_if(hub.records(), [&](const auto& record) {
          return nodes.node(record.from) != nodes.node(record.to);
        });
        EXPECT_EQ(to_other_nodes, segments * algorithm.cost(N).messages);
      }
  }
}

// ---- Failures

// Values sent within a node have no checksum: only a wrong message size shows damage there.
TEST_P(ByNodes, DamagedMessagesAreReportedAndNobodyHangs) {
  for (const std::vector<int>& sizes : {std::vector{3, 3}, {4, 2}}) check_damage(Nodes(layout(sizes, 1)));
}

void ByNodes::check_damage(const Nodes& nodes) const {
  if (!serves(600, 6, nodes.equal())) return;
  int messages = 1;
  for (const Damage& damage : damages) {
    for (int victim = 0; victim < messages; ++victim) {
      SCOPED_TRACE(testing::Message() << "message " << victim << " " << damage.name);
      Job job(algorithm.collective, 6, 600, DType::f32, Pattern::noisy, 3);
      LoopbackHub hub(6, {.seed = static_cast<std::uint64_t>(victim) + 1, .random_order = true});
      int n = 0;
      bool damaged = false;
      hub.set_damage([&](const LoopbackHub::Record& record, Message& bytes) {
        if (n++ != victim) return;
        const Message before = bytes;
        damage.apply(bytes);
        const bool on_node = nodes.node(record.from) == nodes.node(record.to);
        damaged = !on_node || bytes.size() != before.size();
        if (!damaged) bytes = before;
      });
      const auto ledgers = run(hub, 1, job, nodes);
      messages = n;
      if (damaged) expect_honest(job, ledgers, allowed(2), roundings(6));
    }
  }
}

TEST_P(ByNodes, FailedAllocationsAreReportedAndNobodyHangs) {
  for (const std::vector<int>& sizes : {std::vector{2, 2, 2}, {3, 1, 2}})
    check_allocations(Nodes(layout(sizes, 1)));
}

void ByNodes::check_allocations(const Nodes& nodes) const {
  constexpr int P = 6;
  if (!serves(600, P, nodes.equal())) return;
  for (int victim = 0; victim < P; ++victim) {
    for (int fails_at = 0;; ++fails_at) {
      SCOPED_TRACE(testing::Message() << "rank " << victim << " request " << fails_at);
      Job job(algorithm.collective, P, 600, DType::f64, Pattern::noisy, 3);
      std::vector<std::unique_ptr<ShortPlace>> places;
      for (int r = 0; r < P; ++r) places.push_back(std::make_unique<ShortPlace>(r == victim ? fails_at : -1));
      auto place_of = [&](int r) -> Place& { return *places[static_cast<std::size_t>(r)]; };
      LoopbackHub hub(P, {.seed = static_cast<std::uint64_t>(fails_at) + 1, .random_order = true});
      const auto ledgers = run(hub, 1, job, nodes, place_of);
      if (places[static_cast<std::size_t>(victim)]->requests <= fails_at) break;
      EXPECT_EQ(ledgers[static_cast<std::size_t>(victim)].status, Status::out_of_memory);
      expect_honest(job, ledgers, allowed(3), roundings(P));
    }
  }
}

// For the thread sanitizer.
TEST_P(ByNodes, RunsWithOneThreadARank) {
  const Nodes nodes(layout(2, 2, 0));
  Job job(algorithm.collective, 4, 5000, DType::f32, Pattern::noisy, 9);
  LoopbackHub hub(4);
  std::vector<CallCounters> ledgers(4);
  std::vector<HostPlace> places(4);
  std::vector<Task<>> tasks;
  for (std::size_t r = 0; r < 4; ++r) {
    const Team team(hub.transport(static_cast<int>(r)), *codec, places[r], ledgers[r], how, 0);
    Operands data = job.operands(static_cast<int>(r));
    data.frames_on_node = frames_on_node;
    tasks.push_back(pipelined(algorithm, team, data, 3, &nodes));
  }
  hub.run_threads(tasks);
  for (Task<>& task : tasks) task.result();
  for (int r = 0; r < 4; ++r) EXPECT_EQ(job.check(r, allowed(2), roundings(4)), "");
  EXPECT_TRUE(job.same_bits());
}

// In the order of the nodes a flat algorithm gives the bits that it gives in the order of the ranks, and a
// ring sends one message of each step from a node. No rank needs more scratch memory than its place declares.
class InTheOrderOfNodes : public testing::TestWithParam<std::vector<int>> {};

TEST_P(InTheOrderOfNodes, BitsStayAndARingRarelyLeavesANode) {
  constexpr int N = 3, P = 12;
  const Nodes nodes(layout(GetParam(), 1));
  const auto codec = find_codec("planes")->make({.bound = codec_bound, .checksum = true});
  for (const AlgorithmInfo* algorithm : registered_algorithms()) {
    if (!follows_nodes(*algorithm, nodes, Arithmetic::frames)) continue;
    SCOPED_TRACE(testing::Message() << name_of(algorithm->collective) << " " << algorithm->name);
    Job usual(algorithm->collective, P, 84 * P, DType::f32, Pattern::noisy, 5, Reduction::sum, 7);
    Job ordered = usual;
    LoopbackHub first(P), hub(P, {.record = true});
    run_algorithm(first, *algorithm, *codec, Arithmetic::frames, 2, usual);
    std::vector<CallCounters> counters(P);
    std::vector<HostPlace> places(P);
    std::vector<Task<>> tasks;
    for (int r = 0; r < P; ++r) {
      const auto i = static_cast<std::size_t>(r);
      const Team team(hub.transport(r), *codec, places[i], counters[i], Arithmetic::frames, 0);
      const OrderedCall call = in_order_of_nodes(*algorithm, nodes, team, ordered.operands(r));
      tasks.push_back(pipelined(*algorithm, call.team, call.data, 2));
    }
    hub.run_threads(tasks);
    for (Task<>& task : tasks) task.result();
    EXPECT_TRUE(ordered.outputs == usual.outputs);
    for (int r = 0; r < P; ++r) EXPECT_EQ(ordered.check(r, codec_bound * P, 2 * P), "");
    const auto between = std::ranges::count_if(hub.records(), [&](const LoopbackHub::Record& record) {
      return nodes.node(record.from) != nodes.node(record.to);
    });
    if (algorithm->name == std::string_view("ring") && algorithm->collective == Collective::allgather) {
      EXPECT_EQ(between, 2 * N * (P - 1));
    }
  }
  EXPECT_FALSE(follows_nodes(*find_algorithm(Collective::allgather, "ring"), Nodes(layout(GetParam(), 0)),
                             Arithmetic::frames));
  EXPECT_FALSE(follows_nodes(*find_algorithm(Collective::allreduce, "ring"), nodes, Arithmetic::values));
}

INSTANTIATE_TEST_SUITE_P(Sizes, InTheOrderOfNodes,
                         testing::Values(std::vector{4, 4, 4}, std::vector{5, 1, 6}));

INSTANTIATE_TEST_SUITE_P(All, ByNodes, testing::ValuesIn(cases()), name_of_test);

}  // namespace hierarchical_test
}  // namespace taut::test
