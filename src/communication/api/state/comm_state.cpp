#include "communication/api/state/comm_state.hpp"

#include <algorithm>
#include <bit>

#include "communication/api/state/checked_call.hpp"
#include "communication/api/state/comm_registry.hpp"
#include "communication/api/state/progress_thread.hpp"
#include "communication/api/state/rule_binding.hpp"
#include "communication/mpi/datatypes.hpp"
#include "communication/mpi/describe.hpp"
#include "communication/mpi/errors.hpp"
#include "communication/mpi/pmpi.hpp"
#include "communication/p2p/bypass.hpp"
#include "communication/p2p/receive.hpp"
#include "compressor/base/options.hpp"

namespace taut::api {
namespace {

// Makes six barriers, so that plain MPI reaches its final speed. MPICH uses its shared-memory collectives
// from the sixth collective on a communicator on. Without the barriers, trials of plain MPI would look slower
// than all later calls.
void bring_to_best(MPI_Comm comm) {
  for (int call = 0; call < 6; ++call) check(PMPI_Barrier(comm), "MPI_Barrier");
}

}  // namespace

CommState::CommState(AgreedRules rules, std::uint64_t mark, std::shared_ptr<p2p::SegmentComm> segments)
    : AgreedRules(std::move(rules)),
      ObservedCalls({.policy = has_policy()            ? policy().text
                               : this->rules().empty() ? "none"
                                                       : "rules",
                     .ranks = group().size}),
      mark_(mark),
      segments_(std::move(segments)) {
  if (may_compress() && has_policy()) messages_.emplace(*this, mark_, segments_);
  register_comm_state(*this);
}

CommState::CommState(const CommState& other, std::shared_ptr<const bool> freed)
    : CommState(static_cast<const AgreedRules&>(other), other.mark_, other.segments_) {
  freed_ = std::move(freed);
  set_stream(other.stream_);
}

CommState::~CommState() {
  disconnect();
  unregister_comm_state(*this);
}

void CommState::disconnect() noexcept {
  repeated_.forget();  // refers to the communicator
  communicator_.reset();
  transport_.reset();
}

std::optional<CollectiveCall> CommState::describe(const MpiCall& call, bool blocking) {
  const bool of_neighbours = taut::of_neighbours(call.info().collective);
  std::optional<CollectiveCall> request =
      api::describe(call, group(), of_neighbours ? topology(call, blocking) : nullptr);
  if (request && !counts_by_site()) request->site = nullptr;
  return request;
}

const Topology* CommState::topology(const MpiCall& call, bool blocking) {
  const bool by_direction = pairs_by_direction(call, blocking);
  auto& known = topology_[by_direction];
  if (!known) known = topology_of(call.comm, by_direction);
  return known->get();
}

void CommState::connect(MPI_Comm comm) {
  if (connected()) return;
  const p2p::BypassScope bypass;
  finish_calls();
  bring_to_best(comm);
  transport_ = make_mpi_transport(comm, freed_);
  communicator_ = std::make_unique<Communicator>(
      *transport_, place_, rules(), options().kernels, Observer{&calls(), recorder()},
      find_nodes(transport_->communicator(), options().ranks_per_node));
  communicator_->set_stream(stream_);
  const std::optional<bool> asked = options().cuda_aware;
  if (asked ? *asked : accesses_cuda_memory(comm)) communicator_->keep_frames_on_devices();
  begin_progress(group().rank == 0);
}

// For 64 states at a time, the ranks combine the bits of those that they do not use.
std::shared_ptr<CommState> RequestStates::unused(MPI_Comm comm) const {
  constexpr std::size_t at_a_time = 64;
  for (std::size_t first = 0; first < all_.size(); first += at_a_time) {
    std::uint64_t mine = 0, common = 0;
    for (std::size_t i = first; i < std::min(all_.size(), first + at_a_time); ++i)
      if (all_[i].use_count() == 1) mine |= std::uint64_t{1} << (i - first);
    check(PMPI_Allreduce(&mine, &common, 1, MPI_UINT64_T, MPI_BAND, comm), "MPI_Allreduce");
    std::atomic_thread_fence(std::memory_order_acquire);  // the previous request has finished
    if (common != 0) return all_[first + static_cast<std::size_t>(std::countr_zero(common))];
  }
  return nullptr;
}

std::shared_ptr<CommState> CommState::state_for_request(MPI_Comm comm) {
  const p2p::BypassScope bypass;
  finish_calls();
  std::shared_ptr<CommState> state = request_states_.unused(comm);
  if (state != nullptr) {
    state->set_stream(stream_);
    return state;
  }
  state = std::make_shared<CommState>(*this, freed_);
  state->read_identity(comm);
  state->connect(comm);
  request_states_.add(state);
  return state;
}

void CommState::set_stream(void* stream) noexcept {
  const auto lock = stop_others();
  stream_ = stream;
  if (communicator_ != nullptr) communicator_->set_stream(stream);
  if (messages_) messages_->coder().devices().set_stream(stream);
}

// The name is read at the first call that is served, when the program has set it.
EarlyDecision CommState::decide(MPI_Comm comm, const std::optional<CollectiveCall>& request, bool overlaps) {
  const p2p::BypassScope bypass;
  if (request && samples())
    sample(*request, group().rank, overlaps,
           !inter() && has_input_in_result(request->collective, request->data, group().rank, group().size));
  repeated_.end_back_off();
  EarlyDecision early{.fallback = early_fallback(request)};
  if (early.fallback == Fallback::none) {
    if (!std::exchange(identified_, true)) read_identity(comm);
    connect(comm);
    const auto lock = stop_others();
    early = communicator_->decide(*request, overlaps);
  }
  if (early.fallback != Fallback::none) count_plain(request, early.fallback);
  return early;
}

// ---- Blocking calls that fall back like the last one: inlined into CommState::serve()

inline bool RepeatedCall::is_like(const MpiCall& call) noexcept {
  if (!alike(last_.call, call, rank_) || observed_.flights().any()) return false;
  if (by_site_ && last_.call.site != call.site) return false;
  const auto lock = observed_.stop_others();
  CallRow& row = observed_.calls().row(last_.key);
  if (observed_.samples() && Sampler::is_due(row)) return false;
  if (last_.autotuner != nullptr && last_.autotuner->next() == Fallback::none) return false;
  row.add_call(last_.bytes);
  row.note_plain(last_.why);
  return true;
}

// Only known datatypes and operators qualify: they are predefined, so their handles always mean the same.
// Below the least size the fallback does not depend on earlier calls; a kind of call in back-off counts its
// calls. With a trace nothing is remembered, since each call needs its entry.
void RepeatedCall::remember(const MpiCall& call, const CollectiveCall& request,
                            const EarlyDecision& early) noexcept {
  if (!request.coded() || !request.bytes_known || call.info().has_counts || recorder() != nullptr) return;
  if (!known_datatype(telling_buffer(call, rank_).type)) return;
  if (early.autotuner != nullptr || rules_.never_serves(request))
    last_ = {call, request.key(), request.bytes, early.fallback, early.autotuner};
}

// The cost of the clock is noticeable for 64 KiB in shared memory. Therefore one in eight calls in back-off
// is timed, and its time stands for the calls after it.
inline int RepeatedCall::serve(const MpiCall& call) {
  finish_calls();
  Autotuner* const autotuner = last_.autotuner;
  if (!rules_.times_every_call() &&
      (autotuner == nullptr || !(autotuner->needs_time() || ++last_.calls % 8 == 0))) {
    if (autotuner != nullptr) observed_.add_plain_time(last_.key, last_.nanoseconds);
    return run_plain(call);
  }
  const std::uint64_t begin = clock_now();
  const int code = run_plain(call);
  const std::uint64_t end = clock_now();
  last_.nanoseconds = end - begin;
  const auto lock = observed_.stop_others();
  observed_.add_timed_call(last_.key, begin, end);
  if (autotuner != nullptr) autotuner->record(Outcome::plain, seconds(last_.nanoseconds), last_.bytes);
  return code;
}

// ---- Blocking calls

int serve(const MpiCall& call) {
  return guard(call.comm, [&] {
    CommState* const comm_state = call.plain ? nullptr : find_or_bind_state(call.comm);
    if (comm_state != nullptr) return comm_state->serve(call);
    finish_calls();
    return run_plain(call);
  });
}

int CommState::serve(const MpiCall& call) {
  if (!resolves_sites()) return serve_at_site(call);
  MpiCall at_site = call;
  at_site.site = site_of(call.site);
  return serve_at_site(at_site);
}

int CommState::serve_at_site(const MpiCall& call) {
  if (repeated_.is_like(call)) return repeated_.serve(call);
  const std::optional<CollectiveCall> request = describe(call, true);
  const EarlyDecision early = decide(call.comm, request, false);
  if (early.fallback != Fallback::none) {
    if (request) repeated_.remember(call, *request, early);
    finish_calls();
    return fall_back(call, request, {early.fallback, Status::ok, early.plain_times()});
  }
  const std::unique_ptr<CheckedCall> checked = check_of(call, *request, true);
  const Verdict verdict = run(*request, early);
  if (verdict.fallback != Fallback::none)  // agreed, so that every rank falls back here
    return fall_back(call, request, verdict);
  if (checked != nullptr)  // also on a rank that failed: the others make the plain call
    if (const int code = check(*checked, request->key(), verdict); code != MPI_SUCCESS) return code;
  if (verdict.status != Status::ok) throw Error(verdict.status, verdict.text());
  return MPI_SUCCESS;
}

// ---- Checks against plain MPI

std::unique_ptr<CheckedCall> CommState::check_of(const MpiCall& call, const CollectiveCall& described,
                                                 bool blocking) {
  if (!is_checked(may_be_checked_++, check_interval())) return nullptr;
  const bool neighbours = of_neighbours(call.info().collective);
  return std::make_unique<CheckedCall>(call, described, group(),
                                       neighbours ? topology(call, blocking) : nullptr);
}

// Makes the plain call of a blocking call. Returns an MPI error code, already passed to the error handler.
int CommState::check(CheckedCall& checked, const CallKey& key, const Verdict& verdict) {
  const int code = checked.run();
  if (code == MPI_SUCCESS && verdict.status == Status::ok) count_check(checked, key, verdict.promise);
  return code;
}

void CommState::count_check(CheckedCall& checked, const CallKey& key, const Promise& promise) {
  ResultChecks one;
  checked.compare(promise, one);
  const auto lock = stop_others();
  calls().row(key).checks += one;
}

// Makes the plain call after a verdict. Times the call if the cost of the clock is not noticeable.
int CommState::fall_back(const MpiCall& call, const std::optional<CollectiveCall>& request,
                         const Verdict& verdict) {
  if (verdict.fallback == Fallback::mismatch) tell_of_mismatch(call.info().name, group().rank);
  const bool timed = verdict.plain_times != nullptr || (request && is_timed(request->bytes));
  if (!timed) return run_plain(call);
  const CallTag tag = recorder() != nullptr ? recorder()->open(request->kind(), request->site) : CallTag{};
  const std::uint64_t begin = clock_now();
  const int code = run_plain(call);
  const std::uint64_t end = clock_now();
  const auto lock = stop_others();
  if (verdict.plain_times != nullptr) verdict.plain_times->note(seconds(end - begin), request->bytes);
  repeated_.note_time(end - begin);
  add_timed_call(request->key(), begin, end);
  tag.add(Phase::plain, 0, begin, end, request->bytes);
  if (tag.recorder != nullptr) tag.recorder->close(tag);
  return code;
}

// Runs a blocking call. Its lanes come after those of the calls in flight, and it waits for none of them.
Verdict CommState::run(const CollectiveCall& request, const EarlyDecision& early) {
  const p2p::BypassScope bypass;
  const std::lock_guard lock(flights().driving());
  Task<Verdict> task = communicator_->run(request, early);
  for (Backoff backoff; !task.advance(); backoff.pause()) {
    p2p::advance_receives();
    if (!calls_in_flight()) continue;
    flights().drive();
    progress_others(this);
  }
  copy_if_wanted();
  return task.result();
}

}  // namespace taut::api
