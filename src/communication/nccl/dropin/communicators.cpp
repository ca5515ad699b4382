#include "communication/nccl/dropin/communicators.hpp"

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "communication/nccl/dropin/counts.hpp"
#include "compressor/base/options.hpp"

namespace taut::nccl::dropin {
namespace {

// Calls of all communicators. The object is never destroyed: its threads may run until the end of the
// process.
struct Communicators {
  std::mutex mutex;
  std::map<ncclComm*, std::shared_ptr<OrderedCalls>> calls;
  std::set<ncclComm*> nonblocking;  // NCCL serves their calls
};
Communicators& communicators() {
  static auto* const one = new Communicators;
  return *one;
}

// Removes a communicator from the list. Returns its calls; null if there are none.
std::shared_ptr<OrderedCalls> remove_calls(ncclComm* comm) {
  const std::lock_guard lock(communicators().mutex);
  communicators().nonblocking.erase(comm);
  const auto found = communicators().calls.find(comm);
  if (found == communicators().calls.end()) return nullptr;
  std::shared_ptr<OrderedCalls> calls = std::move(found->second);
  communicators().calls.erase(found);
  return calls;
}

// Returns the reports of all communicators at the end of the process, and stops their threads.
std::vector<std::unique_ptr<CommReport>> last_reports() {
  std::vector<std::unique_ptr<CommReport>> all;
  const std::lock_guard lock(communicators().mutex);
  for (const auto& [comm, calls] : communicators().calls)
    if (auto report = calls->last_report()) all.push_back(std::move(report));
  return all;
}

// Keeps the calls of a communicator for ever, because their thread is within a function of NCCL that does not
// return.
void never_free(const std::shared_ptr<OrderedCalls>& calls) { new std::shared_ptr<OrderedCalls>(calls); }

// Returns the object that serves the calls of a communicator; null where it cannot: without libtaut_cuda or a
// GPU of NVIDIA, as under RCCL. NCCL then serves the calls, and the process says so once.
std::shared_ptr<OrderedCalls> new_calls(ncclComm* comm, const std::optional<std::string>& policy) {
  try {
    gpu::device_services("a buffer of NCCL");
  } catch (const Error& error) {
    static std::atomic_flag said;
    if (!said.test_and_set()) std::fprintf(stderr, "taut: NCCL serves all its calls: %s\n", error.what());
    return nullptr;
  }
  return std::make_shared<OrderedCalls>(comm, policy);
}

// Returns true if Taut may serve calls of a communicator with several ranks.
bool may_serve(ncclComm* comm) {
  int state = success, rank = 0, ranks = 1;
  const Library& nccl = library();
  if (comm == nullptr || nccl.CommGetAsyncError(comm, &state) != success || state != success) return false;
  if (nccl.CommCount(comm, &ranks) != success || nccl.CommUserRank(comm, &rank) != success) return false;
  note_communicator(rank, ranks);
  return ranks > 1;
}

}  // namespace

std::shared_ptr<OrderedCalls> find_calls(ncclComm* comm) {
  const std::lock_guard lock(communicators().mutex);
  const auto found = communicators().calls.find(comm);
  return found == communicators().calls.end() ? nullptr : found->second;
}

int start_serving(std::span<ncclComm* const> created, const std::optional<std::string>& policy) {
  report_at_exit(last_reports);
  const bool has_rules = policy || !options().rules.empty() || !options().config.empty();
  std::vector<std::shared_ptr<OrderedCalls>> served;
  for (ncclComm* const comm : created) {
    if (!may_serve(comm) || !has_rules) continue;
    std::shared_ptr<OrderedCalls> calls = new_calls(comm, policy);
    if (calls == nullptr) continue;
    served.push_back(calls);
    const std::lock_guard lock(communicators().mutex);
    communicators().calls[comm] = std::move(calls);
  }
  int result = success;
  for (const auto& calls : served)  // all threads run, so that ranks of one process can agree
    if (!calls->await_agreement()) result = internal_error;
  return result;
}

void leave_nonblocking(ncclComm* comm, int rank, int ranks) {
  report_at_exit(last_reports);
  if (rank >= 0) note_communicator(rank, ranks);
  count_nonblocking();
  const bool has_rules = !options().rules.empty() || !options().config.empty();
  if (has_rules && rank == 0)
    std::fprintf(stderr,
                 "taut: NCCL serves all calls of a communicator, which was created with blocking = 0 "
                 "(PyTorch: set TORCH_NCCL_USE_COMM_NONBLOCKING=0)\n");
  const std::lock_guard lock(communicators().mutex);
  if (comm != nullptr) communicators().nonblocking.insert(comm);
}

bool is_nonblocking(ncclComm* comm) {
  const std::lock_guard lock(communicators().mutex);
  return communicators().nonblocking.contains(comm);
}

void release(ncclComm* comm) {
  const std::shared_ptr<OrderedCalls> calls = remove_calls(comm);
  if (calls == nullptr) return;
  calls->drain();
  if (calls->stop())
    keep(calls->report());
  else
    never_free(calls);
}

int abandon(ncclComm* comm, const std::function<int(ncclComm*)>& end) {
  const std::shared_ptr<OrderedCalls> calls = remove_calls(comm);
  if (calls == nullptr) return end(comm);
  const bool ended = calls->stop();
  const int result = end(comm);
  if (!ended) never_free(calls);
  return result;
}

int report_failure(const char* why) noexcept {
  std::fprintf(stderr, "taut: a call of NCCL failed: %s\n", why);
  return internal_error;
}

}  // namespace taut::nccl::dropin
