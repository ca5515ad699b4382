#include "api/requests.hpp"

#include "api/average.hpp"
#include "api/datatypes.hpp"
#include "api/elements.hpp"
#include "api/ruled.hpp"

namespace taut::api {
namespace {

MPI_Comm comm_of(const AnyCall& call) noexcept {
  return std::visit([](const auto& c) { return c.comm; }, call);
}

// The user may free an operator of its own as soon as a call is started, and only MPI can keep it: such a
// call has to be MPI's at once. Any rank's call then is, as the operator is the same.
bool keeps_its_operator(const AnyCall& call) noexcept {
  return std::visit(
      [](const auto& c) {
        if constexpr (requires { c.op; }) return is_predefined(c.op);
        return true;
      },
      call);
}

bool takes_mean(const AnyCall& call) noexcept {
  return std::visit(
      [](const auto& c) {
        if constexpr (requires { c.op; }) return is_average(c.op);
        return false;
      },
      call);
}

}  // namespace

CollectiveRequest::~CollectiveRequest() {
  if (plain_is_persistent_) PMPI_Request_free(&plain_);
  for (MPI_Datatype& type : kept_types_)
    if (type != MPI_DATATYPE_NULL) PMPI_Type_free(&type);
}

bool CollectiveRequest::freed() const noexcept {
  const auto& users = apart_from_ != nullptr ? apart_from_ : attached_;
  return users != nullptr && users->freed();
}

MPI_Comm CollectiveRequest::comm() const noexcept { return freed() ? MPI_COMM_NULL : comm_of(call_); }

int CollectiveRequest::init(MPI_Info info) {
  if (takes_mean(call_)) group_ = group_of(comm_of(call_));
  Attached* attached = nullptr;  // what a nonblocking call cannot wait for, it goes without
  if (keeps_its_operator(call_))
    attached = persistent_ ? attached_or_ruled(comm_of(call_)) : attached_if_known(comm_of(call_));
  if (attached != nullptr) attached_ = attached->shared_from_this();
  if (!persistent_) return MPI_SUCCESS;
  if (attached_ != nullptr || !plain::has_persistent) keep_types();
  const bool serves =
      attached_ != nullptr && attached_->usable();  // else it counts calls, on some ranks perhaps
  if (serves || !plain::has_persistent) return MPI_SUCCESS;
  const int code = std::visit([&](auto& call) { return call.init(info, &plain_); }, call_);
  plain_is_persistent_ = code == MPI_SUCCESS;
  return code;
}

bool CollectiveRequest::set_apart(bool counts) {
  if (attached_ == nullptr || !attached_->usable()) return false;
  if (!counts && attached_->always_plain(describe())) return false;
  std::shared_ptr<Attached> own = attached_->spare(comm_of(call_));
  apart_from_ = std::exchange(attached_, std::move(own));
  return true;
}

// Derived types may be freed as soon as a call is started, before it needs them. Whether there are any.
bool CollectiveRequest::keep_types() {
  const MPI_Comm comm = comm_of(call_);
  Group group;
  int inter = 0;
  if (comm != MPI_COMM_NULL) PMPI_Comm_test_inter(comm, &inter);
  if (comm == MPI_COMM_NULL || inter != 0) return false;
  PMPI_Comm_rank(comm, &group.rank);
  const Types types = std::visit([&](auto& call) { return call.types(group); }, call_);
  bool any = false;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == nullptr || !is_derived(*types[i])) continue;
    if (PMPI_Type_dup(*types[i], &kept_types_[i]) != MPI_SUCCESS) throw std::bad_alloc();
    *types[i] = kept_types_[i];
    any = true;
  }
  return any;
}

Described CollectiveRequest::describe() const {
  Described request = std::visit([&](const auto& call) { return call.describe(attached_->group()); }, call_);
  if (request) request->site = site_;
  return request;
}

int CollectiveRequest::start() {
  if (freed() && !plain_is_persistent_)
    throw Error(Status::invalid_argument, "the communicator of the request is freed");
  in_flight_.reset();
  plain_complete_ = false;
  if (attached_ == nullptr) return start_plain();
  Described request = describe();
  if (attached_->plain_at_once(request) != Plain::no) return start_plain();
  if (!persistent_ && keep_types()) request = describe();
  attached_->start(comm_of(call_), *request, *this, in_flight_);
  active_ = true;
  return MPI_SUCCESS;
}

int CollectiveRequest::start_plain() {
  const MPI_Comm comm = apart_from_ != nullptr ? attached_->private_communicator() : comm_of(call_);
  const int code = plain_is_persistent_
                       ? PMPI_Start(&plain_)
                       : std::visit([&](auto& call) { return call.start(comm, &plain_); }, call_);
  active_ = code == MPI_SUCCESS;
  return code;
}

// In the place of a call in flight.
void CollectiveRequest::issue() {
  plain_code_ =
      std::visit([&](auto& call) { return call.start(attached_->private_communicator(), &plain_); }, call_);
  plain_complete_ = plain_code_ != MPI_SUCCESS;
}

bool CollectiveRequest::ready() {
  if (plain_complete_) return true;
  int complete = 0;
  plain_code_ = PMPI_Test(&plain_, &complete, MPI_STATUS_IGNORE);
  plain_complete_ = complete != 0 || plain_code_ != MPI_SUCCESS;
  return plain_complete_;
}

MPI_Request CollectiveRequest::give_plain() noexcept {
  if (in_flight_ || persistent_) return MPI_REQUEST_NULL;
  active_ = false;
  return std::exchange(plain_, MPI_REQUEST_NULL);
}

bool CollectiveRequest::complete() noexcept { return in_flight_ ? in_flight_->done() : ready(); }

void CollectiveRequest::wait() noexcept {
  if (!in_flight_ && !plain_complete_ && !calls_in_flight()) {
    plain_code_ = PMPI_Wait(&plain_, MPI_STATUS_IGNORE);
    plain_complete_ = true;
  }
  for (Backoff backoff; !complete(); backoff.pause()) progress(attached_.get());
}

// Plain MPI has come to its end.
int CollectiveRequest::settle() noexcept {
  return std::visit(
      [&](const auto& call) -> int {
        if constexpr (requires { call.settle(group_); }) return call.settle(group_);
        return MPI_SUCCESS;
      },
      call_);
}

int CollectiveRequest::finish(MPI_Status*) noexcept {
  active_ = false;
  if (!in_flight_) {
    return plain_code_ == MPI_SUCCESS ? settle() : plain_code_;  // which MPI has raised
  }
  return guard(comm(), [&]() -> int {
    const Verdict verdict = in_flight_->verdict();
    if (verdict.plain != Plain::no) {
      return plain_code_ == MPI_SUCCESS ? settle() : raise(comm(), plain_code_);
    }
    return verdict.status == Status::ok ? MPI_SUCCESS : raise(comm(), verdict.status);
  });
}

}  // namespace taut::api
