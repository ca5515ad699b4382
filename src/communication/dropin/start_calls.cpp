// Calls that start, cancel and free requests. Some requests are Taut's, or have a substitute.
#include <taut/taut.h>

#include "communication/dropin/counts.hpp"
#include "communication/dropin/fortran.hpp"
#include "communication/dropin/next_symbol.hpp"
#include "communication/dropin/persistent.hpp"
#include "communication/dropin/send_calls.hpp"
#include "communication/p2p/request_table.hpp"

namespace {

using namespace taut::dropin;
using namespace taut::p2p;

// Receives a message that was probed for. Returns false if there is none.
bool receive_probed(const MpiMessage& recv, PostedReceive& posted, int& code) {
  taut::api::Failure failure;
  if (!ProbeQueue().receive(recv, posted, failure)) return false;
  code = taut::api::raise(recv.comm, failure);
  return true;
}

// Starts a persistent receive: matches it to a message that was probed for, makes a nonblocking receive of a
// message that may come in segments or goes through a bounce buffer, or lets MPI start it.
int start_receive(MPI_Request* request) {
  const auto persistent = find_persistent(*request);
  if (!persistent || persistent->first != nullptr) return call_next(Wrapped::MPI_Start, request);
  const MpiMessage& recv = persistent->second;
  PostedReceive posted;
  int code = MPI_SUCCESS;
  const bool posts = may_be_segmented(recv) || bounce_device(recv) != nullptr;
  if (posts && recv.peer != MPI_PROC_NULL)
    code = post(recv, posted);
  else if (!may_be_probed() || !receive_probed(recv, posted, code))
    return call_next(Wrapped::MPI_Start, request);
  if (code == MPI_SUCCESS) substitute(*request, std::move(posted));
  return code;
}

int start(MPI_Request* request) {
  int code = MPI_SUCCESS;
  if (request != nullptr) count_start(*request);
  if (request != nullptr && (start_persistent(*request, code) || start_coded(*request, code))) return code;
  return request != nullptr ? start_receive(request) : call_next(Wrapped::MPI_Start, request);
}

}  // namespace

extern "C" {

TAUT_API int taut_dropin_MPI_Start(MPI_Request* request) { return start(request); }

// Starts the requests one after the other, as MPI does; stops at the first error.
TAUT_API int taut_dropin_MPI_Startall(int count, MPI_Request requests[]) {
  for (int i = 0; i < count; ++i)
    if (const int code = start(&requests[i]); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

TAUT_API int taut_dropin_MPI_Request_free(MPI_Request* request) {
  if (request != nullptr) forget_persistent(*request);
  if (request != nullptr) forget_starts_of(*request);
  if (request != nullptr && untrack(*request)) return MPI_SUCCESS;
  return call_next(Wrapped::MPI_Request_free, request);
}

TAUT_API int taut_dropin_MPI_Cancel(MPI_Request* request) {
  MPI_Request substitute = request != nullptr ? substitute_of(*request) : MPI_REQUEST_NULL;
  return substitute != MPI_REQUEST_NULL ? PMPI_Cancel(&substitute) : call_next(Wrapped::MPI_Cancel, request);
}

// ---- Fortran

#ifdef OPEN_MPI
TAUT_API void taut_fortran_MPI_Start(MPI_Fint* request, MPI_Fint* ierror) {
  MPI_Request one = PMPI_Request_f2c(*request);
  *ierror = taut_dropin_MPI_Start(&one);
}

TAUT_API void taut_fortran_MPI_Startall(MPI_Fint* count, MPI_Fint requests[], MPI_Fint* ierror) {
  *ierror = MPI_SUCCESS;
  for (MPI_Fint i = 0; i < *count && *ierror == MPI_SUCCESS; ++i)
    taut_fortran_MPI_Start(&requests[i], ierror);
}

TAUT_API void taut_fortran_MPI_Request_free(MPI_Fint* request, MPI_Fint* ierror) {
  MPI_Request one = PMPI_Request_f2c(*request);
  *ierror = taut_dropin_MPI_Request_free(&one);
  if (*ierror == MPI_SUCCESS) *request = PMPI_Request_c2f(one);
}
#elif !defined(MPI_ABI)
// MPICH's module mpi_f08 starts and frees requests without a call of the C functions. Its handles are C's,
// and `ierror` may be absent.
TAUT_API void taut_f08_MPI_Start(MPI_Request* request, int* ierror) {
  set_ierror(ierror, taut_dropin_MPI_Start(request));
}

TAUT_API void taut_f08_MPI_Startall(int* count, MPI_Request requests[], int* ierror) {
  set_ierror(ierror, taut_dropin_MPI_Startall(*count, requests));
}

TAUT_API void taut_f08_MPI_Request_free(MPI_Request* request, int* ierror) {
  set_ierror(ierror, taut_dropin_MPI_Request_free(request));
}
#endif

}  // extern "C"
