#include "communication/api/state/comm_registry.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <vector>

#include "communication/api/state/finalize_reports.hpp"
#include "communication/api/state/progress_thread.hpp"
#include "communication/api/state/rule_binding.hpp"
#include "communication/mpi/average.hpp"
#include "communication/mpi/errors.hpp"
#include "communication/p2p/bypass.hpp"
#include "communication/p2p/receive.hpp"
#include "communication/p2p/send.hpp"
#include "compressor/base/guarded.hpp"

namespace taut::api {
namespace {

// All CommStates that are attached to communicators or used by requests, in order of creation, which is the
// same on all ranks. MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while MPI still works. The
// private communicators are freed then.
std::mutex mutex;
std::vector<CommState*>& all_comm_states() {
  static auto* const list = new std::vector<CommState*>;  // outlives static destructors
  return *list;
}

std::atomic<bool> driven{false};  // true: the progress thread drives the calls in flight

std::atomic<int> keyval{MPI_KEYVAL_INVALID};

// Counter that changes whenever a communicator gets, inherits or loses a CommRecord.
std::atomic<std::uint64_t> generation{0};

int copy_record(MPI_Comm, int, void*, void* from, void* to, int* copied) {
  try {
    const CommRecord& original = *static_cast<CommRecord*>(from);
    *copied = original.comm_state != nullptr && original.comm_state->has_policy();
    if (*copied == 0) return MPI_SUCCESS;
    auto record = std::make_unique<CommRecord>();
    record->comm_state = std::make_shared<CommState>(*original.comm_state, record->freed);
    record->rules_known = true;
    record->stream = original.stream;
    *static_cast<void**>(to) = record.release();
    ++generation;
    return MPI_SUCCESS;
  } catch (...) {
    *copied = 0;
    return MPI_ERR_NO_MEM;
  }
}

int delete_record(MPI_Comm, int, void* held, void*) {
  const std::unique_ptr<CommRecord> record(static_cast<CommRecord*>(held));
  *record->freed = true;
  ++generation;
  return MPI_SUCCESS;
}

std::vector<void (*)() noexcept>& finalizers() {
  static auto* const list = new std::vector<void (*)() noexcept>;
  return *list;
}

// Attribute callback in MPI_Finalize. Completes calls in flight that nobody has waited for, because other
// ranks may be waiting for them.
int finalize(MPI_Comm, int, void*, void*) {
  for (; !finalizers().empty(); finalizers().pop_back()) finalizers().back()();
  end_progress_thread();
  driven_by_thread(false);
  for (Backoff backoff; calls_in_flight(); backoff.pause()) progress(nullptr);
  p2p::finish_sends();
  {
    const std::lock_guard lock(mutex);
    for (CommState* const comm_state : all_comm_states()) comm_state->disconnect();
  }
  free_average();
  end_running_report();
  write_reports_so_far(true);
  return MPI_SUCCESS;
}

void make_keyvals() {
  static std::once_flag once;
  std::call_once(once, [] {
    int ours = MPI_KEYVAL_INVALID, at_end = MPI_KEYVAL_INVALID;
    check(PMPI_Comm_create_keyval(copy_record, delete_record, &ours, nullptr), "MPI_Comm_create_keyval");
    check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize, &at_end, nullptr),
          "MPI_Comm_create_keyval");
    check(PMPI_Comm_set_attr(MPI_COMM_SELF, at_end, nullptr), "MPI_Comm_set_attr");
    keyval = ours;
    begin_running_report();
  });
}

CommRecord* read_record(MPI_Comm comm) {
  const int ours = keyval;
  void* record = nullptr;
  int found = 0;
  if (ours == MPI_KEYVAL_INVALID || comm == MPI_COMM_NULL) return nullptr;
  PMPI_Comm_get_attr(comm, ours, &record, &found);
  return found != 0 ? static_cast<CommRecord*>(record) : nullptr;
}

// Returns the numbers that the ranks of an intracommunicator have in MPI_COMM_WORLD; MPI_UNDEFINED elsewhere.
std::vector<int> numbers_in_world(MPI_Comm comm, int size) {
  MPI_Group world, group;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(comm, &group);
  std::vector<int> ranks(static_cast<std::size_t>(size)), there(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  PMPI_Group_translate_ranks(group, size, ranks.data(), world, there.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return there;
}

bool look_for_ranks_in_world(MPI_Comm comm) {
  int inter = 0, size = 0;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_size(comm, &size);
  if (inter != 0 || size < 2) return false;
  const std::vector<int> there = numbers_in_world(comm, size);
  return std::ranges::find(there, MPI_UNDEFINED) == there.end();
}

}  // namespace

void register_comm_state(CommState& comm_state) {
  const std::lock_guard lock(mutex);
  all_comm_states().push_back(&comm_state);
}

void unregister_comm_state(const CommState& comm_state) noexcept {
  const std::lock_guard lock(mutex);
  std::erase(all_comm_states(), &comm_state);
}

void progress_others(const CommState* self) {
  const std::unique_lock lock(mutex, std::try_to_lock);  // otherwise another thread drives the calls
  if (!lock.owns_lock()) return;
  for (CommState* const comm_state : all_comm_states())
    if (comm_state != self) comm_state->flights().progress();
}

bool free_at_finalize() noexcept {
  int initialized = 0;
  PMPI_Initialized(&initialized);
  if (initialized == 0) return false;
  try {
    make_keyvals();
    return true;
  } catch (const Error&) {
    return false;
  }
}

void write_reports_so_far(bool finished) noexcept {
  const std::lock_guard lock(mutex);
  const ProcessRank process = this_process(finished);
  try {
    std::vector<const CommReport*> all;
    for (const CommState* const comm_state : all_comm_states())
      comm_state->observed([&](const CommReport& observed) { all.push_back(&observed); });
    write_reports(all, process);
  } catch (const std::bad_alloc&) {
    write_reports({}, process);
  }
}

bool copy_reports(unsigned round) noexcept {
  const std::lock_guard lock(mutex);
  bool all = true;
  for (CommState* const comm_state : all_comm_states()) all &= comm_state->copy_report(round);
  return all;
}

std::string text_of_copied_reports(const ProcessRank& process) {
  const std::lock_guard lock(mutex);
  std::vector<CommReport> copies;
  for (const CommState* const comm_state : all_comm_states()) copies.push_back(comm_state->copied_report());
  std::vector<const CommReport*> all;
  for (const CommReport& copy : copies) all.push_back(&copy);
  return report_text(all, process);
}

void progress(CommState* first) {
  const p2p::BypassScope bypass;
  p2p::advance_receives();
  if (!calls_in_flight()) return;
  if (first != nullptr) first->flights().progress();
  progress_others(first);
}

void finish_own_calls() {
  const auto open = [me = std::this_thread::get_id()] {
    const std::lock_guard lock(mutex);
    return std::ranges::any_of(all_comm_states(),
                               [me](const CommState* a) { return a->flights().has_calls_of(me); });
  };
  if (driven) return;
  for (Backoff backoff; calls_in_flight() && open(); backoff.pause()) progress(nullptr);
}

void driven_by_thread(bool yes) noexcept { driven = yes; }

// Finds the record of a communicator. A thread mostly uses the same communicator again, so the record is
// cached.
CommRecord* find_record(MPI_Comm comm) {
  struct StateLookup {
    MPI_Comm comm = MPI_COMM_NULL;
    std::uint64_t generation = 0;
    CommRecord* record = nullptr;
  };
  thread_local StateLookup last;
  const std::uint64_t now = generation;
  if (last.comm == comm && last.generation == now) return last.record;
  last = {comm, now, read_record(comm)};
  return last.record;
}

CommRecord& record_of(MPI_Comm comm) {
  if (CommRecord* const known = find_record(comm)) return *known;
  make_keyvals();
  static std::mutex making;  // several threads may need the record at once
  const std::lock_guard lock(making);
  if (CommRecord* const made = read_record(comm)) return *made;
  auto record = std::make_unique<CommRecord>();
  check(PMPI_Comm_set_attr(comm, keyval, record.get()), "MPI_Comm_set_attr");
  ++generation;
  return *record.release();
}

bool ranks_in_world(MPI_Comm comm) {
  CommRecord& record = record_of(comm);
  if (record.members == CommRecord::unknown)
    record.members = look_for_ranks_in_world(comm) ? CommRecord::in_world : CommRecord::elsewhere;
  return record.members == CommRecord::in_world;
}

std::uint64_t hash_of_ranks(MPI_Comm comm) noexcept {
  int inter = 0, size = 0;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_size(comm, &size);
  std::uint64_t hash = 0;
  if (inter != 0) return hash;
  guarded([&] {
    const std::vector<int> numbers = numbers_in_world(comm, size);
    hash = taut::hash(std::as_bytes(std::span(numbers))) | 1;
  });
  return hash;
}

void at_finalize(void (*function)() noexcept) {
  make_keyvals();
  const std::lock_guard lock(mutex);
  finalizers().push_back(function);
}

CommState* find_or_bind_state(MPI_Comm comm) {
  const CommRecord* const record = find_record(comm);
  if (record != nullptr && record->rules_known) return record->comm_state.get();
  attach_rules(comm);
  return find_comm_state(comm);
}

namespace {

// Adds the statistics of a state to those of earlier policies. Few policies have an entry of their own; the
// last one is for all others.
void keep_statistics(std::vector<CommReport>& earlier, const CommState& replaced) {
  constexpr std::size_t most = 16;
  CommReport report = replaced.observed([](const CommReport& observed) { return observed; });
  if (report.calls.total().calls == 0) return;
  auto found = std::ranges::find(earlier, report.policy, &CommReport::policy);
  if (found == earlier.end() && earlier.size() == most) {
    found = earlier.end() - 1;
    found->policy = "others";
  }
  if (found == earlier.end())
    earlier.push_back(std::move(report));
  else
    found->calls.merge(report.calls);
}

}  // namespace

void attach(MPI_Comm comm, std::shared_ptr<CommState> comm_state) {
  CommRecord& record = record_of(comm);
  if (record.comm_state != nullptr) keep_statistics(record.earlier, *record.comm_state);
  if (comm_state != nullptr) {
    comm_state->set_freed_flag(record.freed);
    comm_state->set_stream(record.stream);
  }
  record.comm_state = std::move(comm_state);
  record.rules_known = true;
}

}  // namespace taut::api
