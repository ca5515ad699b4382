// Completion of requests. While a nonblocking call of Taut is in progress, a waiting thread advances the call
// itself instead of waiting for the progress thread, which sleeps now and then. Completed receives are
// inspected for coded messages.
#include <taut/taut.h>

#include <algorithm>

#include "core/task.hpp"
#include "dropin/generalized_requests.hpp"
#include "dropin/large_counts.hpp"
#include "dropin/next_symbol.hpp"
#include "p2p/request_table.hpp"

namespace taut::dropin {
namespace {

using p2p::CompletionScope;

// Advances Taut's calls and runs `test(&done)`, a test function of MPI, until none of Taut's calls is in
// progress or the test reports that there is nothing more to wait for. Returns true in the second case,
// or if the test fails; `code` is then the test's code.
template <class Test>
bool test_until_done(int& code, Test test) noexcept {
  if (!calls_in_progress()) return false;
  const DrivingScope driving;
  int done = 0;
  for (Backoff backoff; done == 0 && calls_in_progress(); backoff.pause()) {
    progress_calls();
    code = test(&done);
    if (code != MPI_SUCCESS) return true;
  }
  return done != 0;
}

// ---- MPI's completion functions while calls of Taut are in progress

int wait(MPI_Request* request, MPI_Status* status) noexcept {
  int code = MPI_SUCCESS;
  const auto test = [&](int* done) { return PMPI_Test(request, done, status); };
  return test_until_done(code, test) ? code : call_next(Wrapped::MPI_Wait, request, status);
}

int wait_all(int count, MPI_Request requests[], MPI_Status statuses[]) noexcept {
  int code = MPI_SUCCESS;
  const auto test = [&](int* done) { return PMPI_Testall(count, requests, done, statuses); };
  return test_until_done(code, test) ? code : call_next(Wrapped::MPI_Waitall, count, requests, statuses);
}

int wait_any(int count, MPI_Request requests[], int* index, MPI_Status* status) noexcept {
  int code = MPI_SUCCESS;
  const auto test = [&](int* done) { return PMPI_Testany(count, requests, index, done, status); };
  return test_until_done(code, test) ? code : call_next(Wrapped::MPI_Waitany, count, requests, index, status);
}

int wait_some(int incount, MPI_Request requests[], int* outcount, int indices[],
              MPI_Status statuses[]) noexcept {
  int code = MPI_SUCCESS;
  const auto test = [&](int* done) {
    const int tested = PMPI_Testsome(incount, requests, outcount, indices, statuses);
    *done = *outcount != 0;  // MPI_UNDEFINED: there is no request to wait for
    return tested;
  };
  return test_until_done(code, test)
             ? code
             : call_next(Wrapped::MPI_Waitsome, incount, requests, outcount, indices, statuses);
}

int test(MPI_Request* request, int* flag, MPI_Status* status) noexcept {
  if (calls_in_progress()) progress_calls();
  return call_next(Wrapped::MPI_Test, request, flag, status);
}

int test_all(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) noexcept {
  if (calls_in_progress()) progress_calls();
  return call_next(Wrapped::MPI_Testall, count, requests, flag, statuses);
}

int test_any(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) noexcept {
  if (calls_in_progress()) progress_calls();
  return call_next(Wrapped::MPI_Testany, count, requests, index, flag, status);
}

int test_some(int incount, MPI_Request requests[], int* outcount, int indices[],
              MPI_Status statuses[]) noexcept {
  if (calls_in_progress()) progress_calls();
  return call_next(Wrapped::MPI_Testsome, incount, requests, outcount, indices, statuses);
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
      : own_(ignored ? static_cast<std::size_t>(n) : 0),
        at_(ignored ? own_.data() : wanted),
        ignored_(ignored) {}

  MPI_Status* data() const noexcept { return at_; }
  bool ignored() const noexcept { return ignored_; }

 private:
  std::vector<MPI_Status> own_;
  MPI_Status* at_;
  bool ignored_;
};

// Holds back the requests whose message is not whole. If there are any, returns true and advances all calls
// and receives of Taut.
bool hold_back(CompletionScope& completion) noexcept {
  const bool held = completion.hold_back() != 0;
  if (held) progress_calls();
  return held;
}

// Waits until every message that comes or goes in segments is whole.
void wait_for_segments(CompletionScope& completion) noexcept {
  for (Backoff backoff; hold_back(completion);) backoff.pause();
}

// Finishes request `i`, which has completed or failed.
int finish_one(CompletionScope& completion, std::size_t i, int code, MPI_Status& status) noexcept {
  if (code == MPI_SUCCESS) return completion.finish(i, status);
  completion.discard(i);
  return code;
}

// Inspects request `i`, which is complete and stays as it is.
int look_at_one(CompletionScope& completion, std::size_t i, int code, MPI_Status& status) noexcept {
  return code == MPI_SUCCESS ? completion.look(i, status) : code;
}

// Finishes n completed requests, of which the k-th is index(k). Returns a code as MPI does.
template <class Index>
int finish_all(CompletionScope& completion, int code, int n, const ReadableStatuses& statuses, Index index,
               decltype(finish_one) finish = finish_one) noexcept {
  int error_class = code;
  if (code != MPI_SUCCESS) PMPI_Error_class(code, &error_class);
  if (code != MPI_SUCCESS && error_class != MPI_ERR_IN_STATUS) return code;
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
int wait_for_any(CompletionScope& completion, int count, int* index, MPI_Status& status) noexcept {
  for (Backoff backoff; hold_back(completion); backoff.pause()) {
    int done = 0;
    const int code = test_any(count, completion.requests(), index, &done, &status);
    if (code != MPI_SUCCESS || (done != 0 && *index != MPI_UNDEFINED)) return code;
  }
  return wait_any(count, completion.requests(), index, &status);
}

// Completes some requests. `waits`: at least one, as MPI_Waitsome.
int complete_some(bool waits, int incount, MPI_Request requests[], int* outcount, int indices[],
                  MPI_Status statuses[]) {
  CompletionScope completion(listed(incount, requests));
  if (!completion.matters())
    return (waits ? wait_some : test_some)(incount, requests, outcount, indices, statuses);
  const ReadableStatuses some(statuses, statuses == MPI_STATUSES_IGNORE, incount);
  int code = MPI_SUCCESS;
  bool held = true, nothing = true;
  for (Backoff backoff; nothing; backoff.pause()) {
    held = hold_back(completion);
    code = (waits && !held ? wait_some : test_some)(incount, completion.requests(), outcount, indices,
                                                    some.data());
    if (held && *outcount == MPI_UNDEFINED) *outcount = 0;
    nothing = waits && held && code == MPI_SUCCESS && *outcount == 0;
  }
  return finish_all(completion, code, *outcount, some, [&](int k) { return indices[k]; });
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

int look_for_any(int count, const MPI_Request requests[], int* index, int* flag,
                 MPI_Status* status) noexcept {
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

int look_at_all(int count, const MPI_Request requests[], int* flag, MPI_Status statuses[]) noexcept {
  const bool ignored = statuses == MPI_STATUSES_IGNORE;
  int code = MPI_SUCCESS;
  *flag = 1;
  for (int i = 0; i < count && *flag != 0 && code == MPI_SUCCESS; ++i)
    code = taut_dropin_MPI_Request_get_status(requests[i], flag, ignored ? MPI_STATUS_IGNORE : &statuses[i]);
  return code;
}

int look_for_some(int incount, const MPI_Request requests[], int* outcount, int indices[],
                  MPI_Status statuses[]) noexcept {
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
  CompletionScope completion(listed(1, request));
  if (!completion.matters()) return wait(request, status);
  wait_for_segments(completion);
  const ReadableStatuses one(status, status == MPI_STATUS_IGNORE, 1);
  const int code = wait(completion.requests(), one.data());
  return finish_one(completion, 0, code, *one.data());
}

TAUT_API int taut_dropin_MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  CompletionScope completion(listed(1, request));
  if (!completion.matters()) return test(request, flag, status);
  if (hold_back(completion)) return *flag = 0, MPI_SUCCESS;
  const ReadableStatuses one(status, status == MPI_STATUS_IGNORE, 1);
  const int code = test(completion.requests(), flag, one.data());
  return code != MPI_SUCCESS || *flag != 0 ? finish_one(completion, 0, code, *one.data()) : code;
}

TAUT_API int taut_dropin_MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  CompletionScope completion(listed(count, requests));
  if (!completion.matters()) return wait_all(count, requests, statuses);
  const ReadableStatuses all(statuses, statuses == MPI_STATUSES_IGNORE, count);
  wait_for_segments(completion);
  const int code = wait_all(count, completion.requests(), all.data());
  return finish_all(completion, code, count, all, itself);
}

TAUT_API int taut_dropin_MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  CompletionScope completion(listed(count, requests));
  if (!completion.matters()) return test_all(count, requests, flag, statuses);
  if (hold_back(completion)) return *flag = 0, MPI_SUCCESS;
  const ReadableStatuses all(statuses, statuses == MPI_STATUSES_IGNORE, count);
  const int code = test_all(count, completion.requests(), flag, all.data());
  return *flag != 0 || code != MPI_SUCCESS ? finish_all(completion, code, count, all, itself) : code;
}

TAUT_API int taut_dropin_MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  CompletionScope completion(listed(count, requests));
  if (!completion.matters()) return wait_any(count, requests, index, status);
  const ReadableStatuses one(status, status == MPI_STATUS_IGNORE, 1);
  const int code = wait_for_any(completion, count, index, *one.data());
  return *index >= 0 ? finish_one(completion, static_cast<std::size_t>(*index), code, *one.data()) : code;
}

TAUT_API int taut_dropin_MPI_Testany(int count, MPI_Request requests[], int* index, int* flag,
                                     MPI_Status* status) {
  CompletionScope completion(listed(count, requests));
  if (!completion.matters()) return test_any(count, requests, index, flag, status);
  const ReadableStatuses one(status, status == MPI_STATUS_IGNORE, 1);
  const bool held = hold_back(completion);
  const int code = test_any(count, completion.requests(), index, flag, one.data());
  if (held && *index == MPI_UNDEFINED) *flag = 0;
  if (*flag == 0 || *index < 0) return code;
  return finish_one(completion, static_cast<std::size_t>(*index), code, *one.data());
}

TAUT_API int taut_dropin_MPI_Waitsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                                      MPI_Status statuses[]) {
  return complete_some(true, incount, requests, outcount, indices, statuses);
}

TAUT_API int taut_dropin_MPI_Testsome(int incount, MPI_Request requests[], int* outcount, int indices[],
                                      MPI_Status statuses[]) {
  return complete_some(false, incount, requests, outcount, indices, statuses);
}

// ---- Inspection of requests without completion

TAUT_API int taut_dropin_MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  CompletionScope completion(listed(1, &request));
  if (!completion.matters()) return call_next(Wrapped::MPI_Request_get_status, request, flag, status);
  if (hold_back(completion)) return *flag = 0, MPI_SUCCESS;
  const ReadableStatuses one(status, status == MPI_STATUS_IGNORE, 1);
  const int code = call_next(Wrapped::MPI_Request_get_status, *completion.requests(), flag, one.data());
  return *flag != 0 ? look_at_one(completion, 0, code, *one.data()) : code;
}

TAUT_API int taut_dropin_MPI_Request_get_status_any(int count, MPI_Request requests[], int* index, int* flag,
                                                    MPI_Status* status) {
  constexpr Wrapped function = Wrapped::MPI_Request_get_status_any;
  if (!has(function)) return look_for_any(count, requests, index, flag, status);
  CompletionScope completion(listed(count, requests));
  if (!completion.matters()) return call_next(function, count, requests, index, flag, status);
  const bool held = hold_back(completion);
  const ReadableStatuses one(status, status == MPI_STATUS_IGNORE, 1);
  const int code = call_next(function, count, completion.requests(), index, flag, one.data());
  if (held && *index == MPI_UNDEFINED) *flag = 0;
  if (*flag == 0 || *index < 0) return code;
  return look_at_one(completion, static_cast<std::size_t>(*index), code, *one.data());
}

TAUT_API int taut_dropin_MPI_Request_get_status_all(int count, MPI_Request requests[], int* flag,
                                                    MPI_Status statuses[]) {
  constexpr Wrapped function = Wrapped::MPI_Request_get_status_all;
  if (!has(function)) return look_at_all(count, requests, flag, statuses);
  CompletionScope completion(listed(count, requests));
  if (!completion.matters()) return call_next(function, count, requests, flag, statuses);
  if (hold_back(completion)) return *flag = 0, MPI_SUCCESS;
  const ReadableStatuses all(statuses, statuses == MPI_STATUSES_IGNORE, count);
  const int code = call_next(function, count, completion.requests(), flag, all.data());
  return *flag != 0 ? finish_all(completion, code, count, all, itself, look_at_one) : code;
}

TAUT_API int taut_dropin_MPI_Request_get_status_some(int incount, MPI_Request requests[], int* outcount,
                                                     int indices[], MPI_Status statuses[]) {
  constexpr Wrapped function = Wrapped::MPI_Request_get_status_some;
  if (!has(function)) return look_for_some(incount, requests, outcount, indices, statuses);
  CompletionScope completion(listed(incount, requests));
  if (!completion.matters()) return call_next(function, incount, requests, outcount, indices, statuses);
  const bool held = hold_back(completion);
  const ReadableStatuses some(statuses, statuses == MPI_STATUSES_IGNORE, incount);
  const int code = call_next(function, incount, completion.requests(), outcount, indices, some.data());
  if (held && *outcount == MPI_UNDEFINED) *outcount = 0;
  return finish_all(
      completion, code, *outcount, some, [&](int k) { return indices[k]; }, look_at_one);
}

}  // extern "C"
