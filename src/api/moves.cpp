#include "api/calls.hpp"
#include "api/plain.hpp"

namespace taut::api {

std::optional<std::size_t> message_bytes(MPI_Count count, MPI_Datatype type, int blocks) noexcept {
  int element = 0;
  std::size_t bytes = 0;
  if (count < 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &element) != MPI_SUCCESS || element < 0)
    return {};
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), static_cast<std::size_t>(element), &bytes))
    return {};
  if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(blocks), &bytes)) return {};
  return bytes;
}

bool is_root(MPI_Comm comm, int root) {
  int rank = 0, inter = 0;
  if (comm == MPI_COMM_NULL) return false;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_rank(comm, &rank);
  return inter != 0 ? root == MPI_ROOT : rank == root;
}

Described Bcast::describe(const Group& group) const {
  if (!group.has(root)) return {};
  const auto sends = group.rank == root ? Sides::Sends::all : Sides::Sends::in;
  return describe_move(Collective::bcast, group, {{}, Side(buffer, count, type), sends}, root,
                       message_bytes(count, type, 1));
}

template <class Function, class... More>
int Bcast::pass(Function function, MPI_Comm on, More... more) const {
  if (!plain::fits(count)) return raise(on, MPI_ERR_COUNT);
  return function(buffer, plain::count(count), type, root, on, more...);
}
int Bcast::plain() const { return pass(TAUT_PMPI(Bcast), comm); }
int Bcast::start(MPI_Comm on, MPI_Request* request) const { return pass(TAUT_PMPI(Ibcast), on, request); }
int Bcast::init(MPI_Info info, MPI_Request* request) const {
  return pass(TAUT_PMPI_INIT(Bcast), comm, info, request);
}
Types Bcast::types(const Group&) noexcept { return {&type}; }

Described Allgather::describe(const Group& group) const {
  const auto bytes = message_bytes(recvcount, recvtype, group.size);
  if (!bytes) return {};
  Sides sides{.in = {}, .out = Side(recvbuf, recvcount * group.size, recvtype)};
  sides.send(sendbuf, sendcount, sendtype, Sides::Sends::own_block);
  return describe_move(Collective::allgather, group, std::move(sides), 0, bytes);
}

template <class Function, class... More>
int Allgather::pass(Function function, MPI_Comm on, More... more) const {
  const bool sends = sendbuf != MPI_IN_PLACE;
  if (!plain::fits(recvcount) || (sends && !plain::fits(sendcount))) return raise(on, MPI_ERR_COUNT);
  return function(sendbuf, plain::count(sendcount, sends), sendtype, recvbuf, plain::count(recvcount),
                  recvtype, on, more...);
}
int Allgather::plain() const { return pass(TAUT_PMPI(Allgather), comm); }
int Allgather::start(MPI_Comm on, MPI_Request* request) const {
  return pass(TAUT_PMPI(Iallgather), on, request);
}
int Allgather::init(MPI_Info info, MPI_Request* request) const {
  return pass(TAUT_PMPI_INIT(Allgather), comm, info, request);
}
Types Allgather::types(const Group&) noexcept {
  return {sendbuf != MPI_IN_PLACE ? &sendtype : nullptr, &recvtype};
}

Described Alltoall::describe(const Group& group) const {
  const auto bytes = message_bytes(recvcount, recvtype, group.size);
  if (!bytes) return {};
  Sides sides{.in = {}, .out = Side(recvbuf, recvcount * group.size, recvtype)};
  sides.send(sendbuf, sendcount * group.size, sendtype, Sides::Sends::all);
  return describe_move(Collective::alltoall, group, std::move(sides), 0, bytes);
}

template <class Function, class... More>
int Alltoall::pass(Function function, MPI_Comm on, More... more) const {
  const bool sends = sendbuf != MPI_IN_PLACE;
  if (!plain::fits(recvcount) || (sends && !plain::fits(sendcount))) return raise(on, MPI_ERR_COUNT);
  return function(sendbuf, plain::count(sendcount, sends), sendtype, recvbuf, plain::count(recvcount),
                  recvtype, on, more...);
}
int Alltoall::plain() const { return pass(TAUT_PMPI(Alltoall), comm); }
int Alltoall::start(MPI_Comm on, MPI_Request* request) const {
  return pass(TAUT_PMPI(Ialltoall), on, request);
}
int Alltoall::init(MPI_Info info, MPI_Request* request) const {
  return pass(TAUT_PMPI_INIT(Alltoall), comm, info, request);
}
Types Alltoall::types(const Group&) noexcept {
  return {sendbuf != MPI_IN_PLACE ? &sendtype : nullptr, &recvtype};
}

Described Gather::describe(const Group& group) const {
  if (!group.has(root)) return {};
  const bool at_root = group.rank == root;
  const auto bytes = at_root ? message_bytes(recvcount, recvtype, group.size)
                             : message_bytes(sendcount, sendtype, group.size);
  if (!bytes) return {};
  Sides sides;
  if (at_root) sides.out = Side(recvbuf, recvcount * group.size, recvtype);
  sides.send(sendbuf, sendcount, sendtype, Sides::Sends::own_block);
  return describe_move(Collective::gather, group, std::move(sides), root, bytes);
}

template <class Function, class... More>
int Gather::pass(Function function, MPI_Comm on, More... more) const {
  const bool at_root = is_root(on, root), sends = !at_root || sendbuf != MPI_IN_PLACE;
  if ((at_root && !plain::fits(recvcount)) || (sends && !plain::fits(sendcount)))
    return raise(on, MPI_ERR_COUNT);
  return function(sendbuf, plain::count(sendcount, sends), sendtype, recvbuf,
                  plain::count(recvcount, at_root), recvtype, root, on, more...);
}
int Gather::plain() const { return pass(TAUT_PMPI(Gather), comm); }
int Gather::start(MPI_Comm on, MPI_Request* request) const { return pass(TAUT_PMPI(Igather), on, request); }
int Gather::init(MPI_Info info, MPI_Request* request) const {
  return pass(TAUT_PMPI_INIT(Gather), comm, info, request);
}
Types Gather::types(const Group& group) noexcept {
  const bool at_root = group.rank == root;
  return {!at_root || sendbuf != MPI_IN_PLACE ? &sendtype : nullptr, at_root ? &recvtype : nullptr};
}

Described Scatter::describe(const Group& group) const {
  if (!group.has(root)) return {};
  const bool at_root = group.rank == root;
  const auto bytes = at_root ? message_bytes(sendcount, sendtype, group.size)
                             : message_bytes(recvcount, recvtype, group.size);
  if (!bytes) return {};
  Sides sides;
  if (at_root) sides.in = Side(sendbuf, sendcount * group.size, sendtype);
  if (!at_root || recvbuf != MPI_IN_PLACE) sides.out = Side(recvbuf, recvcount, recvtype);
  return describe_move(Collective::scatter, group, std::move(sides), root, bytes);
}

template <class Function, class... More>
int Scatter::pass(Function function, MPI_Comm on, More... more) const {
  const bool at_root = is_root(on, root), receives = !at_root || recvbuf != MPI_IN_PLACE;
  if ((at_root && !plain::fits(sendcount)) || (receives && !plain::fits(recvcount)))
    return raise(on, MPI_ERR_COUNT);
  return function(sendbuf, plain::count(sendcount, at_root), sendtype, recvbuf,
                  plain::count(recvcount, receives), recvtype, root, on, more...);
}
int Scatter::plain() const { return pass(TAUT_PMPI(Scatter), comm); }
int Scatter::start(MPI_Comm on, MPI_Request* request) const { return pass(TAUT_PMPI(Iscatter), on, request); }
int Scatter::init(MPI_Info info, MPI_Request* request) const {
  return pass(TAUT_PMPI_INIT(Scatter), comm, info, request);
}
Types Scatter::types(const Group& group) noexcept {
  const bool at_root = group.rank == root;
  return {at_root ? &sendtype : nullptr, !at_root || recvbuf != MPI_IN_PLACE ? &recvtype : nullptr};
}

}  // namespace taut::api
