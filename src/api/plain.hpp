// The calls of plain MPI, with large counts where the MPI has them.
#pragma once

#include <mpi.h>

#include <climits>

#include "api/errors.hpp"

namespace taut::api::plain {

#if MPI_VERSION >= 4
inline bool fits(MPI_Count) noexcept { return true; }
#define TAUT_PMPI(name) PMPI_##name##_c
using Count = MPI_Count;
#else
inline bool fits(MPI_Count count) noexcept { return count <= INT_MAX && count >= INT_MIN; }
#define TAUT_PMPI(name) PMPI_##name
using Count = int;
#endif

inline int allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm) {
  if (!fits(count)) return raise(comm, MPI_ERR_COUNT);
  return TAUT_PMPI(Allreduce)(sendbuf, recvbuf, static_cast<Count>(count), type, op, comm);
}

inline int reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm) {
  if (!fits(count)) return raise(comm, MPI_ERR_COUNT);
  return TAUT_PMPI(Reduce_scatter_block)(sendbuf, recvbuf, static_cast<Count>(count), type, op, comm);
}

inline int allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  if (!fits(recvcount) || (sendbuf != MPI_IN_PLACE && !fits(sendcount))) return raise(comm, MPI_ERR_COUNT);
  const auto sent = sendbuf == MPI_IN_PLACE ? Count{0} : static_cast<Count>(sendcount);
  return TAUT_PMPI(Allgather)(sendbuf, sent, sendtype, recvbuf, static_cast<Count>(recvcount), recvtype,
                              comm);
}

inline int bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (!fits(count)) return raise(comm, MPI_ERR_COUNT);
  return TAUT_PMPI(Bcast)(buffer, static_cast<Count>(count), type, root, comm);
}

// Which counts matter depends on the rank: one that does not is handed on as 0 when it does not fit.
inline int scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, bool at_root) {
  const bool receives = !at_root || recvbuf != MPI_IN_PLACE;
  if ((at_root && !fits(sendcount)) || (receives && !fits(recvcount))) return raise(comm, MPI_ERR_COUNT);
  const auto sent = at_root ? static_cast<Count>(sendcount) : Count{0};
  const auto received = receives ? static_cast<Count>(recvcount) : Count{0};
  return TAUT_PMPI(Scatter)(sendbuf, sent, sendtype, recvbuf, received, recvtype, root, comm);
}

#undef TAUT_PMPI

}  // namespace taut::api::plain
