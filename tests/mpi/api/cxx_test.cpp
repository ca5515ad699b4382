// Tests of taut.hpp, the calls of taut.h for C++. The test program also has the library's internal names,
// which must not collide with those of taut.hpp.
#include <gtest/gtest.h>
#include <taut/taut.hpp>

#include <array>
#include <cmath>
#include <limits>

namespace cxx_test {

using taut::Communicator, taut::Error, taut::Frame;

constexpr std::size_t n = 50000;
constexpr double bound = 1e-3;

template <class T>
std::vector<T> wave(int rank, std::size_t count = n) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(rank + std::sin(1e-3 * static_cast<double>(i)));
  return values;
}

template <class Call>
int status_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()), "");
    return error.status();
  }
  return TAUT_SUCCESS;
}

// ---- Frames

TEST(CxxFrames, ComeBackWithinTheBound) {
  const auto x = wave<double>(0);
  const Frame frame = taut::encode(x, "abs:1e-3");
  EXPECT_LT(frame.size(), 8 * n / 4);
  EXPECT_EQ(taut::info(frame).count, n);
  const auto y = taut::decode<double>(frame);
  for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(y[i], x[i], bound);
}

TEST(CxxFrames, OfAllTypesAreExactWithoutLoss) {
  const auto same = [](auto value) {
    const std::array<decltype(value), 3> x = {value, {}, value};
    std::array<decltype(value), 3> y{};
    taut::decode(taut::encode(x, "lossless"), y);
    EXPECT_EQ(x, y);
  };
  same(1.5F), same(-2.5), same(std::complex<float>(1, 2)), same(std::complex<double>(3, 4));
  same(std::int8_t{-1}), same(std::uint8_t{200}), same(short{-300}), same(std::uint16_t{60000});
  same(-1), same(7U), same(std::numeric_limits<long>::min()), same(~0ULL);
}

TEST(CxxFrames, AddUp) {
  const auto x = wave<float>(0), y = wave<float>(1);
  const auto sum = taut::decode<float>(taut::add(taut::encode(x, "abs:1e-3"), taut::encode(y, "abs:1e-3")));
  for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(sum[i], x[i] + y[i], 2 * bound + 1e-6);
}

TEST(CxxFrames, OfFieldsHaveExtents) {
  const auto x = wave<float>(0);
  EXPECT_EQ(taut::decode<float>(taut::encode(x, {200, 250}, "lossless")), x);
  EXPECT_EQ(status_of([&] { taut::encode(x, {200, 251}, "lossless"); }), TAUT_ERR_COUNT);
}

TEST(CxxFrames, ReferToEarlierArrays) {
  const std::vector<std::vector<double>> earlier{wave<double>(1)};
  const auto x = wave<double>(1);
  const Frame frame = taut::encode_with_references(x, "abs:1e-3", earlier);
  EXPECT_LT(2 * frame.size(), taut::encode(x, "abs:1e-3").size());
  EXPECT_EQ(taut::info(frame).reference_count, 1);
  std::vector<double> y(n);
  taut::decode_with_references(frame, earlier, y);
  EXPECT_EQ(y, taut::decode<double>(taut::encode(x, "abs:1e-3")));
  EXPECT_EQ(status_of([&] { taut::decode(frame, y); }), TAUT_ERR_FRAME);
  const std::vector<std::vector<double>> shorter{wave<double>(1, n - 1)};
  EXPECT_EQ(status_of([&] { taut::encode_with_references(x, "abs:1e-3", shorter); }), TAUT_ERR_COUNT);
}

TEST(CxxFrames, FaultsAreExceptions) {
  const auto x = wave<float>(0);
  EXPECT_EQ(status_of([&] { taut::encode(x, "abs:-1"); }), TAUT_ERR_POLICY);
  Frame frame = taut::encode(x, "lossless");
  EXPECT_EQ(status_of([&] { taut::decode<double>(frame); }), TAUT_ERR_FRAME_MISMATCH);
  frame.resize(frame.size() - 1);
  EXPECT_EQ(status_of([&] { taut::decode<float>(frame); }), TAUT_ERR_FRAME);
}

// ---- Collective calls

struct CxxCalls : testing::Test {
  Communicator comm{MPI_COMM_WORLD, "abs:1e-3,when=always,min_bytes=0"};
  const std::size_t ranks = static_cast<std::size_t>(comm.size());
  const std::vector<float> mine = wave<float>(comm.rank());

  // Value i of rank r; sum(i) is that over all ranks.
  static float value(std::size_t r, std::size_t i) {
    return static_cast<float>(static_cast<double>(r) + std::sin(1e-3 * static_cast<double>(i)));
  }
  double sum(std::size_t i) const {
    double total = 0;
    for (std::size_t r = 0; r < ranks; ++r) total += value(r, i);
    return total;
  }
  void expect_compressed(std::uint64_t calls) const {
    EXPECT_EQ(comm.stats().compressed_calls, comm.size() > 1 ? calls : 0);
  }
};

TEST_F(CxxCalls, Reduce) {
  std::vector<float> out(n), in_place = mine, at_root(comm.rank() == 0 ? n : 0);
  comm.allreduce(mine, out);
  comm.allreduce(in_place);
  EXPECT_EQ(out, in_place);
  comm.reduce(mine, at_root);
  for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(out[i], sum(i), bound + 1e-5);
  for (std::size_t i = 0; i < at_root.size(); ++i) ASSERT_NEAR(at_root[i], sum(i), bound + 1e-5);
  double prefix = 0;
  comm.scan(mine, out);
  for (std::size_t r = 0; r <= static_cast<std::size_t>(comm.rank()); ++r) prefix += value(r, 7);
  EXPECT_NEAR(out[7], prefix, bound + 1e-5);
  std::vector<float> before(n, -7);
  comm.exscan(mine, before);
  prefix -= value(static_cast<std::size_t>(comm.rank()), 7);
  EXPECT_NEAR(before[7], comm.rank() == 0 ? -7 : prefix, bound + 1e-5);
  comm.allreduce(mine, out, MPI_MAX);
  for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(out[i], value(ranks - 1, i), bound);
  expect_compressed(6);

  const auto blocks = wave<double>(comm.rank(), ranks * 1000);
  std::vector<double> block(1000);
  comm.reduce_scatter(blocks, block);
  const auto first = static_cast<std::size_t>(comm.rank()) * 1000;
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_NEAR(block[i], sum(first + i), bound + 1e-5);
}

TEST_F(CxxCalls, Move) {
  std::vector<float> all(ranks * n), at_root(comm.rank() == 0 ? ranks * n : 0), block(n);
  comm.allgather(mine, all);
  for (std::size_t i = 0; i < ranks * n; ++i) ASSERT_NEAR(all[i], value(i / n, i % n), bound);
  comm.gather(mine, at_root);
  for (std::size_t i = 0; i < at_root.size(); ++i) ASSERT_NEAR(at_root[i], value(i / n, i % n), bound);
  comm.scatter(at_root, block);
  for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(block[i], mine[i], 2 * bound);
  std::vector<float> exchanged(ranks * n);
  comm.alltoall(all, exchanged);
  for (std::size_t i = 0; i < ranks * n; ++i) ASSERT_NEAR(exchanged[i], mine[i % n], 2 * bound);
  comm.bcast(block, comm.size() - 1);
  for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(block[i], value(ranks - 1, i), 3 * bound);
}

TEST_F(CxxCalls, MoveTypedBlocks) {
  taut::TypedBlocks blocks;
  for (std::size_t r = 0; r < ranks; ++r) {
    blocks.counts.push_back(static_cast<MPI_Count>(n));
    blocks.displacements.push_back(static_cast<MPI_Aint>(r * n * sizeof(float)));
    blocks.types.push_back(MPI_FLOAT);
  }
  std::vector<float> all, exchanged(ranks * n);
  for (std::size_t r = 0; r < ranks; ++r) all.insert(all.end(), mine.begin(), mine.end());
  comm.alltoallw(all.data(), blocks, exchanged.data(), blocks);
  for (std::size_t i = 0; i < ranks * n; ++i) ASSERT_NEAR(exchanged[i], value(i / n, i % n), bound);
  blocks.types.pop_back();
  EXPECT_THROW(comm.alltoallw(all.data(), blocks, exchanged.data(), blocks), taut::Error);
}

TEST_F(CxxCalls, ReachNeighbours) {
  const int size = comm.size(), periodic = 1, before = (comm.rank() + size - 1) % size,
            after = (comm.rank() + 1) % size;
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &grid);
  {
    const taut::Communicator ring(grid, "abs:1e-3,min_bytes=0");
    std::vector<float> both(mine), got(2 * n);
    both.insert(both.end(), mine.rbegin(), mine.rend());
    ring.neighbor_alltoall(both, got);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_NEAR(got[i], value(static_cast<std::size_t>(before), n - 1 - i), bound);
      ASSERT_NEAR(got[n + i], value(static_cast<std::size_t>(after), i), bound);
    }
    ring.neighbor_allgather(mine, got);
    for (std::size_t i = 0; i < 2 * n; ++i)
      ASSERT_NEAR(got[i], value(static_cast<std::size_t>(i < n ? before : after), i % n), bound);
    taut::TypedBlocks blocks{{1, 1}, {0, static_cast<MPI_Aint>(n * sizeof(float))}, {MPI_FLOAT, MPI_FLOAT}};
    blocks.counts.assign(2, static_cast<MPI_Count>(n));
    ring.neighbor_alltoallw(both.data(), blocks, got.data(), blocks);
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_NEAR(got[n + i], value(static_cast<std::size_t>(after), i), bound);
    got.pop_back();
    EXPECT_THROW(ring.neighbor_alltoall(both, got), taut::Error);
    EXPECT_THROW(comm.neighbor_alltoall(both, got), taut::Error);  // without a topology
  }
  MPI_Comm_free(&grid);
}

TEST_F(CxxCalls, GoOnAsRequests) {
  std::vector<float> out(n), values = mine, field = mine;
  taut::Request sum_request = comm.iallreduce(mine, out), bcast = comm.ibcast(field);
  taut::Request in_place = comm.iallreduce(values);
  while (!bcast.test()) {
  }
  sum_request.wait();
  in_place = {};  // waits for the request that it replaces
  EXPECT_EQ(out, values);
  for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(field[i], value(0, i), bound);
}

TEST_F(CxxCalls, SendMessages) {
  const int next = (comm.rank() + 1) % comm.size(), before = (comm.rank() + comm.size() - 1) % comm.size();
  std::vector<float> in(n + 5), again(n);
  taut::Request sent = comm.isend(mine, next, 3), received = comm.irecv(again, before, 4);
  const MPI_Status status = comm.recv(in, before, 3);
  int count = 0;
  MPI_Get_count(&status, MPI_FLOAT, &count);
  EXPECT_EQ(count, static_cast<int>(n));
  comm.send(mine, next, 4);
  EXPECT_EQ(received.wait().MPI_TAG, 4);
  sent.wait();
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_NEAR(in[i], value(static_cast<std::size_t>(before), i), bound);
    ASSERT_EQ(again[i], in[i]);
  }
}

TEST_F(CxxCalls, FaultsAreExceptions) {
  std::vector<float> shorter(n - 1);
  EXPECT_EQ(status_of([&] { comm.allreduce(mine, shorter); }), TAUT_ERR_COUNT);
  EXPECT_EQ(status_of([&] { comm.allgather(mine, shorter); }), TAUT_ERR_COUNT);
  EXPECT_EQ(status_of([&] { comm.reduce_scatter(mine, shorter); }), TAUT_ERR_COUNT);
  EXPECT_EQ(status_of([&] { comm.set_policy("abs:0"); }), TAUT_ERR_POLICY);
  EXPECT_EQ(status_of([] { Communicator(MPI_COMM_WORLD, "abs"); }), TAUT_ERR_POLICY);
  comm.set_policy("abs:1,when=pays");  // an old spelling
  EXPECT_NE(comm.explain().find("when=profitable"), std::string::npos);
  comm.set_policy("off");
  EXPECT_NE(comm.explain().find("off"), std::string::npos);
}

}  // namespace cxx_test
