#include "communication/mpi/neighbour_calls.hpp"

#include "communication/mpi/pmpi_counts.hpp"
#include "communication/team/transport.hpp"

namespace taut::api {
namespace {

constexpr int tag = lanes;  // follows the tags of Taut's own messages

// Returns the blocks with these numbers; nothing if MPI has to report an error.
std::optional<CallBuffer> blocks_of(const BufferArg& buffer, bool has_counts,
                                    const std::vector<std::size_t>& numbers) {
  const bool lacks_arrays = has_counts && (buffer.counts == nullptr || buffer.displs == nullptr);
  if (lacks_arrays && !numbers.empty()) return {};
  auto layout = std::make_shared<BlockLayout>();
  std::vector<MPI_Datatype> types;
  for (const std::size_t i : numbers) {
    const MPI_Count count = has_counts ? buffer.counts[i] : buffer.count;
    if (count < 0) return {};
    layout->counts.push_back(static_cast<std::size_t>(count));
    layout->offsets.push_back(has_counts ? buffer.displs[i] : static_cast<std::ptrdiff_t>(i) * count);
    if (buffer.types != nullptr) types.push_back(buffer.types[i]);
  }
  if (buffer.types == nullptr) return CallBuffer(buffer.at, std::move(layout), buffer.type);
  return CallBuffer(buffer.at, std::move(layout), std::move(types));
}

// Starts a send or a receive for each block. `buffer` may hold one block, for all neighbours.
template <class Start>
int start_each(const CallBuffer& buffer, const std::vector<int>& ranks, MPI_Comm comm,
               std::vector<MPI_Request>& requests, Start start) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::size_t block = buffer.blocks != nullptr ? i : 0;
    const MPI_Count count = buffer.count_of(block, 1);
    if (!pmpi::fits(count)) return raise(comm, MPI_ERR_COUNT);
    const int code = start(buffer.address_of(block, 1), pmpi::count(count), buffer.type_of(block), ranks[i],
                           tag, comm, &requests.emplace_back(MPI_REQUEST_NULL));
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace

std::optional<CallBuffers> neighbour_buffers(const MpiCall& call, const Topology& topology) {
  const FunctionInfo& info = call.info();
  CallBuffers buffers;
  buffers.out = blocks_of(call.recv, info.has_counts, topology.from_blocks);
  if (info.collective == Collective::neighbor_alltoall)
    buffers.in = blocks_of(call.send, info.has_counts, topology.to_blocks);
  else if (call.send.count >= 0)
    buffers.in = CallBuffer(call.send.at, call.send.count, call.send.type);
  if (!buffers.in || !buffers.out) return {};
  return buffers;
}

int NeighbourMessages::start(const MpiCall& call, const Topology& topology, MPI_Comm comm) {
  started_ = true;
  requests_.clear();
  const std::optional<CallBuffers> buffers = neighbour_buffers(call, topology);
  if (!buffers) return raise(comm, MPI_ERR_ARG);
  const Neighbours& neighbours = topology.neighbours;
  const int code = start_each(*buffers->out, neighbours.from, comm, requests_,
                              [](auto... arguments) { return TAUT_PMPI(Irecv)(arguments...); });
  if (code != MPI_SUCCESS) return code;
  return start_each(*buffers->in, neighbours.to, comm, requests_,
                    [](auto... arguments) { return TAUT_PMPI(Isend)(arguments...); });
}

int NeighbourMessages::test(int& complete) {
  return PMPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &complete, MPI_STATUSES_IGNORE);
}

int NeighbourMessages::wait() {
  return PMPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

}  // namespace taut::api
