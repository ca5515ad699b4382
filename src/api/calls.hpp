// The collective calls of taut.h with blocks of equal size as objects: MPI's arguments, what they ask of the
// library, and the same call of plain MPI. What they have:
//
//   describe  nothing where the arguments are for MPI to complain about, or no rank compresses such a call
//   plain     MPI's blocking call on the user's communicator
//   start     MPI's nonblocking call on a communicator of the same ranks
//   init      MPI's persistent one on the user's communicator, where plain::has_persistent
//   shape     what tells it from others before it is described, of calls that are often small
//   settle    what is left to do when plain MPI has come to its end, of reductions; an MPI code, raised
//   types     those that matter on this rank, for a call that is started later and has to keep them
#pragma once

#include <mpi.h>

#include <array>

#include "api/plain.hpp"
#include "api/sides.hpp"

namespace taut::api {

using Types = std::array<MPI_Datatype*, 2>;  // null: none

// ---- Reductions (reductions.cpp)

struct Allreduce {
  const void* sendbuf;
  void* recvbuf;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;

  Shape shape(const Group&, const void* site) const noexcept {
    return {Collective::allreduce, type, op, count, site};
  }
  Described describe(const Group& group) const;
  int plain() const;
  int start(MPI_Comm on, MPI_Request* request) const;
  int init(MPI_Info info, MPI_Request* request) const;
  Types types(const Group& group) noexcept;
  int settle(const Group& group) const noexcept;

 private:
  template <class Function, class... More>
  int pass(Function function, MPI_Comm on, More... more) const;
};

struct ReduceScatterBlock {
  const void* sendbuf;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;

  Shape shape(const Group&, const void* site) const noexcept {
    return {Collective::reduce_scatter, type, op, recvcount, site};
  }
  Described describe(const Group& group) const;
  int plain() const;
  int start(MPI_Comm on, MPI_Request* request) const;
  int init(MPI_Info info, MPI_Request* request) const;
  Types types(const Group& group) noexcept;
  int settle(const Group& group) const noexcept;

 private:
  template <class Function, class... More>
  int pass(Function function, MPI_Comm on, More... more) const;
};

struct Reduce {
  const void* sendbuf;
  void* recvbuf;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Op op;
  int root;
  MPI_Comm comm;

  Shape shape(const Group&, const void* site) const noexcept {
    return {Collective::reduce, type, op, count, site};
  }
  Described describe(const Group& group) const;
  int plain() const;
  int start(MPI_Comm on, MPI_Request* request) const;
  int init(MPI_Info info, MPI_Request* request) const;
  Types types(const Group& group) noexcept;
  int settle(const Group& group) const noexcept;

 private:
  template <class Function, class... More>
  int pass(Function function, MPI_Comm on, More... more) const;
};

// ---- Movement of values (moves.cpp)

struct Bcast {
  void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  int root;
  MPI_Comm comm;

  Shape shape(const Group&, const void* site) const noexcept {
    return {Collective::bcast, type, MPI_OP_NULL, count, site};
  }
  Described describe(const Group& group) const;
  int plain() const;
  int start(MPI_Comm on, MPI_Request* request) const;
  int init(MPI_Info info, MPI_Request* request) const;
  Types types(const Group& group) noexcept;

 private:
  template <class Function, class... More>
  int pass(Function function, MPI_Comm on, More... more) const;
};

// What is sent to, and received from, each of the ranks that take part.
struct EqualBlocks {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;

  // By the side that says how long the message is.
  Shape sending(Collective collective, const void* site) const noexcept {
    return {collective, sendtype, MPI_OP_NULL, sendcount, site};
  }
  Shape receiving(Collective collective, const void* site) const noexcept {
    return {collective, recvtype, MPI_OP_NULL, recvcount, site};
  }
};

struct Allgather : EqualBlocks {
  MPI_Comm comm;

  Shape shape(const Group&, const void* site) const noexcept {
    return receiving(Collective::allgather, site);
  }
  Described describe(const Group& group) const;
  int plain() const;
  int start(MPI_Comm on, MPI_Request* request) const;
  int init(MPI_Info info, MPI_Request* request) const;
  Types types(const Group& group) noexcept;

 private:
  template <class Function, class... More>
  int pass(Function function, MPI_Comm on, More... more) const;
};

struct Alltoall : EqualBlocks {
  MPI_Comm comm;

  Shape shape(const Group&, const void* site) const noexcept { return receiving(Collective::alltoall, site); }
  Described describe(const Group& group) const;
  int plain() const;
  int start(MPI_Comm on, MPI_Request* request) const;
  int init(MPI_Info info, MPI_Request* request) const;
  Types types(const Group& group) noexcept;

 private:
  template <class Function, class... More>
  int pass(Function function, MPI_Comm on, More... more) const;
};

struct Gather : EqualBlocks {
  int root;
  MPI_Comm comm;

  Shape shape(const Group& group, const void* site) const noexcept {
    return group.rank == root ? receiving(Collective::gather, site) : sending(Collective::gather, site);
  }
  Described describe(const Group& group) const;
  int plain() const;
  int start(MPI_Comm on, MPI_Request* request) const;
  int init(MPI_Info info, MPI_Request* request) const;
  Types types(const Group& group) noexcept;

 private:
  template <class Function, class... More>
  int pass(Function function, MPI_Comm on, More... more) const;
};

struct Scatter : EqualBlocks {
  int root;
  MPI_Comm comm;

  Shape shape(const Group& group, const void* site) const noexcept {
    return group.rank == root ? sending(Collective::scatter, site) : receiving(Collective::scatter, site);
  }
  Described describe(const Group& group) const;
  int plain() const;
  int start(MPI_Comm on, MPI_Request* request) const;
  int init(MPI_Info info, MPI_Request* request) const;
  Types types(const Group& group) noexcept;

 private:
  template <class Function, class... More>
  int pass(Function function, MPI_Comm on, More... more) const;
};

// ---- For all

// Bytes of `blocks` blocks of `count` elements; nothing when the arguments are for MPI to complain about.
std::optional<std::size_t> message_bytes(MPI_Count count, MPI_Datatype type, int blocks) noexcept;

// Where intercommunicators name the root by MPI_ROOT.
bool is_root(MPI_Comm comm, int root);

}  // namespace taut::api
