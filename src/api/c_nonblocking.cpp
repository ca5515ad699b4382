// The nonblocking collective calls of taut.h.
#include "api/errors.hpp"
#include "api/requests.hpp"

namespace taut::api {
namespace {

// Inlined, so that it sees where the program called from.
template <class Call>
[[gnu::always_inline]] inline int begin(const Call& call, TAUT_Request* request) noexcept {
  const void* const site = __builtin_return_address(0);
  return guard(call.comm, [&] {
    if (request == nullptr) throw Error(Status::invalid_argument, "a request is NULL");
    *request = TAUT_REQUEST_NULL;
    auto made = std::make_unique<CollectiveRequest>(call, false, site);
    int code = made->init(MPI_INFO_NULL);
    if (code == MPI_SUCCESS) code = made->start();
    if (code == MPI_SUCCESS) *request = made.release();
    return code;
  });
}

}  // namespace
}  // namespace taut::api

using namespace taut::api;

extern "C" {

int TAUT_Iallreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm, TAUT_Request* request) {
  return begin(Allreduce{sendbuf, recvbuf, count, type, op, comm}, request);
}

int TAUT_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype type,
                               MPI_Op op, MPI_Comm comm, TAUT_Request* request) {
  return begin(ReduceScatterBlock{sendbuf, recvbuf, recvcount, type, op, comm}, request);
}

int TAUT_Ireduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                 MPI_Comm comm, TAUT_Request* request) {
  return begin(Reduce{sendbuf, recvbuf, count, type, op, root, comm}, request);
}

int TAUT_Ibcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                TAUT_Request* request) {
  return begin(Bcast{buffer, count, type, root, comm}, request);
}

int TAUT_Iallgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, TAUT_Request* request) {
  return begin(Allgather{{sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, comm}, request);
}

int TAUT_Ialltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, TAUT_Request* request) {
  return begin(Alltoall{{sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, comm}, request);
}

int TAUT_Igather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, TAUT_Request* request) {
  return begin(Gather{{sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, root, comm}, request);
}

int TAUT_Iscatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  TAUT_Request* request) {
  return begin(Scatter{{sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, root, comm}, request);
}

int TAUT_Ireduce_scatter(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm, TAUT_Request* request) {
  return begin(ReduceScatter{sendbuf, recvbuf, recvcounts, type, op, comm}, request);
}

int TAUT_Iallgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                     MPI_Comm comm, TAUT_Request* request) {
  return begin(Allgatherv{sendbuf, sendcount, sendtype, recvbuf, {recvcounts, displs, recvtype}, comm},
               request);
}

int TAUT_Igatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm, TAUT_Request* request) {
  return begin(Gatherv{sendbuf, sendcount, sendtype, recvbuf, {recvcounts, displs, recvtype}, root, comm},
               request);
}

int TAUT_Iscatterv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                   MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                   MPI_Comm comm, TAUT_Request* request) {
  return begin(Scatterv{sendbuf, {sendcounts, displs, sendtype}, recvbuf, recvcount, recvtype, root, comm},
               request);
}

int TAUT_Ialltoallv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, TAUT_Request* request) {
  return begin(
      Alltoallv{sendbuf, {sendcounts, sdispls, sendtype}, recvbuf, {recvcounts, rdispls, recvtype}, comm},
      request);
}

}  // extern "C"
