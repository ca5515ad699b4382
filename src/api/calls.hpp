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
struct Blocks {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
};

struct Allgather : Blocks {
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

struct Alltoall : Blocks {
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

struct Gather : Blocks {
  int root;
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

struct Scatter : Blocks {
  int root;
  MPI_Comm comm;

  Described describe(const Group& group) const;
  int plain() const;
};

// ---- For both

inline Slice slice(void* data, MPI_Count count, DType type) noexcept {
  return {{data, static_cast<std::size_t>(count), type}};
}
inline ConstSlice slice(const void* data, MPI_Count count, DType type) noexcept {
  return {{data, static_cast<std::size_t>(count), type}};
}

// Bytes of `blocks` blocks of `count` elements; nothing when the arguments are for MPI to complain about.
std::optional<std::size_t> message_bytes(MPI_Count count, MPI_Datatype type, int blocks) noexcept;

}  // namespace taut::api
