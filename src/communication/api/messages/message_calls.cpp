#include "communication/api/messages/message_calls.hpp"

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
  const p2p::MpiMessage& arguments = send_.plain();
  if (comm_state_ == nullptr || arguments.peer == MPI_PROC_NULL) return false;
  const MPI_Count bytes = bytes_of(arguments.count, arguments.type);
  if (bytes < 0) return false;
  const auto layout = datatype_layout_of(arguments.type);
  bytes_ = static_cast<std::size_t>(bytes);
  send_ = p2p::Send(arguments, layout);
  return bytes == 0 || arguments.buf != nullptr || !layout || !layout->dense;
}

// Returns why the values travel as they are, as far as that is known before they are read.
Fallback SendCall::early_fallback() const noexcept {
  if (comm_state_->messages() == nullptr) return comm_state_->fallback_reason();
  if (bytes_ == 0) return Fallback::small;
  if (!send_.layout()) return Fallback::type;
  return taut::early_fallback(comm_state_->policy(), bytes_, 2);
}

void SendCall::encode() {
  if (const Fallback why = early_fallback(); why != Fallback::none) return send_.leave_plain(why);
  CommEndpoint& messages = *comm_state_->messages();
  const auto stream = reinterpret_cast<std::uintptr_t>(site_) + static_cast<unsigned>(send_.plain().tag);
  send_.encode(messages.coder(), messages.segments().get(), stream);
  if (const Status failure = send_.message().failure; failure != Status::ok)
    throw Error(failure, taut::describe(failure));
}

void SendCall::count(std::uint64_t begin, std::uint64_t prepared) noexcept {
  const DType type = send_.layout() ? send_.layout()->type() : DType{};
  const Call call{.collective = Collective::send, .type = type, .bytes = bytes_, .site = site_};
  const Message& message = send_.message();
  const bool coded = message.coded();
  const std::uint64_t end = begin != 0 ? clock_now() : 0;
  comm_state_->account([&](CallTable& calls) {
    CallRow& row = calls.count(call.key(), bytes_);
    note_sent(message, row);
    row.sum.times[coded ? Phase::wait : Phase::plain] += end - begin - (message.end - message.begin);
    row.sum.times[Phase::call] += end - begin;
  });
  Recorder* const events = begin != 0 ? recorder() : nullptr;
  if (events == nullptr) return;
  const CallTag tag = events->open(call.kind(), call.site);
  if (message.begin != 0) tag.add(Phase::agree, 0, message.begin, message.decided, 0);
  if (coded) tag.add(Phase::encode, 0, message.decided, message.end, bytes_);
  tag.add(coded ? Phase::wait : Phase::plain, 0, prepared, end,
          coded ? message.coded_bytes + message.later_bytes : bytes_);
  tag.add(Phase::call, 0, begin, end, bytes_);
  events->close(tag);
}

template <class HandOver>
int SendCall::run(HandOver hand_over, bool keeps) {
  const bool counted = describe();
  const std::uint64_t begin = counted && comm_state_->is_timed(bytes_) ? clock_now() : 0;
  if (counted) encode();
  if (keeps) send_.shrink();
  const p2p::MpiMessage& plain = send_.plain();
  if (!send_.coded() && !pmpi::fits(plain.count)) return raise(plain.comm, MPI_ERR_COUNT);
  const int code = hand_over();
  const std::uint64_t encoded = send_.message().end;
  if (counted) count(begin, encoded != 0 ? encoded : begin);
  return code;
}

Failure SendCall::finish() const noexcept {
  const Status status = send_.message().failure;
  return status == Status::ok ? Failure{} : failure_of(status);
}

int SendCall::start(MPI_Request* request) {
  return run([&] { return send_.start(TAUT_PMPI(Isend), request); }, true);
}

int SendCall::send() {
  const int code = run(
      [&] {
        if (send_.in_segments() || !calls_in_flight())
          return send_.send(TAUT_PMPI(Send), [] { progress(nullptr); });
        MPI_Request request = MPI_REQUEST_NULL;
        const int started = send_.start(TAUT_PMPI(Isend), &request);
        return started != MPI_SUCCESS ? started : wait_for(request, MPI_STATUS_IGNORE);
      },
      false);
  return code == MPI_SUCCESS ? raise(send_.plain().comm, finish()) : code;
}

// ---- Receiving

RecvCall::RecvCall(CommState* comm_state, const p2p::MpiMessage& arguments, const void* site)
    : at_(arguments) {
  at_.site = comm_state != nullptr ? comm_state->site_of(site) : site;
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
  const Failure failure =
      at_.endpoint == nullptr
          ? Failure{}
          : p2p::finish_recv(at_, detached_, open_ ? open_->segmented() : nullptr, mpi_status);
  if (status != MPI_STATUS_IGNORE) *status = mpi_status;
  return failure;
}

}  // namespace taut::api
