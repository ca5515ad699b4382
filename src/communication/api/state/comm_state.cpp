#include "communication/api/state/comm_state.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

#include "communication/api/state/comm_registry.hpp"
#include "communication/api/state/progress_thread.hpp"
#include "communication/api/state/rule_binding.hpp"
#include "communication/comm/call_site.hpp"
#include "communication/mpi/datatypes.hpp"
#include "communication/mpi/describe.hpp"
#include "communication/mpi/errors.hpp"
#include "communication/mpi/pmpi.hpp"
#include "communication/p2p/bypass.hpp"
#include "communication/p2p/incoming_message.hpp"
#include "compressor/base/device_memory.hpp"
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

CommState::CommState(Rules rules, bool enabled, bool inter, RankAndSize group, std::uint64_t mark,
                     std::shared_ptr<p2p::SegmentComm> segments)
    : rules_(std::move(rules)),
      enabled_(enabled),
      inter_(inter),
      group_(group),
      mark_(mark),
      segments_(std::move(segments)),
      observed_(new CommReport{.policy = inherited()      ? policy().text
                                         : rules_.empty() ? "none"
                                                          : "rules",
                               .ranks = group.size}) {
  if (usable() && inherited()) messages_.emplace(*this, mark_, segments_);
  register_comm_state(*this);
}

CommState::CommState(const CommState& other, std::shared_ptr<const bool> freed)
    : CommState(other.rules_, other.enabled_, other.inter_, other.group_, other.mark_, other.segments_) {
  freed_ = std::move(freed);
  set_stream(other.stream_);
}

CommState::~CommState() {
  disconnect();
  unregister_comm_state(*this);
  keep(std::move(observed_));
}

void CommState::disconnect() noexcept {
  repeated_ = {};  // refers to the communicator
  communicator_.reset();
  transport_.reset();
}

void CommState::read_identity(MPI_Comm comm) noexcept {
  char text[MPI_MAX_OBJECT_NAME + 1] = {};
  int length = 0;
  PMPI_Comm_get_name(comm, text, &length);
  const auto lock = stop_driving();
  std::string_view(text).copy(observed_->name.data(), observed_->name.size() - 1);
  if (samples_ && observed_->group == 0) observed_->group = hash_of_ranks(comm);
}

std::optional<CollectiveCall> CommState::describe(const MpiCall& call, bool blocking) {
  const bool of_neighbours = taut::of_neighbours(call.info().collective);
  std::optional<CollectiveCall> request =
      api::describe(call, group_, of_neighbours ? topology(call, blocking) : nullptr);
  if (request && !keeps_sites_) request->site = nullptr;
  return request;
}

const Topology* CommState::topology(const MpiCall& call, bool blocking) {
  const bool by_direction = pairs_by_direction(call, blocking);
  auto& known = topology_[by_direction];
  if (!known) known = topology_of(call.comm, by_direction);
  return known->get();
}

void CommState::connect(MPI_Comm comm) {
  if (communicator_ != nullptr || !usable()) return;
  const p2p::BypassScope bypass;
  finish_calls();
  bring_to_best(comm);
  transport_ = make_mpi_transport(comm, freed_);
  communicator_ = std::make_unique<Communicator>(
      *transport_, place_, rules_, options().kernels, Observer{&observed_->calls, recorder()},
      find_nodes(transport_->communicator(), options().ranks_per_node));
  communicator_->set_stream(stream_);
  const std::optional<bool> asked = options().cuda_aware;
  if (asked ? *asked : accesses_cuda_memory(comm)) communicator_->keep_frames_on_devices();
  begin_progress(group_.rank == 0);
}

// Returns a state that no rank uses, or makes one. For 64 states at a time, the ranks combine the bits of
// those that they do not use.
std::shared_ptr<CommState> CommState::state_for_request(MPI_Comm comm) {
  const p2p::BypassScope bypass;
  constexpr std::size_t at_a_time = 64;
  finish_calls();
  for (std::size_t first = 0; first < request_states_.size(); first += at_a_time) {
    std::uint64_t mine = 0, common = 0;
    for (std::size_t i = first; i < std::min(request_states_.size(), first + at_a_time); ++i)
      if (request_states_[i].use_count() == 1) mine |= std::uint64_t{1} << (i - first);
    check(PMPI_Allreduce(&mine, &common, 1, MPI_UINT64_T, MPI_BAND, comm), "MPI_Allreduce");
    std::atomic_thread_fence(std::memory_order_acquire);  // the previous request has finished
    if (common == 0) continue;
    const auto& found = request_states_[first + static_cast<std::size_t>(std::countr_zero(common))];
    found->set_stream(stream_);
    return found;
  }
  auto made = std::make_shared<CommState>(*this, freed_);
  made->read_identity(comm);
  made->connect(comm);
  return request_states_.emplace_back(std::move(made));
}

void CommState::set_stream(void* stream) noexcept {
  const auto lock = stop_driving();
  stream_ = stream;
  if (communicator_ != nullptr) communicator_->set_stream(stream);
  if (messages_) messages_->coder().devices().set_stream(stream);
}

// Prepares a call. The name is read at the first call, when the program has set it.
void CommState::begin(MPI_Comm comm) {
  if (!std::exchange(begun_, true)) read_identity(comm);
  connect(comm);
}

// Samples the values of a call, unless they are still to be gathered: a block of such values has no address.
void CommState::sample(const CollectiveCall& request) noexcept {
  const CallKey key = request.key();
  const auto lock = stop_driving();
  CallRow& row = observed_->calls.row(key);
  const Blocks<ConstSlice> values = own_values(request, group_.rank);
  if (row.key == key && values.data != nullptr && !taut::on_device(values.data))
    sampler_.look(row, values.most(),
                  !inter_ && has_input_in_result(request.collective, request.data, group_.rank, group_.size));
}

EarlyDecision CommState::decide(MPI_Comm comm, const std::optional<CollectiveCall>& request, bool overlaps) {
  const p2p::BypassScope bypass;
  if (request && samples_) sample(*request);
  if (repeated_.autotuner != nullptr) repeated_ = {};
  EarlyDecision early;
  if (!enabled_ || rules_.off()) {
    early.fallback = Fallback::off;
  } else if (!request) {
    early.fallback = Fallback::unsupported;
  } else if (!usable()) {
    early.fallback = Fallback::communicator;
  } else if (never_serves(request)) {
    early.fallback = Fallback::small;
  } else {
    begin(comm);
    const auto lock = stop_driving();
    early = communicator_->decide(*request, overlaps);
  }
  if (early.fallback != Fallback::none) count_plain(request, early.fallback);
  return early;
}

// Stops other threads from driving and counting the calls in flight. Without calls in flight no other thread
// counts, because only this thread can start one; if a report is asked for, another thread may read.
std::unique_lock<std::mutex> CommState::stop_driving() const {
  std::unique_lock lock(open_ != 0 ? driving_ : counting_, std::defer_lock);
  if (open_ != 0 || samples_) lock.lock();
  return lock;
}

// Makes the copy that is wanted. The caller keeps all others from counting.
void CommState::copy_counters() noexcept {
  const std::lock_guard lock(counting_);
  try {
    copied_ = *observed_;
  } catch (const std::bad_alloc&) {  // the previous copy stays
  }
  copied_round_ = wanted_round_.load();
}

bool CommState::copy_report(unsigned round) noexcept {
  wanted_round_ = round;
  const std::unique_lock lock(driving_, std::try_to_lock);
  if (lock.owns_lock() && copied_round_ != round) copy_counters();
  return copied_round_ == round;
}

CommReport CommState::copied_report() const {
  const std::lock_guard lock(counting_);
  return copied_;
}

void CommState::count_plain(const std::optional<CollectiveCall>& request, Fallback why) noexcept {
  const auto lock = stop_driving();
  CallRow& row =
      request ? observed_->calls.count(request->key(), request->bytes) : observed_->calls.count(CallKey{}, 0);
  row.note_plain(why);
}

// Adds the time of a plain call to the sums of its kind.
void CommState::add_plain_time(const CallKey& key, std::uint64_t nanoseconds) noexcept {
  PhaseTimes& times = observed_->calls.row(key).sum.times;
  times[Phase::plain] += nanoseconds;
  times[Phase::call] += nanoseconds;
}

// Adds the time of the last call that was counted under the key, and keeps it if a report is asked for.
void CommState::add_timed_call(const CallKey& key, std::uint64_t begin, std::uint64_t end) noexcept {
  CallRow& row = observed_->calls.row(key);
  const std::uint64_t gap = last_end_ == 0 ? PlainTime::unknown : begin - last_end_;
  last_end_ = end;
  if (samples_ && row.key == key && row.sum.calls > 0)
    row.plain_times.note(row.sum.calls - 1, {end - begin, gap});
  add_plain_time(key, end - begin);
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

const void* CommState::placed(const void* return_address) const noexcept {
  if (names_sites_) return program_site(return_address);
  return keeps_sites_ ? return_address : nullptr;
}

MpiCall CommState::placed(const MpiCall& call) const noexcept {
  MpiCall at_site = call;
  at_site.site = placed(call.site);
  return at_site;
}

int CommState::serve_at_site(const MpiCall& call) {
  if (is_repeated(call)) return fall_back_again(call);
  const std::optional<CollectiveCall> request = describe(call, true);
  const EarlyDecision early = decide(call.comm, request, false);
  if (early.fallback != Fallback::none) {
    if (request) remember(call, *request, early);
    finish_calls();
    return fall_back(call, request, {early.fallback, Status::ok, early.plain_times()});
  }
  const Verdict verdict = run(*request, early);
  if (verdict.fallback != Fallback::none)  // agreed, so that every rank falls back here
    return fall_back(call, request, verdict);
  if (verdict.status != Status::ok) throw Error(verdict.status, verdict.text());
  return MPI_SUCCESS;
}

// Returns true if a call is like the last one, which fell back early, and falls back again. The call is then
// counted. Inspects no datatype.
bool CommState::is_repeated(const MpiCall& call) noexcept {
  if (!alike(repeated_.call, call, group_.rank) || open_ != 0) return false;
  if (keeps_sites_ && repeated_.call.site != call.site) return false;
  const auto lock = stop_driving();
  CallRow& row = observed_->calls.row(repeated_.key);
  if (samples_ && Sampler::is_due(row)) return false;
  if (repeated_.autotuner != nullptr && repeated_.autotuner->next() == Fallback::none) return false;
  row.add_call(repeated_.bytes);
  row.note_plain(repeated_.why);
  return true;
}

// Remembers a call that fell back early, for is_repeated(). Only known datatypes and operators qualify: they
// are predefined, so their handles always mean the same. Below the least size the fallback does not depend on
// earlier calls; a kind of call in back-off counts its calls. With a trace nothing is remembered, since each
// call needs its entry.
void CommState::remember(const MpiCall& call, const CollectiveCall& request,
                         const EarlyDecision& early) noexcept {
  if (!request.coded() || !request.bytes_known || call.info().has_counts || recorder() != nullptr) return;
  if (!known_datatype(telling_buffer(call, group_.rank).type)) return;
  if (early.autotuner != nullptr || request.bytes < rules_.least_bytes())
    repeated_ = {call, request.key(), request.bytes, early.fallback, early.autotuner};
}

// Makes the plain call after is_repeated(). The cost of the clock is noticeable for 64 KiB in shared memory.
// Therefore one in eight calls in back-off is timed, and its time stands for the calls after it.
int CommState::fall_back_again(const MpiCall& call) {
  finish_calls();
  Autotuner* const autotuner = repeated_.autotuner;
  if (!observed_closely_ &&
      (autotuner == nullptr || !(autotuner->needs_time() || ++repeated_.calls % 8 == 0))) {
    if (autotuner != nullptr) add_plain_time(repeated_.key, repeated_.nanoseconds);
    return run_plain(call);
  }
  const std::uint64_t begin = clock_now();
  const int code = run_plain(call);
  const std::uint64_t end = clock_now();
  repeated_.nanoseconds = end - begin;
  const auto lock = stop_driving();
  add_timed_call(repeated_.key, begin, end);
  if (autotuner != nullptr)
    autotuner->record(Outcome::plain, seconds(repeated_.nanoseconds), repeated_.bytes);
  return code;
}

// Makes the plain call after a verdict. Times the call if the cost of the clock is not noticeable.
int CommState::fall_back(const MpiCall& call, const std::optional<CollectiveCall>& request,
                         const Verdict& verdict) {
  if (verdict.fallback == Fallback::mismatch) tell_of_mismatch(call.info().name, group_.rank);
  const bool timed = verdict.plain_times != nullptr || (request && is_timed(request->bytes));
  if (!timed) return run_plain(call);
  const CallTag tag = recorder() != nullptr ? recorder()->open(request->kind()) : CallTag{};
  const std::uint64_t begin = clock_now();
  const int code = run_plain(call);
  const std::uint64_t end = clock_now();
  const auto lock = stop_driving();
  if (verdict.plain_times != nullptr) verdict.plain_times->note(seconds(end - begin), request->bytes);
  repeated_.nanoseconds = end - begin;
  add_timed_call(request->key(), begin, end);
  tag.add(Phase::plain, 0, begin, end, request->bytes);
  if (tag.recorder != nullptr) tag.recorder->close(tag);
  return code;
}

// Runs a blocking call. Its lanes come after those of the calls in flight, and it waits for none of them.
Verdict CommState::run(const CollectiveCall& request, const EarlyDecision& early) {
  const p2p::BypassScope bypass;
  const std::lock_guard lock(driving_);
  Task<Verdict> task = communicator_->run(request, early);
  for (Backoff backoff; !task.advance(); backoff.pause()) {
    p2p::advance_receives();
    if (!calls_in_flight()) continue;
    drive();
    progress_others(this);
  }
  if (wanted_round_ != copied_round_) copy_counters();
  return task.result();
}

// ---- Calls in flight

void CommState::start(const CollectiveCall& request, const EarlyDecision& early, FallbackCall& plain,
                      std::optional<CallInFlight>& call) {
  const p2p::BypassScope bypass;
  const std::lock_guard lock(driving_);
  call.emplace(*communicator_, request, plain, early);
  put_in_flight(*call);
}

void CommState::start_plain(FallbackCall& plain, Fallback why, gpu::StreamPoint& begins, bool in_turn,
                            std::optional<CallInFlight>& call) {
  const p2p::BypassScope bypass;
  const std::lock_guard lock(driving_);
  call.emplace(plain, why, begins, in_turn);
  put_in_flight(*call);
}

void CommState::put_in_flight(CallInFlight& call) {
  user_ = std::this_thread::get_id();
  in_flight_.start(call);
  count_calls();
  wake_progress_thread();
}

void CommState::drive() noexcept {
  in_flight_.progress();
  count_calls();
}

void CommState::count_calls() noexcept {
  const std::size_t now = in_flight_.size();
  in_process += now - open_.exchange(now);
}

void CommState::progress() noexcept {
  if (open_ == 0) return;
  const std::unique_lock lock(driving_, std::try_to_lock);
  if (lock.owns_lock()) drive();
}

}  // namespace taut::api
