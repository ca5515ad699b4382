// The collective calls of taut.h as objects: MPI's arguments, what they ask of the library, and the same call
// of plain MPI. `describe` gives nothing where the arguments are for MPI to complain about, or no rank
// compresses such a call.
#pragma once

#include <mpi.h>

#include "api/attached.hpp"

namespace taut::api {

using Described = std::optional<Request>;

// ---- Reductions (reductions.cpp)

struct Allreduce {
  const void* sendbuf;
  void* recvbuf;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

struct ReduceScatterBlock {
  const void* sendbuf;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

struct ReduceScatter {
  const void* sendbuf;
  void* recvbuf;
  const MPI_Count* recvcounts;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

struct Reduce {
  const void* sendbuf;
  void* recvbuf;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Op op;
  int root;
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

// ---- Movement of values (moves.cpp)

struct Bcast {
  void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  int root;
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

// What is sent to, and received from, each of the ranks that take part.
struct EqualBlocks {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
};

struct Allgather : EqualBlocks {
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

struct Alltoall : EqualBlocks {
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

struct Gather : EqualBlocks {
  int root;
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

struct Scatter : EqualBlocks {
  int root;
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

// ---- The same with blocks of any size (vector_moves.cpp)

// Blocks of one buffer: counts and displacements in elements, one a rank.
struct VectorBlocks {
  const MPI_Count* counts;
  const MPI_Aint* displacements;
  MPI_Datatype type;
};

struct Allgatherv {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  VectorBlocks received;
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

struct Gatherv {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  VectorBlocks received;
  int root;
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

struct Scatterv {
  const void* sendbuf;
  VectorBlocks sent;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
  int root;
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

struct Alltoallv {
  const void* sendbuf;
  VectorBlocks sent;
  void* recvbuf;
  VectorBlocks received;
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

// ---- For all

inline Slice slice(void* data, MPI_Count count, DType type) noexcept {
  return {{data, static_cast<std::size_t>(count), type}};
}
inline ConstSlice slice(const void* data, MPI_Count count, DType type) noexcept {
  return {{data, static_cast<std::size_t>(count), type}};
}

// Bytes of `blocks` blocks of `count` elements; nothing when the arguments are for MPI to complain about.
std::optional<std::size_t> message_bytes(MPI_Count count, MPI_Datatype type, int blocks) noexcept;

// Where intercommunicators name the root by MPI_ROOT.
bool is_root(MPI_Comm comm, int root);

}  // namespace taut::api
