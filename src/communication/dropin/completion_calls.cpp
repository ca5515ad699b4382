// Completion of requests. While a nonblocking call of Taut is in progress, a waiting thread advances the call
// itself instead of waiting for the progress thread, which sleeps now and then. Completed receives are
// inspected for coded messages.
#include <taut/taut.h>

#include <algorithm>
#include <memory>

#include "communication/dropin/generalized_requests.hpp"
#include "communication/dropin/large_counts.hpp"
#include "communication/dropin/next_symbol.hpp"
#include "communication/p2p/request_table.hpp"
#include "communication/team/task.hpp"

namespace taut::dropin {
namespace {

using p2p::CompletionScope;

// Makes a call of `function`, which waits for requests. While calls of Taut are in progress, advances them
// and runs `test(&done)`, the corresponding test function of MPI, until it reports that there is nothing more
// to wait for.
template <class Test, class... Arguments>
int wait(Test test, Wrapped function, Arguments... arguments) {
  if (!calls_in_progress()) return call_next(function, arguments...);
  Backoff backoff;
  for (bool first = true; calls_in_progress(); first = false) {
    {
      const DrivingScope driving;
      if (!first) backoff.pause();
      advance_calls();
    }
    raise_failures();
    int done = 0;
    if (const int code = test(&done); code != MPI_SUCCESS || done != 0) return code;
  }
  const int code = call_next(function, arguments...);
  raise_failures();
  return code;
}

int wait_one(MPI_Request* request, MPI_Status* status) {
  const auto test = [&](int* done) { return PMPI_Test(request, done, status); };
  return wait(test, Wrapped::MPI_Wait, request, status);
}

int wait_all(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const auto test = [&](int* done) { return PMPI_Testall(count, requests, done, statuses); };
  return wait(test, Wrapped::MPI_Waitall, count, requests, statuses);
}

int wait_any(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  const auto test = [&](int* done) { return PMPI_Testany(count, requests, index, done, status); };
  return wait(test, Wrapped::MPI_Waitany, count, requests, index, status);
}

int wait_some(int incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  const auto test = [&](int* done) {
    const int code = PMPI_Testsome(incount, requests, outcount, indices, statuses);
    *done = *outcount != 0;  // MPI_UNDEFINED: there is no request to wait for
    return code;
  };
  return wait(test, Wrapped::MPI_Waitsome, incount, requests, outcount, indices, statuses);
}

// Makes a call of `function`, which tests or inspects requests, after Taut's calls have advanced.
template <class... Arguments>
int test(Wrapped function, Arguments... arguments) {
  if (!calls_in_progress()) return call_next(function, arguments...);
  progress_calls();
  const int code = call_next(function, arguments...);
  raise_failures();
  return code;
}

// ---- Messages among the completed requests

std::span<MPI_Request> listed(int count, MPI_Request* requests) noexcept {
  if (count <= 0 || requests == nullptr) return {};
  return {requests, static_cast<std::size_t>(count)};
}

// Array of statuses that can be read after a call of MPI: the program's, or one of this object if the program
// ignores statuses.
class ReadableStatuses {
 public:
  ReadableStatuses(MPI_Status* wanted, bool ignored, int n)
      : own_(ignored ? std::make_unique_for_overwrite<MPI_Status[]>(static_cast<std::size_t>(n)) : nullptr),
        at_(ignored ? own_.get() : wanted),
        ignored_(ignored) {}

  MPI_Status* data() const noexcept { return at_; }
  bool ignored() const noexcept { return ignored_; }

 private:
  std::unique_ptr<MPI_Status[]> own_;
  MPI_Status* at_;
  bool ignored_;
};

// Completes requests by `complete(completion)`, or by `plain()` if none of them is Taut's. Raises the failure
// of a message when no scope is left that an error handler which does not return would leave open.
template <class Plain, class Complete>
int completing(std::span<MPI_Request> requests, Plain plain, Complete complete) {
  if (!p2p::has_tracked_requests()) return plain();
  std::pair<MPI_Comm, api::Failure> failure;
  int code = MPI_SUCCESS;
  {
    CompletionScope completion(requests);
    if (!completion.matters()) return plain();
    code = complete(completion);
    failure = completion.failure();
  }
  api::raise(failure.first, failure.second);
  return code;
}

// Holds back the requests whose message is not whole. If there are any, returns true and advances all calls
// and receives of Taut.
bool hold_back(CompletionScope& completion) {
  const bool held = completion.hold_back() != 0;
  if (held) progress_calls();
  return held;
}

// Waits until every message that comes or goes in segments is whole.
void wait_for_segments(CompletionScope& completion) {
  for (Backoff backoff; hold_back(completion);) backoff.pause();
}

// Finishes request `i`, which has completed or failed.
int finish_one(CompletionScope& completion, std::size_t i, int code, MPI_Status& status) {
  if (code == MPI_SUCCESS) return completion.finish(i, status);
  completion.discard(i);
  return code;
}

// Inspects request `i`, which is complete and stays as it is.
int look_at_one(CompletionScope& completion, std::size_t i, int code, MPI_Status& status) {
  return code == MPI_SUCCESS ? completion.get_status(i, status) : code;
}

using Finish = decltype(&finish_one);

// Finishes n completed requests, of which the k-th is index(k). Returns a code as MPI does.
template <class Index>
int finish_all(CompletionScope& completion, int code, int n, const ReadableStatuses& statuses, Index index,
               Finish finish = finish_one) {
  int error_class = code;
  if (code != MPI_SUCCESS) PMPI_Error_class(code, &error_class);
  if (code != MPI_SUCCESS && error_class != MPI_ERR_IN_STATUS) return completion.discard_ended(), code;
  int first = MPI_SUCCESS;
  const bool filled = code != MPI_SUCCESS;
  for (int k = 0; k < n; ++k) {
    MPI_Status& status = statuses.data()[k];
    const int before = filled ? status.MPI_ERROR : MPI_SUCCESS;
    if (before == MPI_ERR_PENDING) continue;
    const int after = finish(completion, static_cast<std::size_t>(index(k)), before, status);
    status.MPI_ERROR = after;
    if (before == MPI_SUCCESS && first == MPI_SUCCESS) first = after;
  }
  if (filled || first == MPI_SUCCESS) return code;
  return statuses.ignored() ? first : MPI_ERR_IN_STATUS;
}

int itself(int k) noexcept { return k; }

// Waits for one of the requests, some of which may be held back.
int wait_for_any(CompletionScope& completion, int count, int* index, MPI_Status& status) {
  for (Backoff backoff; hold_back(completion); backoff.pause()) {
    int done = 0;
    const int code = test(Wrapped::MPI_Testany, count, completion.requests(), index, &done, &status);
    if (code != MPI_SUCCESS || (done != 0 && *index != MPI_UNDEFINED)) return code;
  }
  return wait_any(count, completion.requests(), index, &status);
}

// Waits for at least one of the requests, some of which may be held back.
int wait_for_some(CompletionScope& completion, int incount, int* outcount, int indices[],
                  MPI_Status statuses[]) {
  for (Backoff backoff; hold_back(completion); backoff.pause()) {
    const int code = test(Wrapped::MPI_Testsome, incount, completion.requests(), outcount, indices, statuses);
    if (code != MPI_SUCCESS || *outcount > 0) return code;
  }
  return wait_some(incount, completion.requests(), outcount, indices, statuses);
}

// ---- Tests. `function` completes the requests or inspects them; `finish` does the same for one request.

int test_all(Wrapped function, Finish finish, int count, MPI_Request requests[], int* flag,
             MPI_Status statuses[]) {
  const auto plain = [&] { return test(function, count, requests, flag, statuses); };
  return completing(listed(count, requests), plain, [&](CompletionScope& completion) -> int {
    if (hold_back(completion)) return *flag = 0, MPI_SUCCESS;
    const ReadableStatuses all(statuses, statuses == MPI_STATUSES_IGNORE, count);
    const int code = test(function, count, completion.requests(), flag, all.data());
    return *flag != 0 || code != MPI_SUCCESS ? finish_all(completion, code, count, all, itself, finish)
                                             : code;
  });
}

int test_any(Wrapped function, Finish finish, int count, MPI_Request requests[], int* index, int* flag,
             MPI_Status* status) {
  const auto plain = [&] { return test(function, count, requests, index, flag, status); };
  return completing(listed(count, requests), plain, [&](CompletionScope& completion) -> int {
    const bool held = hold_back(completion);
    const ReadableStatuses one(status, status == MPI_STATUS_IGNORE, 1);
    const int code = test(function, count, completion.requests(), index, flag, one.data());
    if (held && *index == MPI_UNDEFINED) *flag = 0;
    if (*flag == 0 || *index < 0) return code;
    return finish(completion, static_cast<std::size_t>(*index), code, *one.data());
  });
}

int test_some(Wrapped function, Finish finish, int incount, MPI_Request requests[], int* outcount,
              int indices[], MPI_Status statuses[]) {
  const auto plain = [&] { return test(function, incount, requests, outcount, indices, statuses); };
  return completing(listed(incount, requests), plain, [&](CompletionScope& completion) -> int {
    const bool held = hold_back(completion);
    const ReadableStatuses some(statuses, statuses == MPI_STATUSES_IGNORE, incount);
    const int code = test(function, incount, completion.requests(), outcount, indices, some.data());
    if (held && *outcount == MPI_UNDEFINED) *outcount = 0;
    return finish_all(
        completion, code, *outcount, some, [&](int k) { return indices[k]; }, finish);
  });
}

}  // namespace
}  // namespace taut::dropin

using namespace taut::dropin;
using taut::p2p::CompletionScope;

extern "C" {

TAUT_API int taut_dropin_MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status);
}

namespace {

// ---- Functions for an MPI that cannot inspect several requests at once

int look_for_any(int count, const MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  int code = MPI_SUCCESS;
  bool none = true;
  *flag = 0;
  *index = MPI_UNDEFINED;
  for (int i = 0; i < count && *flag == 0 && code == MPI_SUCCESS; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    none = false;
    code = taut_dropin_MPI_Request_get_status(requests[i], flag, status);
    if (*flag != 0) *index = i;
  }
  if (!none) return code;
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = MPI_SUCCESS;  // as in an empty status
  return taut_dropin_MPI_Request_get_status(MPI_REQUEST_NULL, flag, status);
}

int look_at_all(int count, const MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  const bool ignored = statuses == MPI_STATUSES_IGNORE;
  int code = MPI_SUCCESS;
  *flag = 1;
  for (int i = 0; i < count && *flag != 0 && code == MPI_SUCCESS; ++i)
    code = taut_dropin_MPI_Request_get_status(requests[i], flag, ignored ? MPI_STATUS_IGNORE : &statuses[i]);
  return code;
}

int look_for_some(int incount, const MPI_Request requests[], int* outcount, int indices[],
                  MPI_Status statuses[]) {
  const bool ignored = statuses == MPI_STATUSES_IGNORE;
  int code = MPI_SUCCESS, found = 0, there = 0;
  bool none = true;
  for (int i = 0; i < incount && code == MPI_SUCCESS; ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    none = false;
    code = taut_dropin_MPI_Request_get_status(requests[i], &there,
                                              ignored ? MPI_STATUS_IGNORE : &statuses[found]);
    if (there != 0) indices[found++] = i;
  }
  *outcount = none ? MPI_UNDEFINED : found;
  return code;
}

}  // namespace

extern "C" {

TAUT_API int taut_dropin_MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const auto plain = [&] { return wait_one(request, status); };
  return completing(listed(1, request), plain, [&](CompletionScope& completion) -> int {
    wait_for_segments(completion);
    const ReadableStatuses one(status, status == MPI_STATUS_IGNORE, 1);
    const int code = wait_one(completion.requests(), one.data());
    return finish_one(completion, 0, code, *one.data());
  });
}

TAUT_API int taut_dropin_MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  const auto plain = [&] { return test(Wrapped::MPI_Test, request, flag, status); };
  return completing(listed(1, request), plain, [&](CompletionScope& completion) -> int {
    if (hold_back(completion)) return *flag = 0, MPI_SUCCESS;
    const ReadableStatuses one(status, status == MPI_STATUS_IGNORE, 1);
    const int code = test(Wrapped::MPI_Test, completion.requests(), flag, one.data());
    return code != MPI_SUCCESS || *flag != 0 ? finish_one(completion, 0, code, *one.data()) : code;
  });
}

TAUT_API int taut_dropin_MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const auto plain = [&] { return wait_all(count, requests, statuses); };
  return completing(listed(count, requests), plain, [&](CompletionScope& completion) -> int {
    const ReadableStatuses all(statuses, statuses == MPI_STATUSES_IGNORE, count);
    wait_for_segments(completion);
    const int code = wait_all(count, completion.requests(), all.data());
    return finish_all(completion, code, count, all, itself);
  });
}

TAUT_API int taut_dropin_MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  return test_all(Wrapped::MPI_Testall, finish_one, count, requests, flag, statuses);
}

TAUT_API int taut_dropin_MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  const auto plain = [&] { return wait_any(count, requests, index, status); };
  return completing(listed(count, requests), plain, [&](CompletionScope& completion) -> int {
    const ReadableStatuses one(status, status == MPI_STATUS_IGNORE, 1);
    const int code = wait_for_any(completion, count, index, *one.data());
    return *index >= 0 ? finish_one(completion, static_cast<std::size_t>(*index), code, *one.data()) : code;
  });
}

TAUT_API int taut_dropin_MPI_Testany(int count, MPI_Request requests[], int* index, int* flag,
                                     MPI_Status* status) {
  return test_any(Wrapped::MPI_Testany, finish_one, count, requests, index, flag, status);
}

TAUT_API int taut_dropin_MPI_Waitsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                                      MPI_Status statuses[]) {
  const auto plain = [&] { return wait_some(incount, requests, outcount, indices, statuses); };
  return completing(listed(incount, requests), plain, [&](CompletionScope& completion) -> int {
    const ReadableStatuses some(statuses, statuses == MPI_STATUSES_IGNORE, incount);
    const int code = wait_for_some(completion, incount, outcount, indices, some.data());
    return finish_all(completion, code, *outcount, some, [&](int k) { return indices[k]; });
  });
}

TAUT_API int taut_dropin_MPI_Testsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                                      MPI_Status statuses[]) {
  return test_some(Wrapped::MPI_Testsome, finish_one, incount, requests, outcount, indices, statuses);
}

// ---- Inspection of requests without completion

TAUT_API int taut_dropin_MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  const auto plain = [&] { return test(Wrapped::MPI_Request_get_status, request, flag, status); };
  return completing(listed(1, &request), plain, [&](CompletionScope& completion) -> int {
    if (hold_back(completion)) return *flag = 0, MPI_SUCCESS;
    const ReadableStatuses one(status, status == MPI_STATUS_IGNORE, 1);
    const int code = test(Wrapped::MPI_Request_get_status, *completion.requests(), flag, one.data());
    return *flag != 0 ? look_at_one(completion, 0, code, *one.data()) : code;
  });
}

TAUT_API int taut_dropin_MPI_Request_get_status_any(int count, MPI_Request requests[], int* index, int* flag,
                                                    MPI_Status* status) {
  constexpr Wrapped function = Wrapped::MPI_Request_get_status_any;
  if (!has(function)) return look_for_any(count, requests, index, flag, status);
  return test_any(function, look_at_one, count, requests, index, flag, status);
}

TAUT_API int taut_dropin_MPI_Request_get_status_all(int count, MPI_Request requests[], int* flag,
                                                    MPI_Status statuses[]) {
  constexpr Wrapped function = Wrapped::MPI_Request_get_status_all;
  if (!has(function)) return look_at_all(count, requests, flag, statuses);
  return test_all(function, look_at_one, count, requests, flag, statuses);
}

TAUT_API int taut_dropin_MPI_Request_get_status_some(int incount, MPI_Request requests[], int* outcount,
                                                     int indices[], MPI_Status statuses[]) {
  constexpr Wrapped function = Wrapped::MPI_Request_get_status_some;
  if (!has(function)) return look_for_some(incount, requests, outcount, indices, statuses);
  return test_some(function, look_at_one, incount, requests, outcount, indices, statuses);
}

}  // extern "C"
