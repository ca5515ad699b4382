// Communicators and data for the MPI tests. All ranks run every test together.
#pragma once

#include <gtest/gtest.h>
#include <taut/taut.h>

#include "support/group.hpp"

namespace taut::test {

inline int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of_comm(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

// Returns a communicator of the same ranks with a graph in which every rank is a neighbour of all ranks,
// itself included. The caller frees it.
inline MPI_Comm with_all_as_neighbours(MPI_Comm parent) {
  const int P = size_of_comm(parent);
  std::vector<int> all(static_cast<std::size_t>(P));
  for (int r = 0; r < P; ++r) all[static_cast<std::size_t>(r)] = r;
  const std::vector<int> weights(all.size(), 1);  // GCC warns of Open MPI's MPI_UNWEIGHTED
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(parent, P, all.data(), weights.data(), P, all.data(), weights.data(),
                                 MPI_INFO_NULL, 0, &made);
  return made;
}

// Returns such a communicator of all ranks, always the same one.
inline MPI_Comm world_of_neighbours() {
  static const MPI_Comm made = with_all_as_neighbours(MPI_COMM_WORLD);
  return made;
}

// A communicator for one test, which returns errors. It has the topology of its parent.
class Comm {
 public:
  explicit Comm(const char* policy = nullptr, MPI_Comm parent = world_of_neighbours()) {
    MPI_Comm_dup(parent, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    if (policy != nullptr) {
      EXPECT_EQ(TAUT_Comm_set_policy(comm_, policy), MPI_SUCCESS);
    }
  }
  explicit Comm(MPI_Comm owned, int) : comm_(owned) {}
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  ~Comm() { MPI_Comm_free(&comm_); }

  operator MPI_Comm() const { return comm_; }
  int rank() const { return rank_of(comm_); }
  int size() const { return size_of_comm(comm_); }
  TAUT_Stats stats() const {
    TAUT_Stats stats{};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(TAUT_Comm_get_stats(comm_, &stats), MPI_SUCCESS);
    return stats;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

inline MPI_Datatype mpi_type(DType type) {
  switch (type) {
    case DType::f64: return MPI_DOUBLE;
    case DType::c64: return MPI_C_FLOAT_COMPLEX;
    case DType::c128: return MPI_C_DOUBLE_COMPLEX;
    case DType::i8: return MPI_INT8_T;
    case DType::u16: return MPI_UINT16_T;
    case DType::i32: return MPI_INT;
    case DType::u64: return MPI_UINT64_T;
    default: return MPI_FLOAT;
  }
}
inline MPI_Op mpi_op(Reduction op) {
  return op == Reduction::sum ? MPI_SUM : op == Reduction::min ? MPI_MIN : MPI_MAX;
}

// Selects the blocking, nonblocking or persistent function of a call.
struct Mode {
  enum Kind { blocking, nonblocking, persistent } kind = blocking;
  TAUT_Request* request = nullptr;

  template <class Blocking, class Nonblocking, class Persistent, class... Arguments>
  int operator()(Blocking b, Nonblocking n, Persistent p, const Arguments&... arguments) const {
    if (kind == blocking) return b(arguments...);
    return kind == nonblocking ? n(arguments..., request) : p(arguments..., MPI_INFO_NULL, request);
  }
};

inline MPI_Op mpi_op(Reduction op, bool mean) { return mean ? TAUT_Avg() : mpi_op(op); }

// A buffer in the arguments of a call.
struct Argument {
  void* at;
  MPI_Count count;
  MPI_Datatype type;
};
// Argument of the job's own memory, unchanged.
struct InARow {
  Argument operator()(const void* at, MPI_Count values, MPI_Datatype type) const {
    return {const_cast<void*>(at), values, type};
  }
};

// Calls the TAUT_ function for a job's memory on this rank. `argument` maps an address in this memory and a
// number of values to the argument of the call; reductions take the memory as it is.
template <class Argument_of = InARow>
int call(Collective collective, Job& job, DType dtype, MPI_Op op, int root, bool in_place, MPI_Comm comm,
         Mode mode = {}, const Argument_of& argument = {}) {
  const int me = rank_of(comm), P = size_of_comm(comm);
  const auto total = static_cast<MPI_Count>(job.count()), own = total / P;
  const MPI_Datatype type = mpi_type(dtype);
  const auto r = static_cast<std::size_t>(me);
  void* const out = job.outputs[r].slice().data;
  const Operands data = job.operands(me);
  const bool only_at_root = collective == Collective::reduce || collective == Collective::gather;
  const bool takes_in_place = in_place && !of_neighbours(collective) && (!only_at_root || me == root);
  const void* const in = takes_in_place ? MPI_IN_PLACE : std::as_const(job.inputs[r]).slice().data;
  const void* const block = takes_in_place ? MPI_IN_PLACE : data.in.data;
  const auto move = [&](auto blocking, auto nonblocking, auto persistent, const void* from, void* to,
                        auto... rest) {
    const Argument sent = argument(from, own, type), received = argument(to, own, type);
    return mode(blocking, nonblocking, persistent, sent.at, sent.count, sent.type, received.at,
                received.count, received.type, rest..., comm);
  };
  switch (collective) {
    case Collective::allreduce:
      return mode(TAUT_Allreduce, TAUT_Iallreduce, TAUT_Allreduce_init, in, out, total, type, op, comm);
    case Collective::scan: return mode(TAUT_Scan, TAUT_Iscan, TAUT_Scan_init, in, out, total, type, op, comm);
    case Collective::exscan:
      return mode(TAUT_Exscan, TAUT_Iexscan, TAUT_Exscan_init, in, out, total, type, op, comm);
    case Collective::reduce_scatter:
      return mode(TAUT_Reduce_scatter_block, TAUT_Ireduce_scatter_block, TAUT_Reduce_scatter_block_init, in,
                  in_place ? out : data.out.data, own, type, op, comm);
    case Collective::allgather: return move(TAUT_Allgather, TAUT_Iallgather, TAUT_Allgather_init, block, out);
    case Collective::bcast: {
      const Argument all = argument(out, total, type);
      return mode(TAUT_Bcast, TAUT_Ibcast, TAUT_Bcast_init, all.at, all.count, all.type, root, comm);
    }
    case Collective::scatter:
      return move(TAUT_Scatter, TAUT_Iscatter, TAUT_Scatter_init, data.in.data,
                  me == root && in_place ? MPI_IN_PLACE : data.out.data, root);
    case Collective::reduce:
      return mode(TAUT_Reduce, TAUT_Ireduce, TAUT_Reduce_init, in, data.out.data, total, type, op, root,
                  comm);
    case Collective::gather:
      return move(TAUT_Gather, TAUT_Igather, TAUT_Gather_init, block, data.out.data, root);
    case Collective::alltoall: return move(TAUT_Alltoall, TAUT_Ialltoall, TAUT_Alltoall_init, in, out);
    case Collective::neighbor_allgather:
      return move(TAUT_Neighbor_allgather, TAUT_Ineighbor_allgather, TAUT_Neighbor_allgather_init, block,
                  out);
    case Collective::neighbor_alltoall:
      return move(TAUT_Neighbor_alltoall, TAUT_Ineighbor_alltoall, TAUT_Neighbor_alltoall_init, in, out);
    default: break;
  }
  return MPI_ERR_OTHER;
}

// Checks one rank's output of a job and compares it across the ranks. `in_place`: reduce_scatter leaves its
// block at the front. `mean`: the job computes the sum over P.
inline std::string check_here(Collective collective, Job& job, bool in_place, int rank, double bound,
                              int roundings, double* worst = nullptr, bool mean = false) {
  const auto P = static_cast<double>(job.inputs.size());
  Values& got = job.outputs[static_cast<std::size_t>(rank)];
  for (std::size_t i = 0; mean && i < got.numbers(); ++i) got.set(i, got.at(i) * P);
  if (mean) bound *= P, roundings += 2;
  if (collective == Collective::reduce_scatter && in_place) {
    const Range range = job.defined(rank);
    const std::size_t parts = components_of(got.type());
    for (std::size_t i = range.count * parts; i-- > 0;) got.set(range.first * parts + i, got.at(i));
  }
  return job.check(rank, bound, roundings, worst);
}

// Returns true if the results of a job have the same bits on all ranks, and the input of each rank in a call
// in place stays. `owners`: the input of each rank has the same bits as on the others instead.
inline bool same_on_all(const Job& job, MPI_Comm comm, bool owners = false) {
  const int rank = rank_of(comm);
  const Range owned = owners ? Range{0, 0} : job.owned(rank);
  const std::size_t blocks = job.inputs.size();  // of nearly equal size, as those of an allgather
  std::vector<std::uint64_t> mine(2 * blocks, ~std::uint64_t{0}), least(2 * blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    const Range block = part_range(job.count(), b, blocks);
    if (owned.count != 0 && owned.first <= block.first && block.first < owned.first + owned.count) continue;
    std::uint64_t hash = 0xCBF29CE484222325;
    const ConstSlice values{
        job.outputs[static_cast<std::size_t>(rank)].slice().part(block.first, block.count)};
    for (const std::byte byte : values.as_bytes())
      hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3;
    mine[2 * b] = hash, mine[2 * b + 1] = ~hash;
  }
  MPI_Allreduce(mine.data(), least.data(), static_cast<int>(2 * blocks), MPI_UINT64_T, MPI_MIN, comm);
  bool same = owners || job.input_stayed(rank);
  for (std::size_t b = 0; b < blocks && blocks > 1; ++b) same = same && least[2 * b] == ~least[2 * b + 1];
  return same;
}

}  // namespace taut::test
