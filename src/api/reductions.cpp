#include "api/calls.hpp"
#include "api/datatypes.hpp"
#include "api/layouts.hpp"
#include "api/plain.hpp"

namespace taut::api {
namespace {

// Of `blocks` blocks of `count` elements each; `out` holds one of them.
Described describe_reduction(Collective collective, const void* in, void* out, MPI_Count count,
                             MPI_Datatype type, MPI_Op op, int blocks) {
  const auto reducing = known_reduction(type, op);
  const auto bytes = message_bytes(count, type, blocks);
  if (!bytes) return {};
  if (!reducing) return Request{collective, {}, *bytes, false};
  const Operands data{slice(in, count * blocks, reducing->type), slice(out, count, reducing->type),
                      reducing->op};
  return Request{collective, data, *bytes};
}

}  // namespace

Described Allreduce::describe(const Group&) const {
  const void* const in = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  return describe_reduction(Collective::allreduce, in, recvbuf, count, type, op, 1);
}

int Allreduce::plain() const {
  if (!plain::fits(count)) return raise(comm, MPI_ERR_COUNT);
  return TAUT_PMPI(Allreduce)(sendbuf, recvbuf, plain::count(count), type, op, comm);
}

Described ReduceScatterBlock::describe(const Group& group) const {
  const void* const in = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  return describe_reduction(Collective::reduce_scatter, in, recvbuf, recvcount, type, op, group.size);
}

int ReduceScatterBlock::plain() const {
  if (!plain::fits(recvcount)) return raise(comm, MPI_ERR_COUNT);
  return TAUT_PMPI(Reduce_scatter_block)(sendbuf, recvbuf, plain::count(recvcount), type, op, comm);
}

Described ReduceScatter::describe(const Group& group) const {
  const Layout layout = layout_of(recvcounts, nullptr, group.size);
  if (layout == nullptr) return {};
  const void* const in = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  const auto all = static_cast<MPI_Count>(values_of(*layout));
  Described request = describe_reduction(Collective::reduce_scatter, in, recvbuf, all, type, op, 1);
  if (!request || !request->coded_type) return request;
  Operands& data = request->data;
  data.in.layout = layout.get();
  data.out.count = layout->counts[group.index()];
  if (sendbuf == MPI_IN_PLACE) {  // in front it would lie across blocks that other segments still need
    request->move_to = recvbuf;
    data.out.data = data.out.address(layout->offsets[group.index()]);
  }
  request->layouts[0] = layout;
  return request;
}

int ReduceScatter::plain() const {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  const plain::Numbers<MPI_Count> counts(recvcounts, size);
  if (!counts.fit()) return raise(comm, MPI_ERR_COUNT);
  return TAUT_PMPI(Reduce_scatter)(sendbuf, recvbuf, counts.data(), type, op, comm);
}

Described Reduce::describe(const Group& group) const {
  if (!group.has(root)) return {};
  const bool at_root = group.rank == root;
  const void* const in = at_root && sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  Described request =
      describe_reduction(Collective::reduce, in, at_root ? recvbuf : nullptr, count, type, op, 1);
  if (request) request->data.root = root;
  return request;
}

int Reduce::plain() const {
  if (!plain::fits(count)) return raise(comm, MPI_ERR_COUNT);
  return TAUT_PMPI(Reduce)(sendbuf, recvbuf, plain::count(count), type, op, root, comm);
}

}  // namespace taut::api
