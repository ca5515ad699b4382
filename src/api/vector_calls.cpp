// Calls whose blocks are of any size.
#include "api/vector_calls.hpp"

#include <algorithm>

#include "api/datatypes.hpp"
#include "api/layouts.hpp"

namespace taut::api {
namespace {

int size_of_comm(MPI_Comm comm) {
  int size = 0, inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter != 0)
    PMPI_Comm_remote_size(comm, &size);
  else
    PMPI_Comm_size(comm, &size);
  return size;
}

// The arrays of one buffer; empty where they do not matter.
struct PlainBlocks {
  plain::Numbers<MPI_Count> counts;
  plain::Numbers<MPI_Aint> displacements;

  PlainBlocks(const VectorBlocks& blocks, int n, bool matters = true)
      : counts(matters ? blocks.counts : nullptr, n),
        displacements(matters ? blocks.displacements : nullptr, n) {}
  bool fit() const noexcept { return counts.fit() && displacements.fit(); }
};

DType values_of_type(MPI_Datatype type) noexcept { return dtype_of_mpi(type).value_or(DType::f32); }

Blocks<Slice> blocks(void* data, const Layout& layout, MPI_Datatype type) noexcept {
  return {Slice{{data, values_of(*layout), values_of_type(type)}}, layout.get()};
}
Blocks<ConstSlice> blocks(const void* data, const Layout& layout, MPI_Datatype type) noexcept {
  return {ConstSlice{{data, values_of(*layout), values_of_type(type)}}, layout.get()};
}

// What moves values of `type`, `values` of them here. `coded`: both buffers are of one type that is known.
Described describe_vector(Collective collective, MPI_Datatype type, bool same_types, std::size_t values,
                          bool bytes_known, Operands data) {
  const bool coded = same_types && dtype_of_mpi(type).has_value();
  const auto bytes = message_bytes(static_cast<MPI_Count>(values), type, 1);
  if (!bytes) return {};
  if (!coded) {
    const int root = data.root;
    data = {};
    data.root = root;
  }
  Request request{collective, data, *bytes, coded};
  request.bytes_known = bytes_known;
  return request;
}

}  // namespace

struct PlainArrays {
  PlainBlocks sent, received;

  bool fit() const noexcept { return sent.fit() && received.fit(); }
};

namespace {

// `arrays` of a call that is complete later.
const PlainArrays& keep(std::shared_ptr<const PlainArrays>& kept, PlainArrays arrays) {
  kept = std::make_shared<const PlainArrays>(std::move(arrays));
  return *kept;
}

}  // namespace

// ---- Allgatherv

Described Allgatherv::describe(const Group& group) const {
  const Layout layout = layout_of(received.counts, received.displacements, group.size);
  if (layout == nullptr) return {};
  const bool in_place = sendbuf == MPI_IN_PLACE;
  Operands data;
  data.out = blocks(recvbuf, layout, received.type);
  data.in = in_place ? ConstSlice(data.out.at(group.index(), group.count()))
                     : slice(sendbuf, received.counts[group.rank], values_of_type(received.type));
  const bool same = in_place || (sendtype == received.type && sendcount == received.counts[group.rank]);
  Described request =
      describe_vector(Collective::allgather, received.type, same, values_of(*layout), true, data);
  if (request) request->layouts[0] = layout;
  return request;
}

PlainArrays Allgatherv::arrays(MPI_Comm on) const {
  const int P = size_of_comm(on);
  return {{received, P, false}, {received, P}};
}

template <class Function, class... More>
int Allgatherv::pass(Function function, const PlainArrays& arrays, MPI_Comm on, More... more) const {
  const bool sends = sendbuf != MPI_IN_PLACE;
  if (!arrays.fit() || (sends && !plain::fits(sendcount))) return raise(on, MPI_ERR_COUNT);
  return function(sendbuf, plain::count(sendcount, sends), sendtype, recvbuf, arrays.received.counts.data(),
                  arrays.received.displacements.data(), received.type, on, more...);
}
int Allgatherv::plain() const { return pass(TAUT_PMPI(Allgatherv), arrays(comm), comm); }
int Allgatherv::start(MPI_Comm on, MPI_Request* request) {
  return pass(TAUT_PMPI(Iallgatherv), keep(kept, arrays(on)), on, request);
}
int Allgatherv::init(MPI_Info info, MPI_Request* request) {
  return pass(TAUT_PMPI_INIT(Allgatherv), keep(kept, arrays(comm)), comm, info, request);
}
Types Allgatherv::types(const Group&) noexcept {
  return {sendbuf != MPI_IN_PLACE ? &sendtype : nullptr, &received.type};
}

// ---- Gatherv

Described Gatherv::describe(const Group& group) const {
  if (!group.has(root)) return {};
  Operands data;
  data.root = root;
  if (group.rank != root) {
    if (sendcount < 0) return {};
    data.in = slice(sendbuf, sendcount, values_of_type(sendtype));
    data.out = Slice{{nullptr, 0, values_of_type(sendtype)}};
    return describe_vector(Collective::gather, sendtype, true, data.in.count, false, data);
  }
  const Layout layout = layout_of(received.counts, received.displacements, group.size);
  if (layout == nullptr) return {};
  const bool in_place = sendbuf == MPI_IN_PLACE;
  data.out = blocks(recvbuf, layout, received.type);
  data.in = in_place ? ConstSlice(data.out.at(group.index(), group.count()))
                     : slice(sendbuf, received.counts[root], values_of_type(received.type));
  const bool same = in_place || (sendtype == received.type && sendcount == received.counts[root]);
  Described request =
      describe_vector(Collective::gather, received.type, same, values_of(*layout), false, data);
  if (request) request->layouts[0] = layout;
  return request;
}

PlainArrays Gatherv::arrays(MPI_Comm on) const {
  const int P = size_of_comm(on);
  return {{received, P, false}, {received, P, is_root(on, root)}};
}

template <class Function, class... More>
int Gatherv::pass(Function function, const PlainArrays& arrays, MPI_Comm on, More... more) const {
  const bool sends = !is_root(on, root) || sendbuf != MPI_IN_PLACE;
  if (!arrays.fit() || (sends && !plain::fits(sendcount))) return raise(on, MPI_ERR_COUNT);
  return function(sendbuf, plain::count(sendcount, sends), sendtype, recvbuf, arrays.received.counts.data(),
                  arrays.received.displacements.data(), received.type, root, on, more...);
}
int Gatherv::plain() const { return pass(TAUT_PMPI(Gatherv), arrays(comm), comm); }
int Gatherv::start(MPI_Comm on, MPI_Request* request) {
  return pass(TAUT_PMPI(Igatherv), keep(kept, arrays(on)), on, request);
}
int Gatherv::init(MPI_Info info, MPI_Request* request) {
  return pass(TAUT_PMPI_INIT(Gatherv), keep(kept, arrays(comm)), comm, info, request);
}
Types Gatherv::types(const Group& group) noexcept {
  const bool at_root = group.rank == root;
  return {!at_root || sendbuf != MPI_IN_PLACE ? &sendtype : nullptr, at_root ? &received.type : nullptr};
}

// ---- Scatterv

Described Scatterv::describe(const Group& group) const {
  if (!group.has(root)) return {};
  Operands data;
  data.root = root;
  if (group.rank != root) {
    if (recvcount < 0) return {};
    data.out = slice(recvbuf, recvcount, values_of_type(recvtype));
    return describe_vector(Collective::scatter, recvtype, true, data.out.count, false, data);
  }
  const Layout layout = layout_of(sent.counts, sent.displacements, group.size);
  if (layout == nullptr) return {};
  const bool in_place = recvbuf == MPI_IN_PLACE;
  data.in = blocks(sendbuf, layout, sent.type);
  data.out = slice(in_place ? nullptr : recvbuf, sent.counts[root], values_of_type(sent.type));
  const bool same = in_place || (sent.type == recvtype && sent.counts[root] == recvcount);
  Described request = describe_vector(Collective::scatter, sent.type, same, values_of(*layout), false, data);
  if (request) request->layouts[0] = layout;
  return request;
}

PlainArrays Scatterv::arrays(MPI_Comm on) const {
  const int P = size_of_comm(on);
  return {{sent, P, is_root(on, root)}, {sent, P, false}};
}

template <class Function, class... More>
int Scatterv::pass(Function function, const PlainArrays& arrays, MPI_Comm on, More... more) const {
  const bool receives = !is_root(on, root) || recvbuf != MPI_IN_PLACE;
  if (!arrays.fit() || (receives && !plain::fits(recvcount))) return raise(on, MPI_ERR_COUNT);
  return function(sendbuf, arrays.sent.counts.data(), arrays.sent.displacements.data(), sent.type, recvbuf,
                  plain::count(recvcount, receives), recvtype, root, on, more...);
}
int Scatterv::plain() const { return pass(TAUT_PMPI(Scatterv), arrays(comm), comm); }
int Scatterv::start(MPI_Comm on, MPI_Request* request) {
  return pass(TAUT_PMPI(Iscatterv), keep(kept, arrays(on)), on, request);
}
int Scatterv::init(MPI_Info info, MPI_Request* request) {
  return pass(TAUT_PMPI_INIT(Scatterv), keep(kept, arrays(comm)), comm, info, request);
}
Types Scatterv::types(const Group& group) noexcept {
  const bool at_root = group.rank == root;
  return {at_root ? &sent.type : nullptr, !at_root || recvbuf != MPI_IN_PLACE ? &recvtype : nullptr};
}

// ---- Alltoallv

Described Alltoallv::describe(const Group& group) const {
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const VectorBlocks& from = in_place ? received : sent;
  const Layout in = layout_of(from.counts, from.displacements, group.size),
               out = layout_of(received.counts, received.displacements, group.size);
  if (in == nullptr || out == nullptr) return {};
  Operands data;
  data.in = blocks(in_place ? recvbuf : sendbuf, in, from.type);
  data.out = blocks(recvbuf, out, received.type);
  Described request = describe_vector(Collective::alltoall, received.type, from.type == received.type,
                                      std::max(values_of(*in), values_of(*out)), false, data);
  if (request) {
    request->layouts[0] = in;
    request->layouts[1] = out;
  }
  return request;
}

PlainArrays Alltoallv::arrays(MPI_Comm on) const {
  const int P = size_of_comm(on);
  return {{sent, P, sendbuf != MPI_IN_PLACE}, {received, P}};
}

template <class Function, class... More>
int Alltoallv::pass(Function function, const PlainArrays& arrays, MPI_Comm on, More... more) const {
  if (!arrays.fit()) return raise(on, MPI_ERR_COUNT);
  return function(sendbuf, arrays.sent.counts.data(), arrays.sent.displacements.data(), sent.type, recvbuf,
                  arrays.received.counts.data(), arrays.received.displacements.data(), received.type, on,
                  more...);
}
int Alltoallv::plain() const { return pass(TAUT_PMPI(Alltoallv), arrays(comm), comm); }
int Alltoallv::start(MPI_Comm on, MPI_Request* request) {
  return pass(TAUT_PMPI(Ialltoallv), keep(kept, arrays(on)), on, request);
}
int Alltoallv::init(MPI_Info info, MPI_Request* request) {
  return pass(TAUT_PMPI_INIT(Alltoallv), keep(kept, arrays(comm)), comm, info, request);
}
Types Alltoallv::types(const Group&) noexcept {
  return {sendbuf != MPI_IN_PLACE ? &sent.type : nullptr, &received.type};
}

}  // namespace taut::api
