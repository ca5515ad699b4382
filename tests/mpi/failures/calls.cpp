#include "mpi/failures/calls.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace taut::test {
namespace {

const std::vector<Call> reductions{
    {"Iallreduce", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Iallreduce(b.in.data(), b.out.data(), count, MPI_FLOAT, MPI_SUM, on, request);
     }},
    {"Ireduce_scatter_block", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Ireduce_scatter_block(b.in.data(), b.out.data(), count, MPI_FLOAT, MPI_SUM, on, request);
     }},
    {"Ireduce_scatter", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Ireduce_scatter(b.in.data(), b.out.data(), b.counts.data(), MPI_FLOAT, MPI_SUM, on,
                                   request);
     }},
    {"Ireduce", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Ireduce(b.in.data(), b.out.data(), count, MPI_FLOAT, MPI_SUM, 0, on, request);
     }},
    {"Iscan", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Iscan(b.in.data(), b.out.data(), count, MPI_FLOAT, MPI_SUM, on, request);
     }},
    {"Iexscan", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Iexscan(b.in.data(), b.out.data(), count, MPI_FLOAT, MPI_SUM, on, request);
     }},
};

const std::vector<Call> moves{
    {"Iallgather", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Iallgather(b.in.data(), count, MPI_FLOAT, b.out.data(), count, MPI_FLOAT, on, request);
     }},
    {"Ialltoall", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Ialltoall(b.in.data(), count, MPI_FLOAT, b.out.data(), count, MPI_FLOAT, on, request);
     }},
    {"Ibcast", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Ibcast(b.in.data(), count, MPI_FLOAT, 0, on, request);
     }},
    {"Igather", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Igather(b.in.data(), count, MPI_FLOAT, b.out.data(), count, MPI_FLOAT, 0, on, request);
     }},
    {"Iscatter", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Iscatter(b.in.data(), count, MPI_FLOAT, b.out.data(), count, MPI_FLOAT, 0, on, request);
     }},
};

const std::vector<Call> blocks{
    {"Iallgatherv", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Iallgatherv(b.in.data(), count, MPI_FLOAT, b.out.data(), b.counts.data(), b.displs.data(),
                               MPI_FLOAT, on, request);
     }},
    {"Ialltoallv", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Ialltoallv(b.in.data(), b.counts.data(), b.displs.data(), MPI_FLOAT, b.out.data(),
                              b.counts.data(), b.displs.data(), MPI_FLOAT, on, request);
     }},
    {"Ialltoallw", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Ialltoallw(b.in.data(), b.counts.data(), b.bytes.data(), b.types.data(), b.out.data(),
                              b.counts.data(), b.bytes.data(), b.types.data(), on, request);
     }},
    {"Igatherv", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Igatherv(b.in.data(), count, MPI_FLOAT, b.out.data(), b.counts.data(), b.displs.data(),
                            MPI_FLOAT, 0, on, request);
     }},
    {"Iscatterv", false,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Iscatterv(b.in.data(), b.counts.data(), b.displs.data(), MPI_FLOAT, b.out.data(), count,
                             MPI_FLOAT, 0, on, request);
     }},
};

const std::vector<Call> neighbors{
    {"Ineighbor_allgather", true,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Ineighbor_allgather(b.in.data(), count, MPI_FLOAT, b.out.data(), count, MPI_FLOAT, on,
                                       request);
     }},
    {"Ineighbor_allgatherv", true,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Ineighbor_allgatherv(b.in.data(), count, MPI_FLOAT, b.out.data(), b.counts.data(),
                                        b.displs.data(), MPI_FLOAT, on, request);
     }},
    {"Ineighbor_alltoall", true,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Ineighbor_alltoall(b.in.data(), count, MPI_FLOAT, b.out.data(), count, MPI_FLOAT, on,
                                      request);
     }},
    {"Ineighbor_alltoallv", true,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Ineighbor_alltoallv(b.in.data(), b.counts.data(), b.displs.data(), MPI_FLOAT, b.out.data(),
                                       b.counts.data(), b.displs.data(), MPI_FLOAT, on, request);
     }},
    {"Ineighbor_alltoallw", true,
     [](Buffers& b, MPI_Comm on, TAUT_Request* request) {
       return TAUT_Ineighbor_alltoallw(b.in.data(), b.counts.data(), b.bytes.data(), b.types.data(),
                                       b.out.data(), b.counts.data(), b.bytes.data(), b.types.data(), on,
                                       request);
     }},
};

}  // namespace

Buffers::Buffers(int ranks) {
  const std::size_t blocks = static_cast<std::size_t>(std::max(ranks, 2));  // a ring has two neighbours
  in.resize(count * blocks);
  out.resize(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = std::sin(1e-3f * static_cast<float>(i % count));
  for (std::size_t block = 0; block < blocks; ++block) {
    counts.push_back(count);
    displs.push_back(static_cast<MPI_Aint>(block * count));
    bytes.push_back(static_cast<MPI_Aint>(block * count * sizeof(float)));
    types.push_back(MPI_FLOAT);
  }
}

const std::vector<Call>& calls_of(std::string_view set) {
  static const std::vector<Call> none;
  if (set == "reductions") return reductions;
  if (set == "moves") return moves;
  if (set == "blocks") return blocks;
  return set == "neighbors" ? neighbors : none;
}

}  // namespace taut::test
