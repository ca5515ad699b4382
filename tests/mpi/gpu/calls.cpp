#include "mpi/gpu/calls.hpp"

namespace taut::test {
namespace {

void add_reductions(std::vector<Calls>& all, int ranks) {
  const auto with = [](MPI_Op op) {
    return [op](float* in, float* out) { return std::tuple(in, out, count, MPI_FLOAT, op); };
  };
  all.push_back(calls("Allreduce", TAUT_Allreduce, TAUT_Iallreduce, TAUT_Allreduce_init, with(MPI_SUM)));
  all.push_back(
      calls("Allreduce of means", TAUT_Allreduce, TAUT_Iallreduce, TAUT_Allreduce_init, with(TAUT_Avg())));
  all.push_back(
      calls("Allreduce of maxima", TAUT_Allreduce, TAUT_Iallreduce, TAUT_Allreduce_init, with(MPI_MAX)));
  all.push_back(calls("Scan", TAUT_Scan, TAUT_Iscan, TAUT_Scan_init, with(MPI_SUM)));
  all.push_back(calls("Exscan", TAUT_Exscan, TAUT_Iexscan, TAUT_Exscan_init, with(MPI_SUM)));
  all.push_back(calls("Reduce", TAUT_Reduce, TAUT_Ireduce, TAUT_Reduce_init, [=](float* in, float* out) {
    return std::tuple(in, out, count, MPI_FLOAT, MPI_SUM, ranks - 1);
  }));
  all.push_back(calls("Reduce_scatter_block", TAUT_Reduce_scatter_block, TAUT_Ireduce_scatter_block,
                      TAUT_Reduce_scatter_block_init, with(MPI_MIN)));
  // In place the blocks move to the front of the buffer, over each other.
  all.push_back(calls("Reduce_scatter", TAUT_Reduce_scatter, TAUT_Ireduce_scatter, TAUT_Reduce_scatter_init,
                      [sizes = Blocks(ranks, 170)](float*, float* out) {
                        return std::tuple(MPI_IN_PLACE, out, sizes.counts.data(), MPI_FLOAT, MPI_SUM);
                      }));
}

void add_gathers(std::vector<Calls>& all, int rank, int ranks) {
  const Blocks blocks(ranks);
  const MPI_Count own = blocks.counts[static_cast<std::size_t>(rank)];
  all.push_back(calls("Bcast", TAUT_Bcast, TAUT_Ibcast, TAUT_Bcast_init,
                      [](float*, float* out) { return std::tuple(out, count, MPI_FLOAT, 0); }));
  all.push_back(
      calls("Allgather", TAUT_Allgather, TAUT_Iallgather, TAUT_Allgather_init,
            [](float* in, float* out) { return std::tuple(in, count, MPI_FLOAT, out, count, MPI_FLOAT); }));
  all.push_back(calls(
      "Allgatherv", TAUT_Allgatherv, TAUT_Iallgatherv, TAUT_Allgatherv_init, [=](float* in, float* out) {
        return std::tuple(in, own, MPI_FLOAT, out, blocks.counts.data(), blocks.places.data(), MPI_FLOAT);
      }));
  all.push_back(calls("Gather", TAUT_Gather, TAUT_Igather, TAUT_Gather_init, [](float* in, float* out) {
    return std::tuple(in, count, MPI_FLOAT, out, count, MPI_FLOAT, 1);
  }));
  all.push_back(calls("Gatherv", TAUT_Gatherv, TAUT_Igatherv, TAUT_Gatherv_init, [=](float* in, float* out) {
    return std::tuple(in, own, MPI_FLOAT, out, blocks.counts.data(), blocks.places.data(), MPI_FLOAT, 0);
  }));
  all.push_back(calls("Scatter", TAUT_Scatter, TAUT_Iscatter, TAUT_Scatter_init, [](float* in, float* out) {
    return std::tuple(in, count, MPI_FLOAT, out, count, MPI_FLOAT, 0);
  }));
  all.push_back(
      calls("Scatterv", TAUT_Scatterv, TAUT_Iscatterv, TAUT_Scatterv_init, [=](float* in, float* out) {
        return std::tuple(in, blocks.counts.data(), blocks.places.data(), MPI_FLOAT, out, own, MPI_FLOAT, 0);
      }));
}

// The three exchanges. Each pair of ranks agrees on the size of its blocks: all blocks have the same one.
template <class... Functions>
void add_exchanges(std::vector<Calls>& all, const std::string& prefix, int blocks, Functions... functions) {
  const std::tuple of(functions...);
  const Blocks to(blocks, 0);
  all.push_back(
      calls(prefix + "alltoall", std::get<0>(of), std::get<1>(of), std::get<2>(of),
            [](float* in, float* out) { return std::tuple(in, count, MPI_FLOAT, out, count, MPI_FLOAT); }));
  all.push_back(calls(prefix + "alltoallv", std::get<3>(of), std::get<4>(of), std::get<5>(of),
                      [=](float* in, float* out) {
                        return std::tuple(in, to.counts.data(), to.places.data(), MPI_FLOAT, out,
                                          to.counts.data(), to.places.data(), MPI_FLOAT);
                      }));
  all.push_back(calls(prefix + "alltoallw", std::get<6>(of), std::get<7>(of), std::get<8>(of),
                      [=](float* in, float* out) {
                        return std::tuple(in, to.counts.data(), to.bytes.data(), to.types.data(), out,
                                          to.counts.data(), to.bytes.data(), to.types.data());
                      }));
}

}  // namespace

std::vector<Calls> calls_of_ranks(int rank, int ranks) {
  std::vector<Calls> all;
  add_reductions(all, ranks);
  add_gathers(all, rank, ranks);
  add_exchanges(all, "", ranks, TAUT_Alltoall, TAUT_Ialltoall, TAUT_Alltoall_init, TAUT_Alltoallv,
                TAUT_Ialltoallv, TAUT_Alltoallv_init, TAUT_Alltoallw, TAUT_Ialltoallw, TAUT_Alltoallw_init);
  return all;
}

std::vector<Calls> calls_of_neighbours() {
  std::vector<Calls> all;
  const Blocks both(2, 0);
  all.push_back(calls(
      "Neighbor_allgather", TAUT_Neighbor_allgather, TAUT_Ineighbor_allgather, TAUT_Neighbor_allgather_init,
      [](float* in, float* out) { return std::tuple(in, count, MPI_FLOAT, out, count, MPI_FLOAT); }));
  all.push_back(calls("Neighbor_allgatherv", TAUT_Neighbor_allgatherv, TAUT_Ineighbor_allgatherv,
                      TAUT_Neighbor_allgatherv_init, [=](float* in, float* out) {
                        return std::tuple(in, count, MPI_FLOAT, out, both.counts.data(), both.places.data(),
                                          MPI_FLOAT);
                      }));
  add_exchanges(all, "Neighbor_", 2, TAUT_Neighbor_alltoall, TAUT_Ineighbor_alltoall,
                TAUT_Neighbor_alltoall_init, TAUT_Neighbor_alltoallv, TAUT_Ineighbor_alltoallv,
                TAUT_Neighbor_alltoallv_init, TAUT_Neighbor_alltoallw, TAUT_Ineighbor_alltoallw,
                TAUT_Neighbor_alltoallw_init);
  return all;
}

}  // namespace taut::test
