#include "api/entry/verbs.hpp"

#include "api/args/describe.hpp"
#include "api/args/pmpi.hpp"
#include "api/errors.hpp"
#include "api/requests.hpp"
#include "api/ruled.hpp"

namespace taut::api {
namespace {

// By frames, or else by plain MPI.
int serve_by(Attached& attached, const MpiCall& call) {
  const auto plain = [&] { return run_plain(call); };
  if (attached.plain_again(call)) {
    finish_calls();
    return attached.run_again(plain);
  }
  const std::optional<CollectiveCall> described = describe(call, attached.group());
  const Plain why = attached.plain_at_once(described, call);
  if (why != Plain::no) {
    finish_calls();
    return attached.run_plain(described, why, plain);
  }
  const Verdict verdict = attached.run(call.comm, *described);
  if (verdict.plain != Plain::no)  // by agreement: so every rank has come here
    return attached.run_plain(described, verdict.plain, plain);
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
    Attached* const attached = attached_or_ruled(call.comm);
    if (attached != nullptr) return serve_by(*attached, call);
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
