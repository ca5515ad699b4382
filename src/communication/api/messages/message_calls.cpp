#include "communication/api/messages/message_calls.hpp"

#include <bit>

#include "communication/api/state/comm_registry.hpp"
#include "communication/mpi/pmpi_counts.hpp"

namespace taut::api {

int wait_for(MPI_Request& request, MPI_Status* status) {
  if (!calls_in_flight()) return PMPI_Wait(&request, status);
  for (Backoff backoff;; backoff.pause()) {
    int done = 0;
    const int code = PMPI_Test(&request, &done, status);
    if (done != 0 || code != MPI_SUCCESS) return code;
    progress(nullptr);
  }
}

// ---- Sending

// Reads the datatype of the message. Returns false if plain MPI serves the call uncounted.
bool SendCall::describe() {
  if (comm_state_ == nullptr || arguments_.peer == MPI_PROC_NULL) return false;
  const MPI_Count bytes = bytes_of(arguments_.count, arguments_.type);
  if (bytes < 0) return false;
  kind_ = datatype_layout_of(arguments_.type);
  bytes_ = static_cast<std::size_t>(bytes);
  return bytes == 0 || arguments_.buf != nullptr || !kind_ || !kind_->dense;
}

p2p::OutgoingMessage SendCall::encode() {
  const auto plain = [](Fallback why) { return p2p::OutgoingMessage(EncodedMessage{.fallback = why}); };
  Messages* const messages = comm_state_->messages();
  if (messages == nullptr) return plain(comm_state_->fallback_reason());
  if (bytes_ == 0) return plain(Fallback::small);
  if (!kind_) return plain(Fallback::type);
  if (const Fallback why = early_fallback(comm_state_->policy(), bytes_, 2); why != Fallback::none)
    return plain(why);
  const auto stream = reinterpret_cast<std::uintptr_t>(site_) + static_cast<unsigned>(arguments_.tag);
  p2p::OutgoingMessage made(messages->coder(), messages->segments().get(), arguments_, *kind_, stream);
  if (made.made().failure != Status::ok)
    throw Error(made.made().failure, taut::describe(made.made().failure));
  return made;
}

void SendCall::count(std::uint64_t begin, std::uint64_t prepared) noexcept {
  const Call call{.collective = Collective::send,
                  .type = kind_ ? kind_->type() : DType{},
                  .bytes = bytes_,
                  .site = site_};
  const EncodedMessage& made = message_.made();
  const bool coded = message_.coded();
  const std::uint64_t end = begin != 0 ? clock_now() : 0;
  comm_state_->account([&](CallTable& calls) {
    CallRow& row = calls.count(call.key(), bytes_);
    note_sent(made, bytes_, row);
    row.sum.times[coded ? Phase::wait : Phase::plain] += end - begin - (made.end - made.begin);
    row.sum.times[Phase::call] += end - begin;
  });
  Recorder* const events = begin != 0 ? recorder() : nullptr;
  if (events == nullptr) return;
  const CallTag tag = events->open(call.kind());
  if (made.begin != 0) tag.add(Phase::agree, 0, made.begin, made.decided, 0);
  if (coded) tag.add(Phase::encode, 0, made.decided, made.end, bytes_);
  tag.add(coded ? Phase::wait : Phase::plain, 0, prepared, end,
          coded ? made.bytes + made.later_bytes : bytes_);
  tag.add(Phase::call, 0, begin, end, bytes_);
  events->close(tag);
}

template <class HandOver>
int SendCall::run(HandOver hand_over, bool keeps) {
  const bool counted = describe();
  const std::uint64_t begin = counted && comm_state_->is_timed(bytes_) ? clock_now() : 0;
  if (counted) message_ = encode();
  if (keeps) message_.shrink();
  if (!message_.coded() && !pmpi::fits(arguments_.count)) return raise(arguments_.comm, MPI_ERR_COUNT);
  const int code = hand_over(message_.in_place_of(arguments_));
  const std::uint64_t encoded = message_.made().end;
  if (counted) count(begin, encoded != 0 ? encoded : begin);
  return code;
}

Failure SendCall::finish() const noexcept {
  const Status status = message_.made().failure;
  return status == Status::ok ? Failure{} : failure_of(status);
}

int SendCall::start(MPI_Request* request) {
  return run(
      [&](const p2p::MpiMessage& sent) {
        if (message_.in_segments()) return message_.start(nullptr, arguments_, request);
        return p2p::start(TAUT_PMPI(Isend), sent, request);
      },
      true);
}

int SendCall::send() {
  const int code = run(
      [&](const p2p::MpiMessage& sent) {
        if (message_.in_segments()) return message_.send(arguments_, [] { progress(nullptr); });
        if (!calls_in_flight()) return p2p::send(TAUT_PMPI(Send), sent);
        MPI_Request request = MPI_REQUEST_NULL;
        const int started = p2p::start(TAUT_PMPI(Isend), sent, &request);
        return started != MPI_SUCCESS ? started : wait_for(request, MPI_STATUS_IGNORE);
      },
      false);
  return code == MPI_SUCCESS ? raise(arguments_.comm, finish()) : code;
}

// ---- Receiving

RecvCall::RecvCall(CommState* comm_state, const p2p::MpiMessage& arguments, const void* site)
    : at_(arguments) {
  at_.site = comm_state != nullptr ? comm_state->placed(site) : site;
  const MPI_Count bytes = bytes_of(at_.count, at_.type);
  const bool missing = bytes > 0 && at_.buf == nullptr && known_datatype(at_.type);
  if (bytes < 0 || missing || at_.peer == MPI_PROC_NULL) return;  // plain MPI handles the call
  at_.endpoint = endpoint_of(comm_state);
  timed_ = at_.endpoint != nullptr && comm_state != nullptr &&
           comm_state->is_timed(static_cast<std::size_t>(bytes));
}

RecvCall::~RecvCall() {
  if (kept_type_ != MPI_DATATYPE_NULL) PMPI_Type_free(&kept_type_);
}

void RecvCall::check() const {
  if (!pmpi::fits(at_.count)) throw Error(Status::invalid_count, "a count that needs MPI 4");
}

int RecvCall::post(MPI_Request* request) {
  p2p::PostedReceive posted;
  const int code = p2p::post(at_, posted);
  *request = posted.request;
  detached_ = std::move(posted.detached);
  return code;
}

int RecvCall::start(MPI_Request* request) {
  check();
  const int code = post(request);
  if (code != MPI_SUCCESS || at_.endpoint == nullptr) return code;
  if (is_derived(at_.type)) {
    if (PMPI_Type_dup(at_.type, &kept_type_) != MPI_SUCCESS) {
      abandon(*request);
      throw std::bad_alloc();
    }
    at_.type = kept_type_;
  }
  if (p2p::may_be_segmented(at_)) open_.emplace(at_, detached_ ? &detached_ : nullptr, *request);
  return code;
}

int RecvCall::receive(MPI_Status* status) {
  check();
  if (timed_) at_.began = clock_now();
  MPI_Status mpi_status{};
  int code = MPI_SUCCESS;
  if (!calls_in_flight() && !p2p::may_be_probed() && p2p::bounce_device(at_) == nullptr) {
    code =
        TAUT_PMPI(Recv)(at_.to(), pmpi::count(at_.count), at_.type, at_.peer, at_.tag, at_.comm, &mpi_status);
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    code = post(&request);
    if (code == MPI_SUCCESS) code = wait_for(request, &mpi_status);
  }
  if (code == MPI_SUCCESS) return raise(at_.comm, finish(mpi_status, status));
  if (status != MPI_STATUS_IGNORE) *status = mpi_status;
  return code;
}

void RecvCall::abandon(MPI_Request& request) noexcept {
  open_.reset();  // no other thread may advance the receive any more
  if (!detached_.matched) PMPI_Cancel(&request);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

Failure RecvCall::finish(MPI_Status mpi_status, MPI_Status* status) {
  Failure failure;
  if (open_ && open_->message() != nullptr)
    failure = open_->message()->finish(mpi_status);
  else if (detached_)
    failure = p2p::deliver(detached_, at_, mpi_status);
  else if (at_.endpoint != nullptr)
    failure = p2p::finish_recv(at_, mpi_status);
  if (status != MPI_STATUS_IGNORE) *status = mpi_status;
  return failure;
}

}  // namespace taut::api
