#include "api/state/comm_state.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

#include "api/args/datatypes.hpp"
#include "api/args/describe.hpp"
#include "api/errors.hpp"
#include "api/state/comm_registry.hpp"
#include "api/state/progress_thread.hpp"
#include "core/device_memory.hpp"
#include "policy/text/options.hpp"

namespace taut::api {
namespace {

// Makes six barriers, so that plain MPI reaches its final speed. MPICH uses its shared-memory collectives
// from the sixth collective on a communicator on. Without the barriers, trials of plain MPI would look slower
// than all later calls.
void bring_to_best(MPI_Comm comm) {
  for (int call = 0; call < 6; ++call) check(PMPI_Barrier(comm), "MPI_Barrier");
}

void read_name(MPI_Comm comm, CommReport::Name& name) noexcept {
  char text[MPI_MAX_OBJECT_NAME + 1] = {};
  int length = 0;
  PMPI_Comm_get_name(comm, text, &length);
  std::string_view(text).copy(name.data(), name.size() - 1);
}

}  // namespace

CommState::CommState(Rules rules, bool enabled, bool inter, Group group, std::uint64_t mark)
    : rules_(std::move(rules)),
      enabled_(enabled),
      inter_(inter),
      group_(group),
      mark_(mark),
      observed_(new CommReport{.policy = inherited()      ? policy().text
                                         : rules_.empty() ? "none"
                                                          : "rules",
                               .ranks = group.size}) {
  if (usable() && inherited()) messages_.emplace(*this, mark_);
  register_comm_state(*this);
}

CommState::CommState(const CommState& other, std::shared_ptr<const bool> freed)
    : CommState(other.rules_, other.enabled_, other.inter_, other.group_, other.mark_) {
  freed_ = std::move(freed);
}

CommState::~CommState() {
  disconnect();
  unregister_comm_state(*this);
  keep(std::move(observed_));
}

void CommState::disconnect() noexcept {
  communicator_.reset();
  transport_.reset();
}

void CommState::name_after(MPI_Comm comm) noexcept { read_name(comm, observed_->name); }

std::optional<CollectiveCall> CommState::describe(const MpiCall& call, bool blocking) {
  const bool of_neighbours = taut::of_neighbours(call.info().collective);
  return api::describe(call, group_, of_neighbours ? topology(call.comm, blocking) : nullptr);
}

const Topology* CommState::topology(MPI_Comm comm, bool blocking) {
  auto& known = topology_[blocking];
  if (!known) known = topology_of(comm, blocking);
  return known->get();
}

void CommState::connect(MPI_Comm comm) {
  if (communicator_ != nullptr || !usable()) return;
  finish_calls();
  bring_to_best(comm);
  transport_ = make_mpi_transport(comm);
  communicator_ = std::make_unique<Communicator>(
      *transport_, place_, rules_, options().kernels, Observer{&observed_->calls, recorder()},
      find_nodes(transport_->communicator(), options().ranks_per_node));
  begin_progress(group_.rank == 0);
}

// Returns a spare state that no rank uses. For 64 spares at a time, the ranks combine the bits of those that
// they do not use.
std::shared_ptr<CommState> CommState::spare(MPI_Comm comm) {
  constexpr std::size_t at_a_time = 64;
  finish_calls();
  for (std::size_t first = 0; first < spares_.size(); first += at_a_time) {
    std::uint64_t mine = 0, common = 0;
    for (std::size_t i = first; i < std::min(spares_.size(), first + at_a_time); ++i)
      if (spares_[i].use_count() == 1) mine |= std::uint64_t{1} << (i - first);
    check(PMPI_Allreduce(&mine, &common, 1, MPI_UINT64_T, MPI_BAND, comm), "MPI_Allreduce");
    std::atomic_thread_fence(std::memory_order_acquire);  // the previous user of the spare has finished
    if (common != 0) return spares_[first + static_cast<std::size_t>(std::countr_zero(common))];
  }
  auto made = std::make_shared<CommState>(*this, std::make_shared<const bool>(false));
  made->name_after(comm);
  made->connect(comm);
  return spares_.emplace_back(std::move(made));
}

// Prepares a call. The name is read at the first call, when the program has set it.
void CommState::begin(MPI_Comm comm) {
  if (!std::exchange(begun_, true)) name_after(comm);
  connect(comm);
}

void CommState::sample(const CollectiveCall& request) noexcept {
  const CallKey key = request.key();
  const auto lock = stop_driving();
  CallRow& row = observed_->calls.row(key);
  const ConstSlice values = own_values(request, group_.rank).most();
  if (row.key == key && !taut::on_device(values.data)) sampler_.look(row, values);
}

Fallback CommState::early_fallback(const std::optional<CollectiveCall>& request,
                                   const MpiCall& as_called) noexcept {
  if (request && samples_) sample(*request);
  if (again_.backs_off) again_ = {};
  Fallback why = request.has_value() && !usable() ? Fallback::communicator : Fallback::unsupported;
  if (!enabled_ || rules_.off()) {
    why = Fallback::off;
  } else if (request.has_value() && usable()) {
    const auto lock = stop_driving();
    why = communicator_ != nullptr ? communicator_->early_fallback(*request)
          : request->bytes_known && request->bytes < rules_.least_bytes() ? Fallback::small
                                                                          : Fallback::none;
  }
  if (why != Fallback::none) count_plain(request, why);
  if (why != Fallback::none && request.has_value()) remember(as_called, *request, why);
  return why;
}

// Remembers a call that fell back, for repeated_fallback(). Only known datatypes and operators qualify: they
// are predefined, so their handles always mean the same. Below the least size the fallback does not depend on
// earlier calls; a kind of call in back-off counts its calls. With a trace nothing is remembered, since each
// call needs its entry.
void CommState::remember(const MpiCall& as_called, const CollectiveCall& request, Fallback why) noexcept {
  if (!request.coded() || !request.bytes_known) return;
  if (as_called.function == Function::none || as_called.info().has_counts) return;
  if (!known_datatype(telling_buffer(as_called, group_.rank).type) || recorder() != nullptr) return;
  const bool backs_off = communicator_ != nullptr && communicator_->backs_off();
  if (backs_off || request.bytes < rules_.least_bytes())
    again_ = {as_called, request.key(), request.bytes, why, backs_off};
}

bool CommState::repeated_fallback(const MpiCall& call) noexcept {
  if (!alike(again_.call, call, group_.rank) || open_ != 0) return false;
  CallRow& row = observed_->calls.row(again_.key);
  if (samples_ && Sampler::is_due(row)) return false;
  if (again_.backs_off && communicator_->repeated_fallback() == Fallback::none) return false;
  row.add_call(again_.bytes);
  row.note_plain(again_.why);
  return true;
}

// Returns true if a repeated call is timed. The cost of the clock is noticeable for 64 KiB in shared memory.
// Therefore one in eight calls in back-off is timed, and its time stands for the calls after it.
bool CommState::times_again() noexcept {
  if (observed_closely_ || !again_.backs_off) return observed_closely_;
  if (communicator_->needs_time() || ++again_.calls % 8 == 0) return true;
  add_plain_time(again_.key, again_.nanoseconds);
  return false;
}

void CommState::ran_again(std::uint64_t nanoseconds) noexcept {
  add_plain_time(again_.key, again_.nanoseconds = nanoseconds);
  if (compares(again_.why)) communicator_->note_plain(again_.bytes, nanoseconds);
}

// Stops other threads from driving and counting the calls in flight. Without calls in flight no lock is
// needed: only this thread can start one.
std::unique_lock<std::mutex> CommState::stop_driving() const {
  std::unique_lock lock(driving_, std::defer_lock);
  if (open_ != 0) lock.lock();
  return lock;
}

void CommState::count_plain(const std::optional<CollectiveCall>& request, Fallback why) noexcept {
  const auto lock = stop_driving();
  CallRow& row =
      request ? observed_->calls.count(request->key(), request->bytes) : observed_->calls.count(CallKey{}, 0);
  row.note_plain(why);
}

void CommState::add_plain_time(const CallKey& key, std::uint64_t nanoseconds) noexcept {
  PhaseTimes& times = observed_->calls.row(key).sum.times;
  times[Phase::plain] += nanoseconds;
  times[Phase::call] += nanoseconds;
}

void CommState::ran_plain(const CollectiveCall& request, Fallback why, std::uint64_t begin,
                          const CallTag& tag) noexcept {
  const std::uint64_t end = clock_now();
  const auto lock = stop_driving();
  if (compares(why)) communicator_->note_plain(request.bytes, end - begin);
  again_.nanoseconds = end - begin;
  add_plain_time(request.key(), end - begin);
  tag.add(Phase::plain, 0, begin, end, request.bytes);
  if (tag.recorder != nullptr) tag.recorder->close(tag);
}

// ---- Calls

// Serves a blocking call. Its lanes come after those of the calls in flight, and it waits for none of them.
Verdict CommState::run(MPI_Comm comm, const CollectiveCall& request) {
  begin(comm);
  const std::lock_guard lock(driving_);
  Task<Verdict> task = communicator_->start(request);
  for (Backoff backoff; !task.advance(); backoff.pause()) {
    if (!calls_in_flight()) continue;
    drive();
    progress_others(this);
  }
  return task.result();
}

void CommState::start(MPI_Comm comm, const CollectiveCall& request, FallbackCall& plain,
                      std::optional<CallInFlight>& call) {
  begin(comm);
  const std::lock_guard lock(driving_);
  user_ = std::this_thread::get_id();
  call.emplace(*communicator_, request, plain);
  in_flight_.start(*call);
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
