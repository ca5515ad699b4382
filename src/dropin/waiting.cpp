// Completion of requests. While a nonblocking call of Taut's is in progress, a thread that waits makes it go
// on itself, rather than wait for a thread that sleeps now and then.
#include <taut/taut.h>

#include "core/task.hpp"
#include "dropin/in_progress.hpp"
#include "dropin/next.hpp"

namespace taut::dropin {
namespace {

template <class... Arguments>
int call_next(Wrapped function, Arguments... arguments) noexcept {
  return next_as<int (*)(Arguments...)>(function)(arguments...);
}

// Until nothing of Taut's is in progress, or `test(&done)`, of MPI's, says that there is no more to wait for.
// Whether it has said so; then `code` is its code.
template <class Test>
bool test_until_done(int& code, Test test) noexcept {
  if (!any_in_progress()) return false;
  const Driving driving;
  int done = 0;
  for (Backoff backoff; done == 0 && any_in_progress(); backoff.pause()) {
    go_on();
    code = test(&done);
    if (code != MPI_SUCCESS) return true;
  }
  return done != 0;
}

}  // namespace
}  // namespace taut::dropin

using namespace taut::dropin;

extern "C" {

TAUT_API int taut_dropin_MPI_Wait(MPI_Request* request, MPI_Status* status) {
  int code = MPI_SUCCESS;
  const auto test = [&](int* done) { return PMPI_Test(request, done, status); };
  return test_until_done(code, test) ? code : call_next(Wrapped::MPI_Wait, request, status);
}

TAUT_API int taut_dropin_MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  int code = MPI_SUCCESS;
  const auto test = [&](int* done) { return PMPI_Testall(count, requests, done, statuses); };
  return test_until_done(code, test) ? code : call_next(Wrapped::MPI_Waitall, count, requests, statuses);
}

TAUT_API int taut_dropin_MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  int code = MPI_SUCCESS;
  const auto test = [&](int* done) { return PMPI_Testany(count, requests, index, done, status); };
  return test_until_done(code, test) ? code : call_next(Wrapped::MPI_Waitany, count, requests, index, status);
}

TAUT_API int taut_dropin_MPI_Waitsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                                      MPI_Status statuses[]) {
  int code = MPI_SUCCESS;
  const auto test = [&](int* done) {
    const int tested = PMPI_Testsome(incount, requests, outcount, indices, statuses);
    *done = *outcount != 0;  // or MPI_UNDEFINED: there is none to wait for
    return tested;
  };
  return test_until_done(code, test)
             ? code
             : call_next(Wrapped::MPI_Waitsome, incount, requests, outcount, indices, statuses);
}

TAUT_API int taut_dropin_MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (any_in_progress()) go_on();
  return call_next(Wrapped::MPI_Test, request, flag, status);
}

TAUT_API int taut_dropin_MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (any_in_progress()) go_on();
  return call_next(Wrapped::MPI_Testall, count, requests, flag, statuses);
}

TAUT_API int taut_dropin_MPI_Testany(int count, MPI_Request requests[], int* index, int* flag,
                                     MPI_Status* status) {
  if (any_in_progress()) go_on();
  return call_next(Wrapped::MPI_Testany, count, requests, index, flag, status);
}

TAUT_API int taut_dropin_MPI_Testsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                                      MPI_Status statuses[]) {
  if (any_in_progress()) go_on();
  return call_next(Wrapped::MPI_Testsome, incount, requests, outcount, indices, statuses);
}

}  // extern "C"
