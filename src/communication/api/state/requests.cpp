#include "communication/api/state/requests.hpp"

#include "communication/api/state/comm_registry.hpp"
#include "communication/api/state/rule_binding.hpp"
#include "communication/mpi/average.hpp"
#include "communication/mpi/datatype_layout.hpp"
#include "communication/mpi/datatypes.hpp"
#include "communication/mpi/errors.hpp"

namespace taut::api {
namespace {

// Returns true unless the operator is user-defined. The user may free such an operator as soon as the call is
// started, and only MPI can keep it: plain MPI serves the call at once. All ranks decide alike, because the
// operator is the same.
bool keeps_its_operator(const MpiCall& call) noexcept { return !call.reduces() || is_predefined(call.op); }

bool takes_mean(const MpiCall& call) noexcept { return call.reduces() && is_average(call.op); }

std::unique_ptr<CollectiveRequest> make_request(const MpiCall& call, bool persistent, TAUT_Request* request) {
  if (request == nullptr) throw Error(Status::invalid_argument, "a request is NULL");
  *request = TAUT_REQUEST_NULL;
  return std::make_unique<CollectiveRequest>(call, persistent);
}

}  // namespace
}  // namespace taut::api

namespace {

[[noreturn]] void refuse_stream() {
  throw taut::Error(taut::Status::invalid_argument,
                    "only a persistent request of a collective call can be started on a stream: make one by "
                    "TAUT_<call>_init");
}

}  // namespace

void TAUT_Request_s::start_on(void*) { refuse_stream(); }
void TAUT_Request_s::hold(void*) { refuse_stream(); }

namespace taut::api {

CollectiveRequest::~CollectiveRequest() {
  for (MPI_Datatype& type : kept_types_) PMPI_Type_free(&type);
}

bool CollectiveRequest::freed() const noexcept {
  const auto& users = apart_from_ != nullptr ? apart_from_ : comm_state_;
  return users != nullptr && users->freed();
}

bool CollectiveRequest::is_orphaned() const noexcept {
  return freed() && (apart_from_ != nullptr || !plain_.persistent());
}

MPI_Comm CollectiveRequest::comm() const noexcept { return freed() ? MPI_COMM_NULL : call_.comm; }

int CollectiveRequest::init(MPI_Info info) {
  if (takes_mean(call_)) group_ = rank_and_size_of(call_.comm);
  CommState* comm_state = nullptr;  // a nonblocking call cannot wait until rules are bound
  if (keeps_its_operator(call_) && !call_.plain)
    comm_state = persistent_ ? find_or_bind_state(call_.comm) : find_comm_state(call_.comm);
  if (comm_state != nullptr) {
    comm_state_ = comm_state->shared_from_this();
    call_.site = comm_state->site_of(call_.site);
  }
  if (!persistent_) return MPI_SUCCESS;
  if (comm_state_ != nullptr || !pmpi::has_persistent) keep_types();
  // A state that is not usable only counts calls, perhaps not on all ranks.
  const bool serves = comm_state_ != nullptr && comm_state_->may_compress();
  return serves || !pmpi::has_persistent ? MPI_SUCCESS : plain_.make_persistent(call_.comm, info);
}

bool CollectiveRequest::set_apart(bool counts) {
  if (comm_state_ == nullptr || !comm_state_->may_compress()) return false;
  if (!counts && comm_state_->never_serves(describe())) return false;
  std::shared_ptr<CommState> own = comm_state_->state_for_request(call_.comm);
  apart_from_ = std::exchange(comm_state_, std::move(own));
  return true;
}

int CollectiveRequest::make_plain_persistent() {
  if (!pmpi::has_persistent || of_neighbours(call_.info().collective)) return MPI_SUCCESS;
  const int code = plain_.make_persistent(comm_state_->private_communicator(), MPI_INFO_NULL);
  if (code != MPI_SUCCESS) throw MpiError(code, "a persistent call");
  return MPI_SUCCESS;
}

// Duplicates derived types, which the user may free as soon as the call is started. Returns true if there are
// any.
bool CollectiveRequest::keep_types() {
  const MPI_Comm comm = call_.comm;
  RankAndSize group;
  int inter = 0;
  if (comm != MPI_COMM_NULL) PMPI_Comm_test_inter(comm, &inter);
  if (comm == MPI_COMM_NULL || inter != 0) return false;
  PMPI_Comm_rank(comm, &group.rank);
  const Significance matters(call_, group.rank == call_.root);
  const BlockCounts blocks = blocks_of(call_, comm);
  const auto keep = [&](MPI_Datatype& type) {
    if (!is_derived(type)) return;
    kept_types_.reserve(kept_types_.size() + 1);
    if (PMPI_Type_dup(type, &type) != MPI_SUCCESS) throw std::bad_alloc();
    kept_types_.push_back(type);
  };
  const auto keep_all = [&](BufferArg& buffer, int n, std::vector<MPI_Datatype>& list) {
    if (buffer.types == nullptr) return keep(buffer.type);
    list.assign(buffer.types, buffer.types + n);
    for (std::size_t i = 0; i < list.size(); ++i)
      if (buffer.counts[i] != 0) keep(list[i]);
    buffer.types = list.data();
  };
  if (matters.send) keep_all(call_.send, blocks.send, type_lists_[0]);
  if (matters.recv) keep_all(call_.recv, blocks.recv, type_lists_[1]);
  return !kept_types_.empty();
}

std::optional<CollectiveCall> CollectiveRequest::describe() const {
  return comm_state_->describe(call_, false);
}

int CollectiveRequest::start() {
  if (is_orphaned()) throw Error(Status::invalid_argument, "the communicator of the request is freed");
  in_flight_.reset();
  checked_.reset();
  early_plain_ = {};
  if (comm_state_ == nullptr) return start_plain();
  std::optional<CollectiveCall> request = describe();
  const bool overlaps = apart_from_ == nullptr;
  const EarlyDecision early = comm_state_->decide(call_.comm, request, overlaps);
  if (early.fallback != Fallback::none) {
    if (early.plain_times() != nullptr) early_plain_ = {early.plain_times(), clock_now(), request->bytes};
    return start_plain();
  }
  if (!persistent_ && keep_types()) request = describe();
  set_private();
  if (const int code = start_check(*request); code != MPI_SUCCESS) return code;
  comm_state_->start(*request, early, plain_, in_flight_);
  active_ = true;
  return MPI_SUCCESS;
}

// Starts the plain call of a call that is checked, before Taut's call changes the memory of the program.
// Returns an MPI error code, already passed to the error handler.
int CollectiveRequest::start_check(const CollectiveCall& described) {
  checked_ = comm_state_->check_of(call_, described, false);
  if (checked_ == nullptr) return MPI_SUCCESS;
  checked_key_ = described.key();
  const bool apart = apart_from_ != nullptr;
  return checked_->start(apart ? comm_state_->private_communicator() : call_.comm,
                         apart ? comm_state_->topology_for(call_) : nullptr);
}

void CollectiveRequest::set_private() {
  plain_.set_private(comm_state_->private_communicator(), comm_state_->topology_for(call_));
}

int CollectiveRequest::start_plain() {
  if (apart_from_ != nullptr) set_private();
  const int code = plain_.start(apart_from_ != nullptr ? comm_state_->private_communicator() : call_.comm);
  active_ = code == MPI_SUCCESS;
  return code;
}

void CollectiveRequest::EarlyPlain::record() noexcept {
  if (RecentTimes* const record = std::exchange(times, nullptr))
    record->note(seconds(clock_now() - began), bytes);
}

MPI_Request CollectiveRequest::give_plain() noexcept {
  if (in_flight_ || persistent_) return MPI_REQUEST_NULL;
  active_ = false;
  return plain_.release_request();
}

bool CollectiveRequest::on_stream() const noexcept { return enqueued_ != nullptr && enqueued_->any(); }

bool CollectiveRequest::advanced_by_mpi() const noexcept { return !on_stream() && !in_flight_; }

bool CollectiveRequest::complete() {
  if (on_stream()) return enqueued_->done();
  if (in_flight_) return in_flight_->done() && (checked_ == nullptr || checked_->ready());
  if (!plain_.ready()) return false;
  early_plain_.record();
  return true;
}

void CollectiveRequest::wait() {
  if (advanced_by_mpi() && !calls_in_flight()) plain_.wait();
  for (Backoff backoff; !complete(); backoff.pause()) progress(comm_state_.get());
}

Failure CollectiveRequest::finish(MPI_Status*) {
  active_ = false;
  if (on_stream()) return enqueued_->finish();
  return attempt([&]() -> Failure {
    const Verdict verdict = in_flight_ ? in_flight_->verdict() : Verdict{Fallback::off};
    if (verdict.fallback == Fallback::none && verdict.status != Status::ok)
      return failure_of(verdict.status, verdict.problem);
    if (verdict.fallback == Fallback::none) {
      if (checked_ != nullptr) comm_state_->count_check(*checked_, checked_key_, verdict.promise);
      return {};
    }
    if (verdict.fallback == Fallback::mismatch)
      tell_of_mismatch(call_.info().name, comm_state_->group().rank);
    const bool on_users = !in_flight_ && apart_from_ == nullptr;
    if (plain_.code() != MPI_SUCCESS) return {plain_.code(), on_users};
    return finish_plain(call_, group_);
  });
}

// ---- Starts on streams

void CollectiveRequest::start_on(void* stream) {
  if (active_ && (enqueued_ == nullptr || !enqueued_->held()))
    throw Error(Status::invalid_argument,
                "the request is active: let a stream wait for its last start (TAUT_Cuda_wait_enqueue), or "
                "complete it (TAUT_Wait)");
  if (is_orphaned()) throw Error(Status::invalid_argument, "the communicator of the request is freed");
  if (enqueued_ == nullptr) enqueued_ = std::make_unique<EnqueuedCalls>(call_, group_, comm_state_, plain_);
  enqueued_->start(stream);
  active_ = true;
}

void CollectiveRequest::hold(void* stream) {
  if (!active_) return;
  if (!on_stream())
    throw Error(Status::invalid_argument,
                "the request was started by TAUT_Start: complete it by TAUT_Wait, or start it by "
                "TAUT_Cuda_start_enqueue");
  enqueued_->hold(stream);
}

int begin(const MpiCall& call, TAUT_Request* request) {
  return guard(call.comm, [&] {
    auto made = make_request(call, false, request);
    int code = made->init(MPI_INFO_NULL);
    if (code == MPI_SUCCESS) code = made->start();
    if (code == MPI_SUCCESS) *request = made.release();
    return code;
  });
}

int prepare(const MpiCall& call, MPI_Info info, TAUT_Request* request) {
  return guard(call.comm, [&] {
    auto made = make_request(call, true, request);
    const int code = made->init(info);
    if (code == MPI_SUCCESS) *request = made.release();
    return code;
  });
}

}  // namespace taut::api
