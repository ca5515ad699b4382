#include "api/entry/verbs.hpp"

#include "api/args/pmpi.hpp"
#include "api/errors.hpp"
#include "api/state/requests.hpp"
#include "api/state/rule_binding.hpp"

namespace taut::api {
namespace {

// Serves a call compressed, or falls back to plain MPI.
int serve_by(CommState& comm_state, const MpiCall& call) {
  const auto plain = [&] { return run_plain(call); };
  if (comm_state.repeated_fallback(call)) {
    finish_calls();
    return comm_state.run_again(plain);
  }
  const std::optional<CollectiveCall> described = comm_state.describe(call, true);
  const Fallback why = comm_state.early_fallback(described, call);
  if (why != Fallback::none) {
    finish_calls();
    return comm_state.run_plain(described, why, plain);
  }
  const Verdict verdict = comm_state.run(call.comm, *described);
  if (verdict.plain != Fallback::none)  // agreed, so every rank falls back here
    return comm_state.run_plain(described, verdict.plain, plain);
  return verdict.status == Status::ok ? MPI_SUCCESS : raise(call.comm, verdict.status);
}

std::unique_ptr<CollectiveRequest> make_request(const MpiCall& call, bool persistent, TAUT_Request* request) {
  if (request == nullptr) throw Error(Status::invalid_argument, "a request is NULL");
  *request = TAUT_REQUEST_NULL;
  return std::make_unique<CollectiveRequest>(call, persistent);
}

}  // namespace

int serve_call(const MpiCall& call) noexcept {
  return guard(call.comm, [&] {
    CommState* const comm_state = find_or_bind_state(call.comm);
    if (comm_state != nullptr) return serve_by(*comm_state, call);
    finish_calls();
    return run_plain(call);
  });
}

int begin_call(const MpiCall& call, TAUT_Request* request) noexcept {
  return guard(call.comm, [&] {
    auto made = make_request(call, false, request);
    int code = made->init(MPI_INFO_NULL);
    if (code == MPI_SUCCESS) code = made->start();
    if (code == MPI_SUCCESS) *request = made.release();
    return code;
  });
}

int prepare_call(const MpiCall& call, MPI_Info info, TAUT_Request* request) noexcept {
  return guard(call.comm, [&] {
    auto made = make_request(call, true, request);
    const int code = made->init(info);
    if (code == MPI_SUCCESS) *request = made.release();
    return code;
  });
}

}  // namespace taut::api
