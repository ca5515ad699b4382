// Calls whose blocks are of any size.
#include <algorithm>

#include "api/calls.hpp"
#include "api/datatypes.hpp"
#include "api/layouts.hpp"
#include "api/plain.hpp"

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

// The arrays of one buffer for plain MPI; empty where they do not matter.
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

int Allgatherv::plain() const {
  const bool sends = sendbuf != MPI_IN_PLACE;
  const PlainBlocks out(received, size_of_comm(comm));
  if (!out.fit() || (sends && !plain::fits(sendcount))) return raise(comm, MPI_ERR_COUNT);
  return TAUT_PMPI(Allgatherv)(sendbuf, plain::count(sendcount, sends), sendtype, recvbuf, out.counts.data(),
                               out.displacements.data(), received.type, comm);
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

int Gatherv::plain() const {
  const bool at_root = is_root(comm, root), sends = !at_root || sendbuf != MPI_IN_PLACE;
  const PlainBlocks out(received, size_of_comm(comm), at_root);
  if (!out.fit() || (sends && !plain::fits(sendcount))) return raise(comm, MPI_ERR_COUNT);
  return TAUT_PMPI(Gatherv)(sendbuf, plain::count(sendcount, sends), sendtype, recvbuf, out.counts.data(),
                            out.displacements.data(), received.type, root, comm);
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

int Scatterv::plain() const {
  const bool at_root = is_root(comm, root), receives = !at_root || recvbuf != MPI_IN_PLACE;
  const PlainBlocks in(sent, size_of_comm(comm), at_root);
  if (!in.fit() || (receives && !plain::fits(recvcount))) return raise(comm, MPI_ERR_COUNT);
  return TAUT_PMPI(Scatterv)(sendbuf, in.counts.data(), in.displacements.data(), sent.type, recvbuf,
                             plain::count(recvcount, receives), recvtype, root, comm);
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

int Alltoallv::plain() const {
  const int P = size_of_comm(comm);
  const PlainBlocks in(sent, P, sendbuf != MPI_IN_PLACE), out(received, P);
  if (!in.fit() || !out.fit()) return raise(comm, MPI_ERR_COUNT);
  return TAUT_PMPI(Alltoallv)(sendbuf, in.counts.data(), in.displacements.data(), sent.type, recvbuf,
                              out.counts.data(), out.displacements.data(), received.type, comm);
}

}  // namespace taut::api
