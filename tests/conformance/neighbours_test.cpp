// Neighbourhood collectives on random directed graphs: several edges between two ranks, edges from a rank to
// itself, ranks without neighbours, and more neighbours than a round of messages has.
#include <gtest/gtest.h>

#include "communication/comm/communicator.hpp"
#include "support/group.hpp"

namespace taut::test {
namespace neighbours_test {

constexpr double untouched = -7777;

struct Edge {
  std::size_t from, to, count;  // count: values of its block
};

// Memory of one rank: blocks of values, with gaps of one value.
struct Side {
  BlockLayout layout;
  Values values;

  std::vector<std::size_t> edges;  // numbers of the edges, in the order of the blocks

  void lay_out(const std::vector<Edge>& all, DType type) {
    std::ptrdiff_t at = 1;
    for (const std::size_t edge : edges) {
      layout.counts.push_back(all[edge].count);
      layout.offsets.push_back(at);
      at += static_cast<std::ptrdiff_t>(all[edge].count) + 1;
    }
    values = Values(type, static_cast<std::size_t>(at));
  }
  double at(std::size_t block, std::size_t i) const {
    return values.at(static_cast<std::size_t>(layout.offsets[block]) + i);
  }
};

struct Rank {
  Side in, out;
  Values own;  // block of an allgather
  Neighbours neighbours;
};

// A random graph, and a call on it. Edges between two ranks have the same order on both.
class GraphJob {
 public:
  GraphJob(Collective collective, int P, int most_edges, std::size_t most, std::uint64_t seed)
      : collective_(collective), ranks(static_cast<std::size_t>(P)), random_(seed) {
    std::vector<std::size_t> own_count(ranks.size());
    for (std::size_t& count : own_count) count = random_() % (most + 1);
    const int edges = static_cast<int>(random_() % static_cast<unsigned>(most_edges + 1));
    for (int i = 0; i < edges; ++i) {
      const std::size_t from = random_() % ranks.size(), to = random_() % ranks.size();
      edges_.push_back({from, to, exchanges() ? random_() % (most + 1) : own_count[from]});
    }
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      insert(ranks[edges_[i].from].in.edges, i, edges_[i].to, &Edge::to);
      insert(ranks[edges_[i].to].out.edges, i, edges_[i].from, &Edge::from);
    }
    const DType type = seed % 2 == 0 ? DType::f32 : DType::f64;
    for (std::size_t r = 0; r < ranks.size(); ++r) fill(ranks[r], own_count[r], type);
  }

  CollectiveCall request(int rank) {
    Rank& mine = ranks[static_cast<std::size_t>(rank)];
    Operands data;
    data.neighbours = &mine.neighbours;
    data.in = exchanges() ? Blocks<ConstSlice>(std::as_const(mine.in.values).slice(), &mine.in.layout)
                          : Blocks<ConstSlice>(std::as_const(mine.own).slice());
    data.out = {mine.out.values.slice(), &mine.out.layout};
    CollectiveCall call{collective_, data,
                        std::max(data.in.values(), data.out.values()) * size_of(data.in.type)};
    call.bytes_known = false;
    return call;
  }

  // Values of edges between two ranks of one of the `nodes` must be exact.
  std::string check(double bound, const Nodes* nodes = nullptr) const {
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const Side& out = ranks[r].out;
      std::vector<bool> defined(out.values.numbers());
      for (std::size_t l = 0; l < out.edges.size(); ++l) {
        const Edge& edge = edges_[out.edges[l]];
        const bool on_node = nodes != nullptr && nodes->node(static_cast<int>(edge.from)) ==
                                                     nodes->node(static_cast<int>(edge.to));
        const double allowed = on_node ? 0 : bound + 1e-5;
        for (std::size_t i = 0; i < out.layout.counts[l]; ++i) {
          defined[static_cast<std::size_t>(out.layout.offsets[l]) + i] = true;
          if (!(std::abs(out.at(l, i) - sent(out.edges[l], i)) <= allowed))
            return "rank " + std::to_string(r) + " block " + std::to_string(l);
        }
      }
      for (std::size_t i = 0; i < defined.size(); ++i)
        if (!defined[i] && out.values.at(i) != untouched) return "rank " + std::to_string(r) + " touched";
    }
    return "";
  }

 private:
  bool exchanges() const noexcept { return collective_ == Collective::neighbor_alltoall; }

  // Inserts an edge at a random place behind the last edge of the same other rank.
  void insert(std::vector<std::size_t>& list, std::size_t edge, std::size_t other, std::size_t Edge::*end) {
    std::size_t least = 0;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (edges_[list[i]].*end == other) least = i + 1;
    const std::size_t place = least + random_() % (list.size() - least + 1);
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(place), edge);
  }

  void fill(Rank& rank, std::size_t own_count, DType type) {
    for (const std::size_t edge : rank.in.edges)
      rank.neighbours.to.push_back(static_cast<int>(edges_[edge].to));
    for (const std::size_t edge : rank.out.edges)
      rank.neighbours.from.push_back(static_cast<int>(edges_[edge].from));
    rank.in.lay_out(edges_, type);
    rank.out.lay_out(edges_, type);
    rank.in.values = make_values(type, rank.in.values.count(), Pattern::noisy, random_());
    rank.own = make_values(type, own_count, Pattern::noisy, random_());
    for (std::size_t i = 0; i < rank.out.values.numbers(); ++i) rank.out.values.set(i, untouched);
  }

  double sent(std::size_t edge, std::size_t i) const {
    const Rank& source = ranks[edges_[edge].from];
    if (!exchanges()) return source.own.at(i);
    const auto block = std::ranges::find(source.in.edges, edge) - source.in.edges.begin();
    return source.in.at(static_cast<std::size_t>(block), i);
  }

  Collective collective_;

 public:
  std::vector<Rank> ranks;

 private:
  std::mt19937_64 random_;
  std::vector<Edge> edges_;
};

class OnGraphs : public testing::TestWithParam<const AlgorithmInfo*> {
 protected:
  void run(const std::string& policy, double bound, int P, int edges, std::size_t most, std::uint64_t seed,
           const Nodes& nodes = {}) {
    SCOPED_TRACE(testing::Message() << policy << " P " << P << " edges " << edges << " most " << most
                                    << " seed " << seed);
    GraphJob job(GetParam()->collective, P, edges, most, seed);
    LoopbackHub hub(P, {.seed = seed, .random_order = true});
    std::vector<HostPlace> places(static_cast<std::size_t>(P));
    std::vector<std::unique_ptr<Communicator>> comms;
    for (int r = 0; r < P; ++r)
      comms.push_back(std::make_unique<Communicator>(hub.transport(r), places[static_cast<std::size_t>(r)],
                                                     parse_policy(policy), "", Observer{}, nodes));
    for (const Verdict& verdict : run_all<Verdict>(
             hub, [&](int r) { return comms[static_cast<std::size_t>(r)]->run(job.request(r)); })) {
      ASSERT_EQ(verdict.status, Status::ok) << describe(verdict.status);
      ASSERT_EQ(verdict.fallback, Fallback::none);
    }
    const bool by_nodes = nodes.several() && GetParam()->collective == Collective::neighbor_alltoall;
    EXPECT_EQ(comms[0]->calls().rows().back().decision.by_nodes, by_nodes);
    ASSERT_EQ(job.check(bound, by_nodes ? &nodes : nullptr), "");
  }
};

TEST_P(OnGraphs, BlocksArriveInTheirOrder) {
  std::uint64_t seed = 0;
  for (const int P : {2, 3, 5, 8})
    for (const int edges : {0, 3, P, 5 * P, 20 * P})
      for (const std::size_t most : {0u, 5u, 3000u})
        for (const char* segments : {"", ",segments=3"})
          run(std::string("abs:1e-3,codec=planes,min_bytes=0") + segments, 1e-3, P, edges, most, ++seed);
}

// Blocks of an alltoall for neighbours on the same node arrive as they were sent, bit for bit.
TEST_P(OnGraphs, BlocksOnANodeAreNotCoded) {
  std::uint64_t seed = 0;
  for (const std::vector<int>& node_of :
       {std::vector{0, 0, 1}, {0, 1, 0, 1}, {0, 0, 0, 1, 2, 2}, {2, 0, 1, 1, 0, 2, 2, 2}}) {
    const int P = static_cast<int>(node_of.size());
    for (const int edges : {P, 5 * P, 40 * P})
      for (const std::size_t most : {0u, 5u, 3000u})
        for (const char* segments : {"", ",segments=3"})
          run(std::string("abs:1e-3,codec=planes,min_bytes=0,when=always,nodes=on") + segments, 1e-3, P,
              edges, most, ++seed, Nodes(node_of));
  }
}

TEST_P(OnGraphs, RangesAreThoseOfAllRanks) {
  run("rel:1e-6,codec=planes,min_bytes=0", 1e-6 * 40, 5, 25, 3000, 3);
  run("lossless,codec=raw,min_bytes=0", 0, 5, 25, 3000, 4);
}

std::vector<const AlgorithmInfo*> algorithms() {
  std::vector<const AlgorithmInfo*> all;
  for (const AlgorithmInfo* info : registered_algorithms())
    if (of_neighbours(info->collective)) all.push_back(info);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, OnGraphs, testing::ValuesIn(algorithms()), [](const auto& test) {
  return std::string(name_of(test.param->collective)) + "_" + test.param->name;
});

}  // namespace neighbours_test
}  // namespace taut::test
