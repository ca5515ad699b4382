#include "communication/mpi/describe.hpp"

#include "communication/mpi/average.hpp"
#include "communication/mpi/call_buffers.hpp"
#include "communication/mpi/datatypes.hpp"
#include "communication/mpi/neighbour_calls.hpp"

namespace taut::api {
namespace {

using Described = std::optional<CollectiveCall>;

// Returns the bytes of `blocks` blocks of `count` elements; nothing if MPI has to report an error in the
// arguments.
std::optional<std::size_t> message_bytes(MPI_Count count, MPI_Datatype type, int blocks) {
  int element = 0;
  std::size_t bytes = 0;
  if (count < 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &element) != MPI_SUCCESS || element < 0)
    return {};
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), static_cast<std::size_t>(element), &bytes))
    return {};
  if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(blocks), &bytes)) return {};
  return bytes;
}

// ---- Reductions

template <class S, class Void>
S slice(Void* data, MPI_Count count, DType type) noexcept {
  return {{data, static_cast<std::size_t>(count), type}};
}

// Describes a reduction. `in` holds `blocks` blocks of `count` elements each, `out` holds one block.
Described reduction(const MpiCall& call, const void* in, void* out, MPI_Count count, int blocks) {
  const auto reducing = known_reduction(call.recv.type, call.op);
  const auto bytes = message_bytes(count, call.recv.type, blocks);
  if (!bytes) return {};
  if (!reducing) return CollectiveCall{call.info().collective, {}, *bytes, false};
  const Operands data{slice<ConstSlice>(in, count * blocks, reducing->type),
                      slice<Slice>(out, count, reducing->type), reducing->op};
  CollectiveCall made{call.info().collective, data, *bytes};
  made.mean = reducing->mean;
  return made;
}

const void* reduced(const MpiCall& call) noexcept {
  return call.send.at == MPI_IN_PLACE ? call.recv.at : call.send.at;
}

Described rooted_reduction(const MpiCall& call, const RankAndSize& group) {
  const bool at_root = group.rank == call.root;
  Described made = reduction(call, at_root ? reduced(call) : call.send.at,
                             at_root ? call.recv.writable() : nullptr, call.recv.count, 1);
  if (made) made->data.root = call.root;
  return made;
}

// Describes MPI_Scan or MPI_Exscan, for which the mean is not defined.
Described prefix(const MpiCall& call) {
  if (is_average(call.op)) return {};
  return reduction(call, reduced(call), call.recv.writable(), call.recv.count, 1);
}

// Describes MPI_Exscan, in which rank 0 receives nothing.
Described exclusive_prefix(const MpiCall& call, const RankAndSize& group) {
  Described made = prefix(call);
  if (made && group.rank == 0) {
    made->data.out.data = nullptr;
    made->data.out.count = 0;
  }
  return made;
}

// Describes MPI_Reduce_scatter, whose blocks may have different sizes.
Described reduction_to_blocks(const MpiCall& call, const RankAndSize& group) {
  const Layout layout = layout_of(call.recv.counts, nullptr, group.size);
  if (layout == nullptr) return {};
  const auto all = static_cast<MPI_Count>(values_of(*layout));
  Described made = reduction(call, reduced(call), call.recv.writable(), all, 1);
  if (!made || !made->coded()) return made;
  Operands& data = made->data;
  data.in.layout = layout.get();
  data.out.count = layout->counts[group.index()];
  if (call.send.at == MPI_IN_PLACE) {  // moved at the end: other segments still need the blocks at the front
    made->move_to = call.recv.writable();
    data.out.data = data.out.address(layout->offsets[group.index()]);
  }
  made->layouts[0] = layout;
  return made;
}

// ---- Data movement

// Describes a call that sends every rank's block to every rank, or to the root.
Described gathering(const MpiCall& call, const RankAndSize& group) {
  const bool has_counts = call.info().has_counts, rooted = call.info().has_root;
  const bool receives = !rooted || group.rank == call.root;
  std::optional<std::size_t> bytes = has_counts ? std::size_t{0}
                                     : receives ? message_bytes(call.recv.count, call.recv.type, group.size)
                                                : message_bytes(call.send.count, call.send.type, group.size);
  if (!bytes) return {};
  CallBuffers buffers;
  if (receives) {
    buffers.out = call_buffer(call.recv, has_counts, group.size);
    if (!buffers.out) return {};
  }
  buffers.send(call.send.at, call.send.count, call.send.type, CallBuffers::Source::own_block_of_out);
  if (has_counts) bytes = bytes_of_all(receives ? *buffers.out : *buffers.in);
  if (!bytes) return {};
  return describe_data_movement(call.info().collective, group, std::move(buffers), rooted ? call.root : 0,
                                *bytes, !(has_counts && rooted));
}

Described scattering(const MpiCall& call, const RankAndSize& group) {
  const bool has_counts = call.info().has_counts, at_root = group.rank == call.root;
  const BufferArg& told = at_root ? call.send : call.recv;
  std::optional<std::size_t> bytes =
      has_counts ? std::size_t{0} : message_bytes(told.count, told.type, group.size);
  if (!bytes) return {};
  CallBuffers buffers;
  if (at_root) {
    buffers.in = call_buffer(call.send, has_counts, group.size);
    if (!buffers.in) return {};
  }
  if (!at_root || call.recv.at != MPI_IN_PLACE)
    buffers.out = CallBuffer(call.recv.at, call.recv.count, call.recv.type);
  if (has_counts) bytes = bytes_of_all(buffers.in ? *buffers.in : *buffers.out);
  if (!bytes) return {};
  return describe_data_movement(Collective::scatter, group, std::move(buffers), call.root, *bytes,
                                !has_counts);
}

Described exchange(const MpiCall& call, const RankAndSize& group) {
  const bool has_counts = call.info().has_counts, in_place = call.send.at == MPI_IN_PLACE;
  std::optional<std::size_t> bytes =
      has_counts ? std::size_t{0} : message_bytes(call.recv.count, call.recv.type, group.size);
  if (!bytes) return {};
  CallBuffers buffers{.in = {},
                      .out = call_buffer(call.recv, has_counts, group.size),
                      .source = CallBuffers::Source::all_of_out};
  if (!buffers.out) return {};
  if (has_counts) bytes = bytes_of_all(*buffers.out);
  if (!in_place) {
    buffers.in = call_buffer(call.send, has_counts, group.size);
    if (!buffers.in) return {};
    buffers.source = CallBuffers::Source::in;
    if (has_counts) bytes = std::max(bytes, bytes_of_all(*buffers.in));
  }
  if (!bytes) return {};
  return describe_data_movement(Collective::alltoall, group, std::move(buffers), 0, *bytes, !has_counts);
}

Described exchange_with_neighbours(const MpiCall& call, const RankAndSize& group, const Topology& topology) {
  std::optional<CallBuffers> buffers = neighbour_buffers(call, topology);
  if (!buffers) return {};
  const auto sent = bytes_of_all(*buffers->in), received = bytes_of_all(*buffers->out);
  const bool known =
      topology.same_degrees && !call.info().has_counts;  // the blocks of all ranks have one size
  const auto bytes =
      known ? message_bytes(call.recv.count, call.recv.type, topology.degrees.in) : std::max(sent, received);
  if (!sent || !received || !bytes) return {};
  Described made =
      describe_data_movement(call.info().collective, group, std::move(*buffers), 0, *bytes, known);
  made->data.neighbours = &topology.neighbours;
  return made;
}

Described broadcast(const MpiCall& call, const RankAndSize& group) {
  const auto bytes = message_bytes(call.recv.count, call.recv.type, 1);
  if (!bytes) return {};
  const auto source = group.rank == call.root ? CallBuffers::Source::all_of_out : CallBuffers::Source::in;
  return describe_data_movement(Collective::bcast, group,
                                {{}, CallBuffer(call.recv.at, call.recv.count, call.recv.type), source},
                                call.root, *bytes);
}

// Returns true if MPI_IN_PLACE stands where MPI does not allow it.
bool misplaces_in_place(const MpiCall& call, const RankAndSize& group) noexcept {
  const bool at_root = group.rank == call.root;
  const bool sends_in_place = call.send.at == MPI_IN_PLACE, receives_in_place = call.recv.at == MPI_IN_PLACE;
  switch (call.info().collective) {
    case Collective::bcast: return receives_in_place;
    case Collective::scatter: return at_root ? sends_in_place : receives_in_place;
    case Collective::gather:
    case Collective::reduce: return at_root ? receives_in_place : sends_in_place;
    case Collective::neighbor_allgather:
    case Collective::neighbor_alltoall: return sends_in_place || receives_in_place;
    default: return receives_in_place;
  }
}

// Returns true if the values that a call sends overlap those that it receives. Where both sides have blocks,
// each block is compared with its counterpart.
bool overlap(const Operands& data) noexcept {
  if (data.in.data == nullptr || data.out.data == nullptr) return false;
  const auto blocks = [](const auto& side) {
    return side.layout != nullptr ? side.layout->counts.size() : std::size_t{1};
  };
  const std::size_t in = blocks(data.in), out = blocks(data.out);
  const std::size_t pairs = in == 1 || out == 1 ? std::max(in, out) : std::min(in, out);
  for (std::size_t i = 0; i < pairs && in != 0 && out != 0; ++i)
    if (overlap(data.in.at(in == 1 ? 0 : i, in), ConstSlice(data.out.at(out == 1 ? 0 : i, out)))) return true;
  return false;
}

Described describe_arguments(const MpiCall& call, const RankAndSize& group, const Topology* topology) {
  if (call.info().has_root && !group.has(call.root)) return {};
  if (misplaces_in_place(call, group)) return {};
  if (of_neighbours(call.info().collective))
    return topology != nullptr ? exchange_with_neighbours(call, group, *topology) : Described{};
  switch (call.info().collective) {
    case Collective::allreduce:
      return reduction(call, reduced(call), call.recv.writable(), call.recv.count, 1);
    case Collective::reduce_scatter:
      if (call.info().has_counts) return reduction_to_blocks(call, group);
      return reduction(call, reduced(call), call.recv.writable(), call.recv.count, group.size);
    case Collective::scan: return prefix(call);
    case Collective::exscan: return exclusive_prefix(call, group);
    case Collective::reduce: return rooted_reduction(call, group);
    case Collective::bcast: return broadcast(call, group);
    case Collective::allgather:
    case Collective::gather: return gathering(call, group);
    case Collective::scatter: return scattering(call, group);
    case Collective::alltoall: return exchange(call, group);
    default: return {};  // messages
  }
}

}  // namespace

Described describe(const MpiCall& call, const RankAndSize& group, const Topology* topology) {
  Described made = describe_arguments(call, group, topology);
  if (!made) return made;
  made->site = call.site;
  if (call.send.at != nullptr && call.send.at != MPI_IN_PLACE && call.recv.at != MPI_IN_PLACE)
    made->overlaps = overlap(made->data);
  return made;
}

}  // namespace taut::api
