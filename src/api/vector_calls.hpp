// The collective calls of taut.h with blocks of any size as objects (calls.hpp). `kept`: what MPI may read
// until the call is complete.
#pragma once

#include <memory>

#include "api/calls.hpp"
#include "api/plain.hpp"

namespace taut::api {

struct ReduceScatter {  // reductions.cpp
  const void* sendbuf;
  void* recvbuf;
  const MPI_Count* recvcounts;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm comm;
  std::shared_ptr<const plain::Numbers<MPI_Count>> kept = {};

  Described describe(const Group& group) const;
  int plain() const;
  int start(MPI_Comm on, MPI_Request* request);
  int init(MPI_Info info, MPI_Request* request);
  Types types(const Group& group) noexcept;
  int settle(const Group& group) const noexcept;

 private:
  plain::Numbers<MPI_Count> counts(MPI_Comm on) const;
  template <class Function, class... More>
  int pass(Function function, const plain::Numbers<MPI_Count>& counts, MPI_Comm on, More... more) const;
};

// Blocks of one buffer: counts and displacements in elements, one a rank.
struct VectorBlocks {
  const MPI_Count* counts;
  const MPI_Aint* displacements;
  MPI_Datatype type;
};

// Counts and displacements as plain MPI takes them.
struct PlainArrays;

struct Allgatherv {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  VectorBlocks received;
  MPI_Comm comm;
  std::shared_ptr<const PlainArrays> kept = {};

  Described describe(const Group& group) const;
  int plain() const;
  int start(MPI_Comm on, MPI_Request* request);
  int init(MPI_Info info, MPI_Request* request);
  Types types(const Group& group) noexcept;

 private:
  PlainArrays arrays(MPI_Comm on) const;
  template <class Function, class... More>
  int pass(Function function, const PlainArrays& arrays, MPI_Comm on, More... more) const;
};

struct Gatherv {
  const void* sendbuf;
  MPI_Count sendcount;
  MPI_Datatype sendtype;
  void* recvbuf;
  VectorBlocks received;
  int root;
  MPI_Comm comm;
  std::shared_ptr<const PlainArrays> kept = {};

  Described describe(const Group& group) const;
  int plain() const;
  int start(MPI_Comm on, MPI_Request* request);
  int init(MPI_Info info, MPI_Request* request);
  Types types(const Group& group) noexcept;

 private:
  PlainArrays arrays(MPI_Comm on) const;
  template <class Function, class... More>
  int pass(Function function, const PlainArrays& arrays, MPI_Comm on, More... more) const;
};

struct Scatterv {
  const void* sendbuf;
  VectorBlocks sent;
  void* recvbuf;
  MPI_Count recvcount;
  MPI_Datatype recvtype;
  int root;
  MPI_Comm comm;
  std::shared_ptr<const PlainArrays> kept = {};

  Described describe(const Group& group) const;
  int plain() const;
  int start(MPI_Comm on, MPI_Request* request);
  int init(MPI_Info info, MPI_Request* request);
  Types types(const Group& group) noexcept;

 private:
  PlainArrays arrays(MPI_Comm on) const;
  template <class Function, class... More>
  int pass(Function function, const PlainArrays& arrays, MPI_Comm on, More... more) const;
};

struct Alltoallv {
  const void* sendbuf;
  VectorBlocks sent;
  void* recvbuf;
  VectorBlocks received;
  MPI_Comm comm;
  std::shared_ptr<const PlainArrays> kept = {};

  Described describe(const Group& group) const;
  int plain() const;
  int start(MPI_Comm on, MPI_Request* request);
  int init(MPI_Info info, MPI_Request* request);
  Types types(const Group& group) noexcept;

 private:
  PlainArrays arrays(MPI_Comm on) const;
  template <class Function, class... More>
  int pass(Function function, const PlainArrays& arrays, MPI_Comm on, More... more) const;
};

}  // namespace taut::api
