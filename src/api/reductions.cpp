#include "api/average.hpp"
#include "api/datatypes.hpp"
#include "api/layouts.hpp"
#include "api/vector_calls.hpp"

namespace taut::api {
namespace {

template <class S, class Void>
S slice(Void* data, MPI_Count count, DType type) noexcept {
  return {{data, static_cast<std::size_t>(count), type}};
}

// Of `blocks` blocks of `count` elements each; `out` holds one of them.
Described describe_reduction(Collective collective, const void* in, void* out, MPI_Count count,
                             MPI_Datatype type, MPI_Op op, int blocks) {
  const auto reducing = known_reduction(type, op);
  const auto bytes = message_bytes(count, type, blocks);
  if (!bytes) return {};
  if (!reducing) return Request{collective, {}, *bytes, false};
  const Operands data{slice<ConstSlice>(in, count * blocks, reducing->type),
                      slice<Slice>(out, count, reducing->type), reducing->op};
  Request request{collective, data, *bytes};
  request.mean = reducing->mean;
  return request;
}

// A blocking call's `code`; if that is good the call comes to its end.
template <class Call>
int settled(int code, const Call& call) noexcept {
  return code == MPI_SUCCESS && is_average(call.op) ? call.settle(group_of(call.comm)) : code;
}

// Why plain MPI cannot serve the operator; MPI_SUCCESS if it can.
int fault_of(MPI_Op op, MPI_Datatype type, MPI_Comm on) noexcept {
  return is_average(op) && !has_average(type, on) ? MPI_ERR_OP : MPI_SUCCESS;
}

}  // namespace

Described Allreduce::describe(const Group&) const {
  const void* const in = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  return describe_reduction(Collective::allreduce, in, recvbuf, count, type, op, 1);
}

template <class Function, class... More>
int Allreduce::pass(Function function, MPI_Comm on, More... more) const {
  if (!plain::fits(count)) return raise(on, MPI_ERR_COUNT);
  if (const int fault = fault_of(op, type, on); fault != MPI_SUCCESS) return raise(on, fault);
  return function(sendbuf, recvbuf, plain::count(count), type, plain_operator(op), on, more...);
}
int Allreduce::plain() const { return settled(pass(TAUT_PMPI(Allreduce), comm), *this); }
int Allreduce::settle(const Group& group) const noexcept {
  return is_average(op) ? divide(recvbuf, count, type, group.size, comm) : MPI_SUCCESS;
}
int Allreduce::start(MPI_Comm on, MPI_Request* request) const {
  return pass(TAUT_PMPI(Iallreduce), on, request);
}
int Allreduce::init(MPI_Info info, MPI_Request* request) const {
  return pass(TAUT_PMPI_INIT(Allreduce), comm, info, request);
}
Types Allreduce::types(const Group&) noexcept { return {&type}; }

Described ReduceScatterBlock::describe(const Group& group) const {
  const void* const in = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  return describe_reduction(Collective::reduce_scatter, in, recvbuf, recvcount, type, op, group.size);
}

template <class Function, class... More>
int ReduceScatterBlock::pass(Function function, MPI_Comm on, More... more) const {
  if (!plain::fits(recvcount)) return raise(on, MPI_ERR_COUNT);
  if (const int fault = fault_of(op, type, on); fault != MPI_SUCCESS) return raise(on, fault);
  return function(sendbuf, recvbuf, plain::count(recvcount), type, plain_operator(op), on, more...);
}
int ReduceScatterBlock::plain() const { return settled(pass(TAUT_PMPI(Reduce_scatter_block), comm), *this); }
int ReduceScatterBlock::settle(const Group& group) const noexcept {
  return is_average(op) ? divide(recvbuf, recvcount, type, group.size, comm) : MPI_SUCCESS;
}
int ReduceScatterBlock::start(MPI_Comm on, MPI_Request* request) const {
  return pass(TAUT_PMPI(Ireduce_scatter_block), on, request);
}
int ReduceScatterBlock::init(MPI_Info info, MPI_Request* request) const {
  return pass(TAUT_PMPI_INIT(Reduce_scatter_block), comm, info, request);
}
Types ReduceScatterBlock::types(const Group&) noexcept { return {&type}; }

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

plain::Numbers<MPI_Count> ReduceScatter::counts(MPI_Comm on) const {
  int size = 0;
  PMPI_Comm_size(on, &size);
  return {recvcounts, size};
}

template <class Function, class... More>
int ReduceScatter::pass(Function function, const plain::Numbers<MPI_Count>& counts, MPI_Comm on,
                        More... more) const {
  if (!counts.fit()) return raise(on, MPI_ERR_COUNT);
  if (const int fault = fault_of(op, type, on); fault != MPI_SUCCESS) return raise(on, fault);
  return function(sendbuf, recvbuf, counts.data(), type, plain_operator(op), on, more...);
}
int ReduceScatter::plain() const {
  return settled(pass(TAUT_PMPI(Reduce_scatter), counts(comm), comm), *this);
}
int ReduceScatter::settle(const Group& group) const noexcept {
  return is_average(op) ? divide(recvbuf, recvcounts[group.rank], type, group.size, comm) : MPI_SUCCESS;
}
int ReduceScatter::start(MPI_Comm on, MPI_Request* request) {
  kept = std::make_shared<const plain::Numbers<MPI_Count>>(counts(on));
  return pass(TAUT_PMPI(Ireduce_scatter), *kept, on, request);
}
int ReduceScatter::init(MPI_Info info, MPI_Request* request) {
  kept = std::make_shared<const plain::Numbers<MPI_Count>>(counts(comm));
  return pass(TAUT_PMPI_INIT(Reduce_scatter), *kept, comm, info, request);
}
Types ReduceScatter::types(const Group&) noexcept { return {&type}; }

Described Reduce::describe(const Group& group) const {
  if (!group.has(root)) return {};
  const bool at_root = group.rank == root;
  const void* const in = at_root && sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
  Described request =
      describe_reduction(Collective::reduce, in, at_root ? recvbuf : nullptr, count, type, op, 1);
  if (request) request->data.root = root;
  return request;
}

template <class Function, class... More>
int Reduce::pass(Function function, MPI_Comm on, More... more) const {
  if (!plain::fits(count)) return raise(on, MPI_ERR_COUNT);
  if (const int fault = fault_of(op, type, on); fault != MPI_SUCCESS) return raise(on, fault);
  return function(sendbuf, recvbuf, plain::count(count), type, plain_operator(op), root, on, more...);
}
int Reduce::plain() const { return settled(pass(TAUT_PMPI(Reduce), comm), *this); }
int Reduce::settle(const Group& group) const noexcept {
  const bool has_sum = is_average(op) && group.rank == root;
  return has_sum ? divide(recvbuf, count, type, group.size, comm) : MPI_SUCCESS;
}
int Reduce::start(MPI_Comm on, MPI_Request* request) const { return pass(TAUT_PMPI(Ireduce), on, request); }
int Reduce::init(MPI_Info info, MPI_Request* request) const {
  return pass(TAUT_PMPI_INIT(Reduce), comm, info, request);
}
Types Reduce::types(const Group&) noexcept { return {&type}; }

}  // namespace taut::api
