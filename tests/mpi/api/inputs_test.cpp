// Inputs in memory that must not be written to: pages under every buffer that a call reads are read-only. A
// write ends the test program.
#include <sys/mman.h>

#include "mpi/api/modes.hpp"

namespace taut::test {
namespace inputs_test {

// Floats in read-only pages.
class ReadOnly {
 public:
  ReadOnly(std::size_t count, float phase) : bytes_(count * sizeof(float)) {
    void* const pages = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(pages, MAP_FAILED);
    values_ = static_cast<float*>(pages);
    for (std::size_t i = 0; i < count; ++i) values_[i] = std::sin(phase + 1e-3F * static_cast<float>(i));
    mprotect(values_, bytes_, PROT_READ);
  }
  ReadOnly(const ReadOnly&) = delete;
  ~ReadOnly() { munmap(values_, bytes_); }

  float* data() const { return values_; }  // not const, as MPI_Bcast takes it

 private:
  std::size_t bytes_;
  float* values_ = nullptr;
};

using Parameters = std::tuple<const char*, Mode::Kind>;

class ReadOnlyInputs : public testing::TestWithParam<Parameters> {
 protected:
  static constexpr int n = 5000;  // values of a block

  // Makes the call twice by the function of the mode: blocking, nonblocking or persistent.
  template <class... Arguments>
  void expect_success(const Arguments&... functions_and_arguments) const {
    for (int i = 0; i < 2; ++i) {
      TAUT_Request request = TAUT_REQUEST_NULL;
      const Mode mode{std::get<1>(GetParam()), &request};
      EXPECT_EQ(complete(mode, mode(functions_and_arguments...)), MPI_SUCCESS);
    }
  }
  bool at_root() const { return me == root; }

  const Comm comm{(std::string(std::get<0>(GetParam())) + ",when=always,min_bytes=0").c_str()};
  const int me = comm.rank(), P = comm.size(), root = P - 1;
  const MPI_Count all = MPI_Count{n} * P;
  const ReadOnly memory{static_cast<std::size_t>(all), static_cast<float>(me)};
  float* const in = memory.data();
  std::vector<float> got = std::vector<float>(static_cast<std::size_t>(all));
  float* const out = got.data();
  const std::vector<MPI_Count> counts = std::vector<MPI_Count>(static_cast<std::size_t>(P), n);
  const std::vector<MPI_Aint> starts = [this] {
    std::vector<MPI_Aint> places(static_cast<std::size_t>(P));
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<MPI_Aint>(i) * n;
    return places;
  }();
  const std::vector<MPI_Aint> bytes = [this] {
    std::vector<MPI_Aint> places = starts;
    for (MPI_Aint& place : places) place *= static_cast<MPI_Aint>(sizeof(float));
    return places;
  }();
  const std::vector<MPI_Datatype> types = std::vector<MPI_Datatype>(static_cast<std::size_t>(P), MPI_FLOAT);
};

TEST_P(ReadOnlyInputs, OfReductions) {
  const MPI_Datatype type = MPI_FLOAT;
  const auto* const each = counts.data();
  expect_success(TAUT_Allreduce, TAUT_Iallreduce, TAUT_Allreduce_init, in, out, all, type, MPI_SUM, comm);
  expect_success(TAUT_Reduce, TAUT_Ireduce, TAUT_Reduce_init, in, out, all, type, MPI_MAX, root, comm);
  expect_success(TAUT_Scan, TAUT_Iscan, TAUT_Scan_init, in, out, all, type, MPI_SUM, comm);
  expect_success(TAUT_Exscan, TAUT_Iexscan, TAUT_Exscan_init, in, out, all, type, MPI_SUM, comm);
  expect_success(TAUT_Reduce_scatter_block, TAUT_Ireduce_scatter_block, TAUT_Reduce_scatter_block_init, in,
                 out, MPI_Count{n}, type, MPI_SUM, comm);
  expect_success(TAUT_Reduce_scatter, TAUT_Ireduce_scatter, TAUT_Reduce_scatter_init, in, out, each, type,
                 MPI_SUM, comm);
}

TEST_P(ReadOnlyInputs, OfMoves) {
  const MPI_Datatype type = MPI_FLOAT;
  const MPI_Count one = n;
  const auto* const each = counts.data();
  const auto* const first = starts.data();
  expect_success(TAUT_Bcast, TAUT_Ibcast, TAUT_Bcast_init, at_root() ? in : out, all, type, root, comm);
  expect_success(TAUT_Allgather, TAUT_Iallgather, TAUT_Allgather_init, in, one, type, out, one, type, comm);
  expect_success(TAUT_Allgatherv, TAUT_Iallgatherv, TAUT_Allgatherv_init, in, one, type, out, each, first,
                 type, comm);
  expect_success(TAUT_Gather, TAUT_Igather, TAUT_Gather_init, in, one, type, out, one, type, root, comm);
  expect_success(TAUT_Gatherv, TAUT_Igatherv, TAUT_Gatherv_init, in, one, type, out, each, first, type, root,
                 comm);
  expect_success(TAUT_Scatter, TAUT_Iscatter, TAUT_Scatter_init, in, one, type, out, one, type, root, comm);
  expect_success(TAUT_Scatterv, TAUT_Iscatterv, TAUT_Scatterv_init, in, each, first, type, out, one, type,
                 root, comm);
  expect_success(TAUT_Alltoall, TAUT_Ialltoall, TAUT_Alltoall_init, in, one, type, out, one, type, comm);
  expect_success(TAUT_Alltoallv, TAUT_Ialltoallv, TAUT_Alltoallv_init, in, each, first, type, out, each,
                 first, type, comm);
  expect_success(TAUT_Alltoallw, TAUT_Ialltoallw, TAUT_Alltoallw_init, in, each, bytes.data(), types.data(),
                 out, each, bytes.data(), types.data(), comm);
}

TEST_P(ReadOnlyInputs, OfNeighbours) {
  const MPI_Datatype type = MPI_FLOAT;
  const MPI_Count one = n;
  const auto* const each = counts.data();
  const auto* const first = starts.data();
  expect_success(TAUT_Neighbor_allgather, TAUT_Ineighbor_allgather, TAUT_Neighbor_allgather_init, in, one,
                 type, out, one, type, comm);
  expect_success(TAUT_Neighbor_allgatherv, TAUT_Ineighbor_allgatherv, TAUT_Neighbor_allgatherv_init, in, one,
                 type, out, each, first, type, comm);
  expect_success(TAUT_Neighbor_alltoall, TAUT_Ineighbor_alltoall, TAUT_Neighbor_alltoall_init, in, one, type,
                 out, one, type, comm);
  expect_success(TAUT_Neighbor_alltoallv, TAUT_Ineighbor_alltoallv, TAUT_Neighbor_alltoallv_init, in, each,
                 first, type, out, each, first, type, comm);
  expect_success(TAUT_Neighbor_alltoallw, TAUT_Ineighbor_alltoallw, TAUT_Neighbor_alltoallw_init, in, each,
                 bytes.data(), types.data(), out, each, bytes.data(), types.data(), comm);
}

// Values that are packed for the call: every second float.
TEST_P(ReadOnlyInputs, OfValuesWithGaps) {
  MPI_Datatype spread;
  MPI_Type_vector(n / 4, 1, 2, MPI_FLOAT, &spread);
  MPI_Type_commit(&spread);
  expect_success(TAUT_Bcast, TAUT_Ibcast, TAUT_Bcast_init, at_root() ? in : out, MPI_Count{1}, spread, root,
                 comm);
  expect_success(TAUT_Gather, TAUT_Igather, TAUT_Gather_init, in, MPI_Count{1}, spread, out, MPI_Count{n / 4},
                 MPI_FLOAT, root, comm);
  expect_success(TAUT_Allgather, TAUT_Iallgather, TAUT_Allgather_init, in, MPI_Count{1}, spread, out,
                 MPI_Count{n / 4}, MPI_FLOAT, comm);
  MPI_Type_free(&spread);
}

// The root's buffer may be in several broadcasts at once.
TEST_P(ReadOnlyInputs, OfBroadcastsAtTheSameTime) {
  std::vector<float> other(got.size());
  TAUT_Request requests[2];
  ASSERT_EQ(TAUT_Ibcast(at_root() ? in : out, all, MPI_FLOAT, root, comm, &requests[0]), MPI_SUCCESS);
  ASSERT_EQ(TAUT_Ibcast(at_root() ? in : other.data(), all, MPI_FLOAT, root, comm, &requests[1]),
            MPI_SUCCESS);
  EXPECT_EQ(TAUT_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(got, other);
}

TEST_P(ReadOnlyInputs, OfMessages) {
  const int to = (me + 1) % P, from = (me + P - 1) % P;
  TAUT_Request requests[2];
  ASSERT_EQ(TAUT_Sendrecv(in, all, MPI_FLOAT, to, 1, out, all, MPI_FLOAT, from, 1, comm, MPI_STATUS_IGNORE),
            MPI_SUCCESS);
  ASSERT_EQ(TAUT_Irecv(out, all, MPI_FLOAT, from, 2, comm, &requests[0]), MPI_SUCCESS);
  ASSERT_EQ(TAUT_Isend(in, all, MPI_FLOAT, to, 2, comm, &requests[1]), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  ASSERT_EQ(TAUT_Irecv(out, all, MPI_FLOAT, from, 3, comm, &requests[0]), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Send(in, all, MPI_FLOAT, to, 3, comm), MPI_SUCCESS);
  EXPECT_EQ(TAUT_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(All, ReadOnlyInputs,
                         testing::Combine(testing::Values("lossless,codec=mpc", "abs:1e-3", "rel:1e-4",
                                                          "abs:1e-3,nodes=on,algorithm=scatter_allgather"),
                                          testing::Values(Mode::blocking, Mode::nonblocking,
                                                          Mode::persistent)),
                         name_by_mode<Parameters>);

}  // namespace inputs_test
}  // namespace taut::test
