#include "communication/mpi/pmpi.hpp"

#include "collective_pmpi.hpp"
#include "communication/mpi/average.hpp"
#include "communication/mpi/topology.hpp"

namespace taut::api {
namespace {

// Returns true if this rank is the root. In an intercommunicator, the root passes MPI_ROOT.
bool is_root(MPI_Comm comm, int root) {
  int rank = 0, inter = 0;
  if (comm == MPI_COMM_NULL) return false;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_rank(comm, &rank);
  return inter != 0 ? root == MPI_ROOT : rank == root;
}

bool asks_for_root(const MpiCall& call) noexcept {
  return call.info().send_at_root || call.info().recv_at_root;
}

// Returns an error code if plain MPI cannot make the call; otherwise MPI_SUCCESS.
int fault_of(const MpiCall& call, const PmpiArgs& args, MPI_Comm comm) {
  if (!args.send.fits() || !args.recv.fits()) return MPI_ERR_COUNT;
  const bool mean = args.op != call.op;
  if (!mean) return MPI_SUCCESS;
  const bool defined = !computes_prefixes(call.info().collective) && has_average(call.recv.type, comm);
  return defined ? MPI_SUCCESS : MPI_ERR_OP;
}

}  // namespace

BlockCounts blocks_of(const MpiCall& call, MPI_Comm comm) {
  if (!call.info().has_counts) return {};
  if (of_neighbours(call.info().collective)) {
    const Degrees degrees = degrees_of(comm);
    return {degrees.out, degrees.in};
  }
  const int blocks = block_count(comm);
  return {blocks, blocks};
}

PmpiArgs::PmpiArgs(const MpiCall& call, MPI_Comm comm)
    : PmpiArgs(call, Significance(call, asks_for_root(call) && is_root(comm, call.root)),
               pmpi::has_large_counts ? BlockCounts{} : blocks_of(call, comm)) {}

PmpiArgs::PmpiArgs(const MpiCall& call, const Significance& matters, BlockCounts blocks)
    : op(plain_operator(call.op)),
      send(call.send, blocks.send, matters.send, call.info().int_displs),
      recv(call.recv, blocks.recv, matters.recv, call.info().int_displs) {}

// Makes a blocking call of plain MPI. Flattened, because this function is most of Taut's overhead in a small
// plain call.
[[gnu::flatten]] int run_plain(const MpiCall& call) {
  const PmpiArgs args(call, call.comm);
  if (const int fault = fault_of(call, args, call.comm); fault != MPI_SUCCESS) return raise(call.comm, fault);
  const int code = pmpi_blocking(call, args, call.comm);
  if (code != MPI_SUCCESS || args.op == call.op) return code;
  return raise(call.comm, finish_plain(call, rank_and_size_of(call.comm)));
}

int start_plain(const MpiCall& call, const PmpiArgs& args, MPI_Comm comm, MPI_Request* request) {
  if (const int fault = fault_of(call, args, comm); fault != MPI_SUCCESS) return raise(comm, fault);
  return pmpi_nonblocking(call, args, comm, request);
}

int init_plain(const MpiCall& call, const PmpiArgs& args, MPI_Comm comm, MPI_Info info,
               MPI_Request* request) {
  if (const int fault = fault_of(call, args, comm); fault != MPI_SUCCESS) return raise(comm, fault);
  return pmpi_init(call, args, comm, info, request);
}

Failure finish_plain(const MpiCall& call, const RankAndSize& group) {
  const bool has_result = !call.info().has_root || group.rank == call.root;
  if (!is_average(call.op) || !has_result) return {};
  const MPI_Count count = call.info().has_counts ? call.recv.counts[group.rank] : call.recv.count;
  return divide(call.recv.writable(), count, call.recv.type, group.size);
}

}  // namespace taut::api
