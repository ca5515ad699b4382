// The persistent collective calls of taut.h.
#include "api/errors.hpp"
#include "api/requests.hpp"

namespace taut::api {
namespace {

// Inlined, so that it sees where the program called from.
template <class Call>
[[gnu::always_inline]] inline int prepare(const Call& call, MPI_Info info, TAUT_Request* request) noexcept {
  const void* const site = __builtin_return_address(0);
  return guard(call.comm, [&] {
    if (request == nullptr) throw Error(Status::invalid_argument, "a request is NULL");
    *request = TAUT_REQUEST_NULL;
    auto made = std::make_unique<CollectiveRequest>(call, true, site);
    const int code = made->init(info);
    if (code == MPI_SUCCESS) *request = made.release();
    return code;
  });
}

}  // namespace
}  // namespace taut::api

using namespace taut::api;

extern "C" {

int TAUT_Allreduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                        MPI_Comm comm, MPI_Info info, TAUT_Request* request) {
  return prepare(Allreduce{sendbuf, recvbuf, count, type, op, comm}, info, request);
}

int TAUT_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype type,
                                   MPI_Op op, MPI_Comm comm, MPI_Info info, TAUT_Request* request) {
  return prepare(ReduceScatterBlock{sendbuf, recvbuf, recvcount, type, op, comm}, info, request);
}

int TAUT_Reduce_init(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                     int root, MPI_Comm comm, MPI_Info info, TAUT_Request* request) {
  return prepare(Reduce{sendbuf, recvbuf, count, type, op, root, comm}, info, request);
}

int TAUT_Bcast_init(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Info info,
                    TAUT_Request* request) {
  return prepare(Bcast{buffer, count, type, root, comm}, info, request);
}

int TAUT_Allgather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        TAUT_Request* request) {
  return prepare(Allgather{{sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, comm}, info,
                 request);
}

int TAUT_Alltoall_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                       TAUT_Request* request) {
  return prepare(Alltoall{{sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, comm}, info, request);
}

int TAUT_Gather_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                     TAUT_Request* request) {
  return prepare(Gather{{sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, root, comm}, info,
                 request);
}

int TAUT_Scatter_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      TAUT_Request* request) {
  return prepare(Scatter{{sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, root, comm}, info,
                 request);
}

int TAUT_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                             MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Info info,
                             TAUT_Request* request) {
  return prepare(ReduceScatter{sendbuf, recvbuf, recvcounts, type, op, comm}, info, request);
}

int TAUT_Allgatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                         MPI_Comm comm, MPI_Info info, TAUT_Request* request) {
  return prepare(Allgatherv{sendbuf, sendcount, sendtype, recvbuf, {recvcounts, displs, recvtype}, comm},
                 info, request);
}

int TAUT_Gatherv_init(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                      const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                      MPI_Comm comm, MPI_Info info, TAUT_Request* request) {
  return prepare(Gatherv{sendbuf, sendcount, sendtype, recvbuf, {recvcounts, displs, recvtype}, root, comm},
                 info, request);
}

int TAUT_Scatterv_init(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                       MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                       int root, MPI_Comm comm, MPI_Info info, TAUT_Request* request) {
  return prepare(Scatterv{sendbuf, {sendcounts, displs, sendtype}, recvbuf, recvcount, recvtype, root, comm},
                 info, request);
}

int TAUT_Alltoallv_init(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                        MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                        const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        TAUT_Request* request) {
  return prepare(
      Alltoallv{sendbuf, {sendcounts, sdispls, sendtype}, recvbuf, {recvcounts, rdispls, recvtype}, comm},
      info, request);
}

}  // extern "C"
