// Tests of the collectives of taut.hpp: the nonblocking and persistent forms give the bits of the blocking
// form, and blocks of any size arrive where they belong.
#include <gtest/gtest.h>
#include <taut/taut.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace cxx_forms_test {

using taut::Communicator, taut::Request, taut::TypedBlocks, taut::ValueBlocks;

constexpr std::size_t n = 3000;
constexpr float untouched = -9;

struct CxxForms : testing::Test {
  Communicator comm{MPI_COMM_WORLD, "abs:1e-3,when=always,min_bytes=0"};
  const std::size_t ranks = static_cast<std::size_t>(comm.size());
  const std::size_t me = static_cast<std::size_t>(comm.rank());

  // Value i of rank r: small integers, which a bound of 1e-3 keeps apart.
  static float value(std::size_t r, std::size_t i) { return static_cast<float>(100 * r + i % 97); }
  static std::vector<float> values(std::size_t r, std::size_t count) {
    std::vector<float> made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = value(r, i);
    return made;
  }
  // Block of a rank: 0 values of rank 0, more of each next one.
  static std::size_t length(std::size_t r) { return r * n / 2; }

  // Blocks of all ranks in reverse order, with a gap of 5 values behind each.
  ValueBlocks reversed() const {
    ValueBlocks blocks;
    for (std::size_t r = 0; r < ranks; ++r) {
      std::size_t begin = 0;
      for (std::size_t after = r + 1; after < ranks; ++after) begin += length(after) + 5;
      blocks.counts.push_back(static_cast<MPI_Count>(length(r)));
      blocks.displacements.push_back(static_cast<MPI_Aint>(begin));
    }
    return blocks;
  }
  std::size_t room() const {
    std::size_t all = 0;
    for (std::size_t r = 0; r < ranks; ++r) all += length(r) + 5;
    return all;
  }
};

// Expects that the three forms of a call give `out` the same bits, the persistent one at each of three
// starts.
template <class Blocking, class Start, class Prepare>
void expect_same(std::vector<float>& out, Blocking blocking, Start start, Prepare prepare) {
  const std::vector<float> before = out;
  blocking();
  const std::vector<float> expected = std::exchange(out, before);
  Request moved = start();
  Request(std::move(moved)).wait();
  EXPECT_EQ(out, expected);
  Request persistent = prepare();
  EXPECT_TRUE(persistent.test());  // inactive
  for (int i = 0; i < 3; ++i) {
    std::copy(before.begin(), before.end(), out.begin());
    persistent.start();
    if (i == 1)
      while (!persistent.test()) {
      }
    else
      persistent.wait();
    EXPECT_EQ(out, expected);
  }
  std::copy(before.begin(), before.end(), out.begin());
  persistent.start();
  persistent = {};  // waits for the call in flight
  EXPECT_EQ(out, expected);
}

TEST_F(CxxForms, OfReductions) {
  const std::vector<float> in = values(me, n), blocks = values(me, ranks * n);
  std::vector<float> out(n, untouched), block(n, untouched), own(length(me), untouched), all(in);
  expect_same(
      out, [&] { comm.allreduce(in, out); }, [&] { return comm.iallreduce(in, out); },
      [&] { return comm.allreduce_init(in, out); });
  for (std::size_t i = 0; i < n; ++i)
    ASSERT_NEAR(out[i],
                50.0 * static_cast<double>(ranks * (ranks - 1)) + static_cast<double>(ranks * (i % 97)),
                1e-2);
  expect_same(
      all, [&] { comm.allreduce(all, MPI_MAX); }, [&] { return comm.iallreduce(all, MPI_MAX); },
      [&] { return comm.allreduce_init(all, MPI_MAX); });
  expect_same(
      out, [&] { comm.scan(in, out); }, [&] { return comm.iscan(in, out); },
      [&] { return comm.scan_init(in, out); });
  expect_same(
      out, [&] { comm.exscan(in, out); }, [&] { return comm.iexscan(in, out); },
      [&] { return comm.exscan_init(in, out); });
  const int root = comm.size() - 1;
  std::vector<float> at_root(comm.rank() == root ? n : 0, untouched);
  expect_same(
      at_root, [&] { comm.reduce(in, at_root, root); }, [&] { return comm.ireduce(in, at_root, root); },
      [&] { return comm.reduce_init(in, at_root, root); });
  expect_same(
      block, [&] { comm.reduce_scatter(blocks, block); }, [&] { return comm.ireduce_scatter(blocks, block); },
      [&] { return comm.reduce_scatter_init(blocks, block); });
  std::vector<MPI_Count> counts;
  for (std::size_t r = 0; r < ranks; ++r) counts.push_back(static_cast<MPI_Count>(length(r)));
  const auto temporary = [&] { return std::vector<MPI_Count>(counts); };  // need not outlive the start
  expect_same(
      own, [&] { comm.reduce_scatter(blocks, own, counts, MPI_MIN); },
      [&] { return comm.ireduce_scatter(blocks, own, temporary(), MPI_MIN); },
      [&] { return comm.reduce_scatter_init(blocks, own, temporary(), MPI_MIN); });
  std::size_t begin = 0;
  for (std::size_t r = 0; r < me; ++r) begin += length(r);
  for (std::size_t i = 0; i < own.size(); ++i) ASSERT_NEAR(own[i], value(0, begin + i), 1e-3);
}

TEST_F(CxxForms, OfMoves) {
  const int root = comm.size() - 1;
  const std::vector<float> in = values(me, n), blocks = values(me, ranks * n);
  std::vector<float> field(in), all(ranks * n, untouched), block(n, untouched);
  std::vector<float> at_root(comm.rank() == root ? ranks * n : 0, untouched);
  expect_same(
      field, [&] { comm.bcast(field, root); }, [&] { return comm.ibcast(field, root); },
      [&] { return comm.bcast_init(field, root); });
  for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(field[i], value(ranks - 1, i), 1e-3);
  expect_same(
      all, [&] { comm.allgather(in, all); }, [&] { return comm.iallgather(in, all); },
      [&] { return comm.allgather_init(in, all); });
  expect_same(
      at_root, [&] { comm.gather(in, at_root, root); }, [&] { return comm.igather(in, at_root, root); },
      [&] { return comm.gather_init(in, at_root, root); });
  expect_same(
      block, [&] { comm.scatter(at_root, block, root); }, [&] { return comm.iscatter(at_root, block, root); },
      [&] { return comm.scatter_init(at_root, block, root); });
  expect_same(
      all, [&] { comm.alltoall(blocks, all); }, [&] { return comm.ialltoall(blocks, all); },
      [&] { return comm.alltoall_init(blocks, all); });
  for (std::size_t i = 0; i < ranks * n; ++i) ASSERT_NEAR(all[i], value(i / n, me * n + i % n), 1e-3);
}

TEST_F(CxxForms, OfBlocksOfAnySize) {
  const int root = comm.size() - 1;
  const std::vector<float> in = values(me, length(me));
  std::vector<float> all(room(), untouched), at_root(comm.rank() == root ? room() : 0, untouched);
  std::vector<float> block(length(me), untouched);
  expect_same(
      all, [&] { comm.allgatherv(in, all, reversed()); },
      [&] { return comm.iallgatherv(in, all, reversed()); },
      [&] { return comm.allgatherv_init(in, all, reversed()); });
  const ValueBlocks placed = reversed();
  std::vector<float> expected(room(), untouched);
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::vector<float> from = values(r, length(r));
    std::copy(from.begin(), from.end(), expected.begin() + placed.displacements[r]);
  }
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(all[i], expected[i], expected[i] == untouched ? 0 : 1e-3);
  const auto where = [&] { return comm.rank() == root ? reversed() : ValueBlocks{}; };  // matter at the root
  expect_same(
      at_root, [&] { comm.gatherv(in, at_root, where(), root); },
      [&] { return comm.igatherv(in, at_root, where(), root); },
      [&] { return comm.gatherv_init(in, at_root, where(), root); });
  for (std::size_t i = 0; i < at_root.size(); ++i) ASSERT_NEAR(at_root[i], expected[i], 1e-3);
  expect_same(
      block, [&] { comm.scatterv(at_root, where(), block, root); },
      [&] { return comm.iscatterv(at_root, where(), block, root); },
      [&] { return comm.scatterv_init(at_root, where(), block, root); });
  for (std::size_t i = 0; i < block.size(); ++i) ASSERT_NEAR(block[i], in[i], 2e-3);

  // Rank s sends length(r) values to rank r, which receives them one after the other.
  ValueBlocks received;
  received.counts.assign(ranks, static_cast<MPI_Count>(length(me)));
  std::vector<float> got(ranks * length(me), untouched);
  const std::vector<float> out = values(me, room());
  expect_same(
      got, [&] { comm.alltoallv(out, reversed(), got, received); },
      [&] { return comm.ialltoallv(out, reversed(), got, ValueBlocks(received)); },
      [&] { return comm.alltoallv_init(out, reversed(), got, ValueBlocks(received)); });
  const auto begin = static_cast<std::size_t>(placed.displacements[me]);
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], value(i / length(me), begin + i % length(me)), 1e-3);
}

TEST_F(CxxForms, OfTypedBlocks) {
  const auto blocks = [&] {
    TypedBlocks made;
    for (std::size_t r = 0; r < ranks; ++r) {
      made.counts.push_back(static_cast<MPI_Count>(n));
      made.displacements.push_back(static_cast<MPI_Aint>(r * n * sizeof(float)));
      made.types.push_back(MPI_FLOAT);
    }
    return made;
  };
  const std::vector<float> in = values(me, ranks * n);
  std::vector<float> out(ranks * n, untouched);
  expect_same(
      out, [&] { comm.alltoallw(in.data(), blocks(), out.data(), blocks()); },
      [&] { return comm.ialltoallw(in.data(), blocks(), out.data(), blocks()); },
      [&] { return comm.alltoallw_init(in.data(), blocks(), out.data(), blocks()); });
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], value(i / n, me * n + i % n), 1e-3);
}

// Ring in which a rank sends to the rank behind it and receives from the one before it; blocks of one size.
struct CxxNeighbours : CxxForms {
  std::optional<Communicator> ring;
  const int before = (comm.rank() + comm.size() - 1) % comm.size(), after = (comm.rank() + 1) % comm.size();
  const std::size_t sender = static_cast<std::size_t>(before);

  void SetUp() override {
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &after, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    ring.emplace(graph, "abs:1e-3,when=always,min_bytes=0");
    MPI_Comm_free(&graph);
  }
};

TEST_F(CxxNeighbours, HaveAllForms) {
  const std::vector<float> in = values(me, n + 5);
  const std::vector<float> block(in.begin(), in.begin() + n);
  const ValueBlocks sent{{static_cast<MPI_Count>(n)}, {5}}, received{{static_cast<MPI_Count>(n)}, {3}};
  std::vector<float> out(n, untouched), shifted(n + 4, untouched);
  const auto expect_block = [&](const std::vector<float>& got, std::size_t at, std::size_t first) {
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(got[at + i], value(sender, first + i), 1e-3);
  };
  expect_same(
      out, [&] { ring->neighbor_allgather(block, out); },
      [&] { return ring->ineighbor_allgather(block, out); },
      [&] { return ring->neighbor_allgather_init(block, out); });
  expect_block(out, 0, 0);
  expect_same(
      out, [&] { ring->neighbor_alltoall(block, out); }, [&] { return ring->ineighbor_alltoall(block, out); },
      [&] { return ring->neighbor_alltoall_init(block, out); });
  expect_block(out, 0, 0);
  expect_same(
      shifted, [&] { ring->neighbor_allgatherv(block, shifted, received); },
      [&] { return ring->ineighbor_allgatherv(block, shifted, ValueBlocks(received)); },
      [&] { return ring->neighbor_allgatherv_init(block, shifted, ValueBlocks(received)); });
  expect_block(shifted, 3, 0);
  expect_same(
      shifted, [&] { ring->neighbor_alltoallv(in, sent, shifted, received); },
      [&] { return ring->ineighbor_alltoallv(in, ValueBlocks(sent), shifted, ValueBlocks(received)); },
      [&] { return ring->neighbor_alltoallv_init(in, ValueBlocks(sent), shifted, ValueBlocks(received)); });
  expect_block(shifted, 3, 5);
  EXPECT_EQ(shifted[2], untouched);
  EXPECT_EQ(shifted[n + 3], untouched);
  const TypedBlocks typed{{static_cast<MPI_Count>(n)}, {0}, {MPI_FLOAT}};
  expect_same(
      out, [&] { ring->neighbor_alltoallw(in.data(), typed, out.data(), typed); },
      [&] {
        return ring->ineighbor_alltoallw(in.data(), TypedBlocks(typed), out.data(), TypedBlocks(typed));
      },
      [&] {
        return ring->neighbor_alltoallw_init(in.data(), TypedBlocks(typed), out.data(), TypedBlocks(typed));
      });
  expect_block(out, 0, 0);
}

// ---- Faults, which are noticed before anything is sent

template <class Call>
int status_of(Call call) {
  try {
    call();
  } catch (const taut::Error& error) {
    return error.status();
  }
  return TAUT_SUCCESS;
}

TEST_F(CxxForms, BlocksOutsideTheirArrayAreFaults) {
  constexpr MPI_Aint most = std::numeric_limits<MPI_Aint>::max();
  std::vector<float> in = values(me, n), out(ranks * n);
  const auto with = [&](MPI_Count count, MPI_Aint displacement) {
    ValueBlocks blocks;
    blocks.counts.assign(ranks, static_cast<MPI_Count>(n));
    for (std::size_t r = 0; r < ranks; ++r) blocks.displacements.push_back(static_cast<MPI_Aint>(r * n));
    blocks.counts.back() = count;
    blocks.displacements.back() = displacement;
    return status_of([&] { (void)comm.iallgatherv(in, out, blocks); });
  };
  const auto count = static_cast<MPI_Count>(n);
  const auto last = static_cast<MPI_Aint>((ranks - 1) * n);
  EXPECT_EQ(with(count, last), TAUT_SUCCESS);
  EXPECT_EQ(with(count, last + 1), TAUT_ERR_COUNT);
  EXPECT_EQ(with(count, -1), TAUT_ERR_COUNT);
  EXPECT_EQ(with(-1, 0), TAUT_ERR_COUNT);
  EXPECT_EQ(with(count, most), TAUT_ERR_COUNT);
  EXPECT_EQ(with(std::numeric_limits<MPI_Count>::max(), 1), TAUT_ERR_COUNT);

  const ValueBlocks none, lacks_places{std::vector<MPI_Count>(ranks, 0), std::vector<MPI_Aint>(ranks + 1)};
  EXPECT_EQ(status_of([&] { comm.allgatherv(in, out, none); }), TAUT_ERR_COUNT);
  EXPECT_EQ(status_of([&] { comm.alltoallv(in, lacks_places, out, lacks_places); }), TAUT_ERR_COUNT);
  EXPECT_EQ(status_of([&] { comm.reduce_scatter(in, out, std::vector<MPI_Count>(ranks + 1)); }),
            TAUT_ERR_COUNT);
  EXPECT_EQ(status_of([&] { (void)comm.iscan(in, out); }), ranks == 1 ? TAUT_SUCCESS : TAUT_ERR_COUNT);
  out.pop_back();
  EXPECT_EQ(status_of([&] { (void)comm.allgather_init(in, out); }), TAUT_ERR_COUNT);
  EXPECT_EQ(status_of([&] { (void)comm.ialltoall(in, out); }), TAUT_ERR_COUNT);
  EXPECT_EQ(status_of([&] { (void)comm.neighbor_allgatherv_init(in, out, none); }), TAUT_ERR_ARGUMENT);
}

TEST_F(CxxForms, OnlyPersistentCallsAreStarted) {
  MPI_Errhandler usual;
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &usual);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  std::vector<float> values_of_all(n);
  EXPECT_EQ(status_of([] { Request().start(); }), TAUT_ERR_ARGUMENT);
  Request call = comm.allreduce_init(values_of_all);
  call.start();
  EXPECT_EQ(status_of([&] { call.start(); }), TAUT_ERR_ARGUMENT);
  call.wait();
  MPI_Comm_set_errhandler(MPI_COMM_SELF, usual);
  MPI_Errhandler_free(&usual);
}

}  // namespace cxx_forms_test
