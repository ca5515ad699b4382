#include "api/calls.hpp"
#include "api/datatypes.hpp"
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

namespace {

// What MPI says of one block on this rank; `known`: it is of a type that the library knows.
struct Kind {
  MPI_Count count;
  MPI_Datatype type;

  DType values() const noexcept { return dtype_of_mpi(type).value_or(DType::f32); }
  bool known() const noexcept { return dtype_of_mpi(type).has_value(); }
  bool operator==(const Kind&) const = default;
};

// `data` counts only if the type is known here, and the same for both buffers. It may be another one with the
// same signature on another rank, so that all ask the others.
Described describe_move(Collective collective, const Kind& block, int blocks, bool same_types, int root,
                        Operands data) {
  const auto bytes = message_bytes(block.count, block.type, blocks);
  if (!bytes) return {};
  const bool coded = block.known() && same_types;
  if (!coded) data = {};
  data.root = root;
  return Request{collective, data, *bytes, coded};
}

}  // namespace

Described Bcast::describe(const Group& group) const {
  const Kind block{count, type};
  if (!group.has(root) || count < 0) return {};
  return describe_move(Collective::bcast, block, 1, true, root,
                       {.in = {}, .out = slice(buffer, count, block.values())});
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
  const Kind block{recvcount, recvtype};
  if (!message_bytes(recvcount, recvtype, group.size)) return {};
  const bool in_place = sendbuf == MPI_IN_PLACE;
  Operands data{.in = slice(sendbuf, recvcount, block.values()),
                .out = slice(recvbuf, recvcount * group.size, block.values())};
  if (in_place) data.in = group.own_block(data.out);
  return describe_move(Collective::allgather, block, group.size,
                       in_place || block == Kind{sendcount, sendtype}, 0, data);
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
  const Kind block{recvcount, recvtype};
  if (!message_bytes(recvcount, recvtype, group.size)) return {};
  const bool in_place = sendbuf == MPI_IN_PLACE;
  const MPI_Count all = recvcount * group.size;
  return describe_move(Collective::alltoall, block, group.size,
                       in_place || block == Kind{sendcount, sendtype}, 0,
                       {.in = slice(in_place ? recvbuf : sendbuf, all, block.values()),
                        .out = slice(recvbuf, all, block.values())});
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
  const bool at_root = group.rank == root, in_place = at_root && sendbuf == MPI_IN_PLACE;
  const Kind block = at_root ? Kind{recvcount, recvtype} : Kind{sendcount, sendtype};
  if (!message_bytes(block.count, block.type, group.size)) return {};
  Operands data{.in = slice(sendbuf, block.count, block.values()),
                .out = slice(at_root ? recvbuf : nullptr, block.count * group.size, block.values())};
  if (in_place) data.in = group.own_block(data.out);
  return describe_move(Collective::gather, block, group.size,
                       !at_root || in_place || block == Kind{sendcount, sendtype}, root, data);
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
  const bool at_root = group.rank == root, in_place = at_root && recvbuf == MPI_IN_PLACE;
  const Kind block = at_root ? Kind{sendcount, sendtype} : Kind{recvcount, recvtype};
  if (!message_bytes(block.count, block.type, group.size)) return {};
  Operands data{.in = {}, .out = slice(in_place ? nullptr : recvbuf, block.count, block.values())};
  if (at_root) data.in = slice(sendbuf, block.count * group.size, block.values());
  return describe_move(Collective::scatter, block, group.size,
                       !at_root || in_place || block == Kind{recvcount, recvtype}, root, data);
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
