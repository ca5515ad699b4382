// Calls of taut.h that start and complete requests.
#include "communication/api/state/comm_registry.hpp"
#include "communication/api/state/requests.hpp"
#include "communication/mpi/errors.hpp"

namespace taut::api {
namespace {

bool active(TAUT_Request request) noexcept { return request != TAUT_REQUEST_NULL && request->active(); }

// Sets a status to MPI's empty status, as for MPI_REQUEST_NULL.
void make_empty(MPI_Status* status) noexcept {
  MPI_Request none = MPI_REQUEST_NULL;
  PMPI_Wait(&none, status);
}

// Failure of a request, and the communicator on which it is raised.
struct Ended {
  MPI_Comm comm = MPI_COMM_NULL;
  Failure failure;
};

// Finishes a request that is complete. Deletes a nonblocking one.
Ended finish(TAUT_Request& request, MPI_Status* status) {
  make_empty(status);
  if (!active(request)) return {};
  const Ended ended{request->comm(), request->finish(status)};
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = ended.failure.code;
  if (!request->persistent()) delete std::exchange(request, TAUT_REQUEST_NULL);
  return ended;
}

// Finishes a request that is complete, and raises its failure.
int end(TAUT_Request& request, MPI_Status* status) {
  const auto [comm, failure] = finish(request, status);
  return raise(comm, failure);
}

bool complete(TAUT_Request request) { return !active(request) || request->complete(); }

// Finishes requests that are all complete. Raises the first failure.
int end_all(std::span<TAUT_Request> requests, MPI_Status* statuses) {
  Ended first;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    const Ended ended = finish(requests[i], status);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = ended.failure.code;
    if (!first.failure) first = ended;
  }
  const int code = raise(first.comm, first.failure);
  return code == MPI_SUCCESS || statuses == MPI_STATUSES_IGNORE ? code : MPI_ERR_IN_STATUS;
}

void check(bool usable) {
  if (!usable) throw Error(Status::invalid_argument, describe(Status::invalid_argument));
}

std::span<TAUT_Request> checked(int count, TAUT_Request requests[]) {
  check(count >= 0 && (requests != nullptr || count == 0));
  return {requests, static_cast<std::size_t>(count)};
}

// Calls `action` on a request that exists. Errors are raised on its communicator.
template <class Action>
int on_request(TAUT_Request* request, const Action& action) {
  check(request != nullptr && *request != TAUT_REQUEST_NULL);
  return guard((*request)->comm(), [&] { return action(**request); });
}

int start(TAUT_Request* request) {
  return on_request(request, [](auto& persistent) {
    if (!persistent.persistent() || persistent.active())
      throw Error(Status::invalid_argument, "only an inactive persistent request can be started");
    return persistent.start();
  });
}

}  // namespace
}  // namespace taut::api

using namespace taut::api;

// Functions on requests. Errors that belong to no request are raised on MPI_COMM_SELF, as in MPI.
extern "C" {

int TAUT_Start(TAUT_Request* request) {
  return guard(MPI_COMM_SELF, [&] { return start(request); });
}

int TAUT_Startall(int count, TAUT_Request requests[]) {
  return guard(MPI_COMM_SELF, [&]() -> int {
    for (TAUT_Request& request : checked(count, requests))
      if (const int code = start(&request); code != MPI_SUCCESS) return code;
    return MPI_SUCCESS;
  });
}

int TAUT_Cuda_start_enqueue(TAUT_Request* request, void* stream) {
  return guard(MPI_COMM_SELF, [&] {
    return on_request(request, [&](auto& started) { return started.start_on(stream), MPI_SUCCESS; });
  });
}

int TAUT_Cuda_wait_enqueue(TAUT_Request* request, void* stream) {
  return guard(MPI_COMM_SELF, [&] {
    return on_request(request, [&](auto& awaited) { return awaited.hold(stream), MPI_SUCCESS; });
  });
}

int TAUT_Wait(TAUT_Request* request, MPI_Status* status) {
  return guard(MPI_COMM_SELF, [&] {
    check(request != nullptr);
    if (active(*request)) (*request)->wait();
    return end(*request, status);
  });
}

int TAUT_Test(TAUT_Request* request, int* flag, MPI_Status* status) {
  return guard(MPI_COMM_SELF, [&] {
    check(request != nullptr && flag != nullptr);
    progress(nullptr);
    *flag = complete(*request);
    return *flag != 0 ? end(*request, status) : MPI_SUCCESS;
  });
}

int TAUT_Waitall(int count, TAUT_Request requests[], MPI_Status statuses[]) {
  return guard(MPI_COMM_SELF, [&] {
    const auto all = checked(count, requests);
    for (TAUT_Request request : all)
      if (active(request)) request->wait();
    return end_all(all, statuses);
  });
}

int TAUT_Testall(int count, TAUT_Request requests[], int* flag, MPI_Status statuses[]) {
  return guard(MPI_COMM_SELF, [&] {
    const auto all = checked(count, requests);
    check(flag != nullptr);
    progress(nullptr);
    *flag = std::ranges::all_of(all, complete);
    return *flag != 0 ? end_all(all, statuses) : MPI_SUCCESS;
  });
}

int TAUT_Waitany(int count, TAUT_Request requests[], int* index, MPI_Status* status) {
  return guard(MPI_COMM_SELF, [&] {
    const auto all = checked(count, requests);
    check(index != nullptr);
    const auto is_complete = [](TAUT_Request request) { return active(request) && request->complete(); };
    auto found = all.end();
    for (taut::Backoff backoff; std::ranges::any_of(all, active); backoff.pause()) {
      progress(nullptr);
      if ((found = std::ranges::find_if(all, is_complete)) != all.end()) break;
    }
    *index = found != all.end() ? static_cast<int>(found - all.begin()) : MPI_UNDEFINED;
    TAUT_Request none = TAUT_REQUEST_NULL;
    return end(found != all.end() ? *found : none, status);
  });
}

int TAUT_Request_free(TAUT_Request* request) {
  return guard(MPI_COMM_SELF, [&]() -> int {
    check(request != nullptr);
    std::unique_ptr<TAUT_Request_s> owned(std::exchange(*request, TAUT_REQUEST_NULL));
    if (!active(owned.get())) return MPI_SUCCESS;
    owned->wait();
    const MPI_Comm comm = owned->comm();
    const Failure failure = owned->finish(MPI_STATUS_IGNORE);
    owned.reset();
    return raise(comm, failure);
  });
}

}  // extern "C"
