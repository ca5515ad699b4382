#include "collectives.hpp"

#include <taut/taut.h>

#include <array>
#include <cstring>
#include <stdexcept>

namespace bench {
namespace {

int as_int(std::size_t count) { return static_cast<int>(count); }
MPI_Count as_count(std::size_t count) { return static_cast<MPI_Count>(count); }
std::size_t whole(const Call& call) { return call.count; }
std::size_t one_block(const Call& call) { return call.block(); }
std::size_t whole_at_root(const Call& call) { return call.rank == 0 ? call.count : 0; }
std::size_t whole_beside_root(const Call& call) { return call.rank == 0 ? 0 : call.count; }

double sum_of_first(int ranks, const Data& data, std::size_t i) {
  double sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += data.at(rank, i);
  return sum;
}
double all_ranks_sum(const Call& call, const Data& data, std::size_t i) {
  return sum_of_first(call.ranks, data, i);
}

// Least bytes that the busiest rank must send, with S bytes in the whole buffer and P ranks.
double twice_all_but_own(double S, int P) { return 2 * S * (P - 1) / P; }
double all_but_own(double S, int P) { return S * (P - 1) / P; }
double own_block(double S, int P) { return P > 1 ? S / P : 0; }
double everything(double S, int P) { return P > 1 ? S : 0; }

const std::array<Collective, 9> table{{
    {"allreduce", true, true,
     [](const Call& c) { MPI_Allreduce(c.send, c.receive, as_int(c.count), c.type, MPI_SUM, c.comm); },
     [](const Call& c) { TAUT_Allreduce(c.send, c.receive, as_count(c.count), c.type, MPI_SUM, c.comm); },
     whole, all_ranks_sum, twice_all_but_own},
    {"bcast", false, true, [](const Call& c) { MPI_Bcast(c.receive, as_int(c.count), c.type, 0, c.comm); },
     [](const Call& c) { TAUT_Bcast(c.receive, as_count(c.count), c.type, 0, c.comm); }, whole_beside_root,
     [](const Call&, const Data& data, std::size_t i) { return data.at(0, i); }, everything},
    {"allgather", false, true,
     [](const Call& c) {
       MPI_Allgather(c.send, as_int(c.block()), c.type, c.receive, as_int(c.block()), c.type, c.comm);
     },
     [](const Call& c) {
       TAUT_Allgather(c.send, as_count(c.block()), c.type, c.receive, as_count(c.block()), c.type, c.comm);
     },
     whole,
     [](const Call& c, const Data& data, std::size_t i) {
       return data.at(static_cast<int>(i / c.block()), i % c.block());
     },
     all_but_own},
    {"reduce_scatter_block", true, false,
     [](const Call& c) {
       MPI_Reduce_scatter_block(c.send, c.receive, as_int(c.block()), c.type, MPI_SUM, c.comm);
     },
     [](const Call& c) {
       TAUT_Reduce_scatter_block(c.send, c.receive, as_count(c.block()), c.type, MPI_SUM, c.comm);
     },
     one_block,
     [](const Call& c, const Data& data, std::size_t i) {
       return all_ranks_sum(c, data, i + static_cast<std::size_t>(c.rank) * c.block());
     },
     all_but_own},
    {"scan", true, false,
     [](const Call& c) { MPI_Scan(c.send, c.receive, as_int(c.count), c.type, MPI_SUM, c.comm); },
     [](const Call& c) { TAUT_Scan(c.send, c.receive, as_count(c.count), c.type, MPI_SUM, c.comm); }, whole,
     [](const Call& c, const Data& data, std::size_t i) { return sum_of_first(c.rank + 1, data, i); },
     everything},
    {"scatter", false, false,
     [](const Call& c) {
       MPI_Scatter(c.send, as_int(c.block()), c.type, c.receive, as_int(c.block()), c.type, 0, c.comm);
     },
     [](const Call& c) {
       TAUT_Scatter(c.send, as_count(c.block()), c.type, c.receive, as_count(c.block()), c.type, 0, c.comm);
     },
     one_block,
     [](const Call& c, const Data& data, std::size_t i) {
       return data.at(0, i + static_cast<std::size_t>(c.rank) * c.block());
     },
     all_but_own},
    {"reduce", true, false,
     [](const Call& c) { MPI_Reduce(c.send, c.receive, as_int(c.count), c.type, MPI_SUM, 0, c.comm); },
     [](const Call& c) { TAUT_Reduce(c.send, c.receive, as_count(c.count), c.type, MPI_SUM, 0, c.comm); },
     whole_at_root, all_ranks_sum, all_but_own},
    {"gather", false, false,
     [](const Call& c) {
       MPI_Gather(c.send, as_int(c.block()), c.type, c.receive, as_int(c.block()), c.type, 0, c.comm);
     },
     [](const Call& c) {
       TAUT_Gather(c.send, as_count(c.block()), c.type, c.receive, as_count(c.block()), c.type, 0, c.comm);
     },
     whole_at_root,
     [](const Call& c, const Data& data, std::size_t i) {
       return data.at(static_cast<int>(i / c.block()), i % c.block());
     },
     own_block},
    {"alltoall", false, false,
     [](const Call& c) {
       MPI_Alltoall(c.send, as_int(c.block()), c.type, c.receive, as_int(c.block()), c.type, c.comm);
     },
     [](const Call& c) {
       TAUT_Alltoall(c.send, as_count(c.block()), c.type, c.receive, as_count(c.block()), c.type, c.comm);
     },
     whole,
     [](const Call& c, const Data& data, std::size_t i) {
       return data.at(static_cast<int>(i / c.block()),
                      i % c.block() + static_cast<std::size_t>(c.rank) * c.block());
     },
     all_but_own},
}};

}  // namespace

std::span<const Collective> collectives() { return table; }

const Collective& find_collective(const std::string& name) {
  for (const Collective& one : table)
    if (name == one.name) return one;
  throw std::invalid_argument("unknown collective '" + name + "'");
}

}  // namespace bench
