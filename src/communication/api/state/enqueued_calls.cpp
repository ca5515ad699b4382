#include "communication/api/state/enqueued_calls.hpp"

#include "communication/api/state/comm_registry.hpp"
#include "communication/api/state/progress_thread.hpp"
#include "communication/mpi/errors.hpp"

namespace taut::api {
namespace {

// Returns the state that drives calls which no policy serves. It belongs to no communicator.
CommState& state_without_policy() {
  static auto* const one = new CommState({{}, false, false, {}});
  return *one;
}

const gpu::DeviceServices& services_for_streams() {
  require_progress_thread();
  return gpu::device_services("what a stream orders");
}

void expect_no_capture(const gpu::DeviceServices& services, void* stream) {
  int captured = 0;
  if (const int code = services.is_captured(stream, &captured); code != 0)
    throw Error(static_cast<Status>(code),
                std::string("the stream cannot be used: ") + services.last_error());
  if (captured != 0)
    throw Error(Status::invalid_argument,
                "the stream is captured in a graph, which cannot hold a call of MPI: end the capture first");
}

}  // namespace

// ---- EnqueuedCall

EnqueuedCall::EnqueuedCall(const MpiCall& call, const RankAndSize& group, PlainCall& persistent, void* stream,
                           const gpu::DeviceServices& services, gpu::HostCounter& completed) noexcept
    : call_(call),
      group_(group),
      begins_(services, stream),
      completed_(completed),
      own_plain_(call),
      plain_(persistent.persistent() ? &persistent : &own_plain_) {}

void EnqueuedCall::start(CommState* comm_state, const RequestComm* own) {
  std::optional<CollectiveCall> request;
  EarlyDecision early{.fallback = Fallback::off};
  if (comm_state != nullptr) {
    request = comm_state->describe(call_, false);
    if (request) request->begins = &begins_;
    early = comm_state->decide(call_.comm, request, true);
  }
  const bool in_turn = own == nullptr && !plain_->persistent();
  if (in_turn) {
    comm_state->connect(call_.comm);
    own_plain_.set_private(comm_state->private_communicator(), comm_state->topology_for(call_));
  } else if (own != nullptr) {
    own_plain_.set_private(own->transport->communicator(), own->topology.get());
  }
  if (early.fallback == Fallback::none) {
    return comm_state->start(*request, early, *this, in_flight_);
  }
  CommState& driver = comm_state != nullptr ? *comm_state : state_without_policy();
  driver.flights().start(in_flight_, static_cast<FallbackCall&>(*this), early.fallback, begins_, in_turn);
}

// Completes the result, finds the code, and lets the waiting streams go on.
void EnqueuedCall::ended() noexcept {
  const Failure failure = attempt([&]() -> Failure {  // raised in a thread of the program
    const Verdict verdict = in_flight_->verdict();
    const bool plain = verdict.fallback != Fallback::none;
    if (plain && plain_->code() != MPI_SUCCESS) return {plain_->code()};
    if (verdict.status != Status::ok) return failure_of(verdict.status);
    return plain ? finish_plain(call_, group_) : Failure{};
  });
  code_ = failure.code;
  completed_.increment();
}

// ---- EnqueuedCalls

EnqueuedCalls::EnqueuedCalls(const MpiCall& call, const RankAndSize& group,
                             const std::shared_ptr<CommState>& comm_state, PlainCall& plain)
    : call_(call),
      group_(group),
      comm_state_(comm_state),
      plain_(plain),
      services_(services_for_streams()),
      completed_(services_),
      last_(completed_.value()) {
  if (plain.persistent() || (comm_state != nullptr && comm_state->may_compress())) return;
  finish_calls();
  own_comm_.emplace(make_mpi_transport(call.comm));
  if (of_neighbours(call.info().collective))
    own_comm_->topology = topology_of(call.comm, pairs_by_direction(call, false));
}

void EnqueuedCalls::start(void* stream) {
  expect_no_capture(services_, stream);
  drop_done();
  std::list<EnqueuedCall> one;
  one.emplace_back(call_, group_, plain_, stream, services_, completed_);
  one.back().start(comm_state_.get(), own_comm_ ? &*own_comm_ : nullptr);
  calls_.splice(calls_.end(), one);
  ++last_;
  held_ = false;
}

void EnqueuedCalls::hold(void* stream) {
  expect_no_capture(services_, stream);
  if (const Status status = completed_.block(stream, last_); status != Status::ok)
    throw Error(status, std::string("the stream cannot wait, TAUT_Wait can: ") + services_.last_error());
  held_ = true;
}

bool EnqueuedCalls::done() const noexcept {
  return std::ranges::all_of(calls_, [](const EnqueuedCall& call) { return call.done(); });
}

void EnqueuedCalls::drop_done() noexcept {
  for (; any() && calls_.front().done(); calls_.pop_front())
    if (failure_ == MPI_SUCCESS) failure_ = calls_.front().code();
}

Failure EnqueuedCalls::finish() noexcept {
  drop_done();
  return {std::exchange(failure_, MPI_SUCCESS)};
}

}  // namespace taut::api
