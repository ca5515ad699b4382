// The blocking collective calls of taut.h.
#include <taut/taut.h>

#include "api/errors.hpp"
#include "api/ruled.hpp"
#include "api/vector_calls.hpp"

namespace taut::api {
namespace {

template <class Call>
Shape shape_of(const Call& call, const Group& group, const void* site) noexcept {
  if constexpr (requires { call.shape(group, site); }) return call.shape(group, site);
  return {};
}

// Serves the call by frames, or else leaves it to plain MPI. Inlined, so that it sees where the program
// called from.
template <class Call>
[[gnu::always_inline]] inline int serve(const Call& call) noexcept {
  const void* const site = __builtin_return_address(0);
  return guard(call.comm, [&] {
    Attached* const attached = attached_or_ruled(call.comm);
    if (attached == nullptr) {
      finish_calls();
      return call.plain();
    }
    const Shape shape = shape_of(call, attached->group(), site);
    if (attached->plain_again(shape)) {
      finish_calls();
      return attached->run_again([&] { return call.plain(); });
    }
    Described request = call.describe(attached->group());
    if (request) request->site = site;
    const Plain why = attached->plain_at_once(request, shape);
    if (why != Plain::no) {
      finish_calls();
      return attached->run_plain(request, why, [&] { return call.plain(); });
    }
    const Verdict verdict = attached->run(call.comm, *request);
    if (verdict.plain != Plain::no)  // by agreement: so every rank has come here
      return attached->run_plain(request, verdict.plain, [&] { return call.plain(); });
    return verdict.status == Status::ok ? MPI_SUCCESS : raise(call.comm, verdict.status);
  });
}

}  // namespace
}  // namespace taut::api

using namespace taut::api;

extern "C" {

int TAUT_Allreduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm) {
  return serve(Allreduce{sendbuf, recvbuf, count, type, op, comm});
}

int TAUT_Reduce_scatter_block(const void* sendbuf, void* recvbuf, MPI_Count recvcount, MPI_Datatype type,
                              MPI_Op op, MPI_Comm comm) {
  return serve(ReduceScatterBlock{sendbuf, recvbuf, recvcount, type, op, comm});
}

int TAUT_Reduce_scatter(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[], MPI_Datatype type,
                        MPI_Op op, MPI_Comm comm) {
  return serve(ReduceScatter{sendbuf, recvbuf, recvcounts, type, op, comm});
}

int TAUT_Reduce(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm) {
  return serve(Reduce{sendbuf, recvbuf, count, type, op, root, comm});
}

int TAUT_Bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  return serve(Bcast{buffer, count, type, root, comm});
}

int TAUT_Allgather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return serve(Allgather{{sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, comm});
}

int TAUT_Alltoall(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return serve(Alltoall{{sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, comm});
}

int TAUT_Gather(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return serve(Gather{{sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, root, comm});
}

int TAUT_Scatter(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return serve(Scatter{{sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype}, root, comm});
}

int TAUT_Allgatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    MPI_Comm comm) {
  return serve(Allgatherv{sendbuf, sendcount, sendtype, recvbuf, {recvcounts, displs, recvtype}, comm});
}

int TAUT_Gatherv(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                 const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                 MPI_Comm comm) {
  return serve(Gatherv{sendbuf, sendcount, sendtype, recvbuf, {recvcounts, displs, recvtype}, root, comm});
}

int TAUT_Scatterv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                  MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                  MPI_Comm comm) {
  return serve(Scatterv{sendbuf, {sendcounts, displs, sendtype}, recvbuf, recvcount, recvtype, root, comm});
}

int TAUT_Alltoallv(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                   MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                   const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return serve(
      Alltoallv{sendbuf, {sendcounts, sdispls, sendtype}, recvbuf, {recvcounts, rdispls, recvtype}, comm});
}

int TAUT_Error_status(int mpi_error_code) { return static_cast<int>(status_of(mpi_error_code)); }

}  // extern "C"
