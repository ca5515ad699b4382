// Tests of every algorithm that takes blocks of any size, with gaps between them.
#include <gtest/gtest.h>

#include "communication/comm/communicator.hpp"
#include "support/group.hpp"

namespace taut::test {
namespace unequal_blocks_test {

constexpr double untouched = -7777;

// Returns sizes between 0 and `most`, some of them 0, in random order with gaps.
BlockLayout random_layout(std::vector<std::size_t> counts, std::mt19937_64& random) {
  BlockLayout layout{std::move(counts), {}};
  std::vector<std::size_t> order(layout.counts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  layout.offsets.resize(order.size());
  std::ptrdiff_t at = static_cast<std::ptrdiff_t>(random() % 5);
  for (const std::size_t i : order) {
    layout.offsets[i] = at;
    at += static_cast<std::ptrdiff_t>(layout.counts[i] + random() % 5);
  }
  return layout;
}

std::size_t extent(const BlockLayout& layout) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < layout.counts.size(); ++i)
    end = std::max(end, static_cast<std::size_t>(layout.offsets[i]) + layout.counts[i]);
  return end + 3;
}

// Memory of one rank, and the expected content of its output.
struct Rank {
  BlockLayout in_layout, out_layout;
  Values in, out;
  std::vector<double> want;  // expected output
};

// A call with a random matrix of sizes: counts[i][j] values are sent from rank i to rank j.
class VectorJob {
 public:
  VectorJob(Collective collective, int P, std::size_t most, DType type, std::uint64_t seed)
      : collective_(collective), P_(static_cast<std::size_t>(P)), random_(seed) {
    root_ = static_cast<std::size_t>(random_() % P_);
    std::vector<std::vector<std::size_t>> counts(P_, std::vector<std::size_t>(P_));
    for (std::size_t i = 0; i < P_; ++i)
      for (std::size_t j = 0; j < P_; ++j) counts[i][j] = random_() % 4 == 0 ? 0 : random_() % (most + 1);
    if (collective == Collective::allgather || collective == Collective::gather)
      for (auto& row : counts) std::fill(row.begin(), row.end(), row[0]);
    if (collective == Collective::reduce_scatter) std::fill(counts.begin(), counts.end(), counts[0]);
    for (std::size_t r = 0; r < P_; ++r) ranks.push_back(make_rank(counts, r, type));
    for (std::size_t r = 0; r < P_; ++r) fill_want(r);
  }

  CollectiveCall request(int rank) {
    const auto r = static_cast<std::size_t>(rank);
    Rank& mine = ranks[r];
    Operands data;
    data.root = static_cast<int>(root_);
    const bool in_blocks = many_in(r), out_blocks = many_out(r);
    if (sends(r)) data.in = {std::as_const(mine.in).slice(), in_blocks ? &mine.in_layout : nullptr};
    data.in.type = data.out.type = mine.in.type();
    if (receives(r)) data.out = {mine.out.slice(), out_blocks ? &mine.out_layout : nullptr};
    if (sends(r) && !in_blocks) data.in = block_of(data.in, mine.in_layout, r);
    if (receives(r) && !out_blocks)
      data.out =
          Slice{{data.out.address(mine.out_layout.offsets[r]), mine.out_layout.counts[r], data.out.type}};
    const std::size_t bytes = std::max(data.in.values(), data.out.values()) * size_of(data.in.type);
    CollectiveCall request{collective_, data, bytes};
    request.bytes_known = collective_ == Collective::allgather || collective_ == Collective::reduce_scatter;
    return request;
  }

  std::string check(double bound) const {
    for (std::size_t r = 0; r < P_; ++r)
      for (std::size_t i = 0; i < ranks[r].out.numbers(); ++i) {
        const double want = ranks[r].want[i], got = ranks[r].out.at(i);
        const double allowed = want == untouched ? 0 : bound + spacing(ranks[r].out.type(), want);
        if (!(std::abs(got - want) <= allowed))
          return "rank " + std::to_string(r) + " value " + std::to_string(i) + ": " + std::to_string(got) +
                 " instead of " + std::to_string(want);
      }
    return "";
  }

  std::vector<Rank> ranks;

 private:
  static ConstSlice block_of(const ConstSlice& all, const BlockLayout& layout, std::size_t i) {
    return {{all.address(layout.offsets[i]), layout.counts[i], all.type}};
  }
  bool many_in(std::size_t r) const {
    return collective_ == Collective::alltoall || collective_ == Collective::reduce_scatter ||
           (collective_ == Collective::scatter && r == root_);
  }
  bool many_out(std::size_t r) const {
    return collective_ == Collective::alltoall || collective_ == Collective::allgather ||
           (collective_ == Collective::gather && r == root_);
  }
  bool sends(std::size_t r) const { return collective_ != Collective::scatter || r == root_; }
  bool receives(std::size_t r) const { return collective_ != Collective::gather || r == root_; }

  Rank make_rank(const std::vector<std::vector<std::size_t>>& counts, std::size_t r, DType type) {
    std::vector<std::size_t> from = counts[r], to(P_);
    for (std::size_t i = 0; i < P_; ++i) to[i] = counts[collective_ == Collective::scatter ? root_ : i][r];
    if (collective_ == Collective::reduce_scatter) to = from;
    Rank rank{random_layout(from, random_), random_layout(to, random_), {}, {}, {}};
    rank.in = make_values(type, extent(rank.in_layout), Pattern::noisy, random_());
    rank.out = Values(type, extent(rank.out_layout));
    for (std::size_t i = 0; i < rank.out.numbers(); ++i) rank.out.set(i, untouched);
    rank.want.assign(rank.out.numbers(), untouched);
    return rank;
  }

  // Number k of block `block` in rank r's input.
  double input(std::size_t r, std::size_t block, std::size_t k) const {
    const Rank& rank = ranks[r];
    return rank.in.at(static_cast<std::size_t>(rank.in_layout.offsets[block]) + k);
  }
  void fill_want(std::size_t r) {
    if (!receives(r)) return;
    Rank& rank = ranks[r];
    const auto put = [&](std::size_t block, auto value) {
      for (std::size_t k = 0; k < rank.out_layout.counts[block]; ++k)
        rank.want[static_cast<std::size_t>(rank.out_layout.offsets[block]) + k] = value(k);
    };
    if (collective_ == Collective::reduce_scatter) {
      put(r, [&](std::size_t k) {
        double sum = 0;
        for (std::size_t i = 0; i < P_; ++i) sum += input(i, r, k);
        return sum;
      });
    } else if (collective_ == Collective::scatter) {
      put(r, [&](std::size_t k) { return input(root_, r, k); });
    } else {  // from each rank: its block for r, or its only block
      const bool own = collective_ != Collective::alltoall;
      for (std::size_t i = 0; i < P_; ++i) put(i, [&](std::size_t k) { return input(i, own ? i : r, k); });
    }
  }

  Collective collective_;
  std::size_t P_, root_ = 0;
  std::mt19937_64 random_;
};

std::vector<const AlgorithmInfo*> takers() {
  std::vector<const AlgorithmInfo*> all;
  for (const AlgorithmInfo* info : registered_algorithms())
    if (info->any_blocks && !of_neighbours(info->collective)) all.push_back(info);  // see neighbours_test.cpp
  return all;
}
class UnequalBlocks : public testing::TestWithParam<const AlgorithmInfo*> {
 protected:
  const AlgorithmInfo& algorithm = *GetParam();

  void run(const std::string& policy, double bound, int P, std::size_t most, std::uint64_t seed,
           Fallback plain) {
    SCOPED_TRACE(testing::Message() << policy << " P " << P << " most " << most << " seed " << seed);
    VectorJob job(algorithm.collective, P, most, seed % 2 == 0 ? DType::f32 : DType::f64, seed);
    LoopbackHub hub(P, {.seed = seed, .random_order = true});
    std::vector<std::unique_ptr<HostPlace>> places;
    std::vector<std::unique_ptr<Communicator>> comms;
    for (int r = 0; r < P; ++r) {
      places.push_back(std::make_unique<HostPlace>());
      comms.push_back(std::make_unique<Communicator>(hub.transport(r), *places.back(),
                                                     parse_policy(policy + ",algorithm=" + algorithm.name)));
    }
    for (const Verdict& verdict : run_all<Verdict>(
             hub, [&](int r) { return comms[static_cast<std::size_t>(r)]->run(job.request(r)); })) {
      ASSERT_EQ(verdict.status, Status::ok) << describe(verdict.status);
      ASSERT_EQ(verdict.fallback, plain);
    }
    if (plain == Fallback::none) {
      ASSERT_EQ(job.check(bound), "");
    }
  }
};

TEST_P(UnequalBlocks, ArriveWithinTheBoundAndTouchNothingElse) {
  std::uint64_t seed = 0;
  for (const int P : {2, 3, 4, 7})
    for (const std::size_t most : {0u, 1u, 5u, 3000u, 9000u})
      for (const char* policy :
           {"abs:1e-3,codec=planes,min_bytes=0", "abs:1e-3,codec=planes,min_bytes=0,segments=3"})
        run(policy, 1e-3, P, most, ++seed, Fallback::none);
}

TEST_P(UnequalBlocks, RangesAndSizesAreThoseOfAllRanks) {
  run("rel:1e-6,codec=planes,min_bytes=0", 1e-6 * 40, 5, 9000, 3, Fallback::none);
  run("abs:1e-3,min_bytes=1GiB", 0, 5, 9000, 4, Fallback::small);
}

INSTANTIATE_TEST_SUITE_P(All, UnequalBlocks, testing::ValuesIn(takers()), [](const auto& test) {
  return std::string(name_of(test.param->collective)) + "_" + test.param->name;
});

// Ranks that pass different sizes for one block get an error.
TEST(UnequalBlocksOfRanks, ThatDifferAreReported) {
  const int P = 3;
  for (const Collective collective : {Collective::allgather, Collective::alltoall, Collective::gather}) {
    VectorJob job(collective, P, 3000, DType::f32, 5);
    LoopbackHub hub(P, {.seed = 1, .random_order = true});
    std::vector<HostPlace> places(P);
    std::vector<std::unique_ptr<Communicator>> comms;
    for (std::size_t r = 0; r < P; ++r) {
      comms.push_back(std::make_unique<Communicator>(hub.transport(static_cast<int>(r)), places[r],
                                                     parse_policy("abs:1e-3,codec=planes,min_bytes=0")));
      auto& counts = job.ranks[r].out_layout.counts;
      if (r == 0 || collective == Collective::gather)
        for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = counts[i] / 2;
    }
    bool reported = false;
    for (const Verdict& verdict : run_all<Verdict>(
             hub, [&](int r) { return comms[static_cast<std::size_t>(r)]->run(job.request(r)); }))
      reported |= verdict.status != Status::ok;
    EXPECT_TRUE(reported) << name_of(collective);
  }
}

}  // namespace unequal_blocks_test
}  // namespace taut::test
