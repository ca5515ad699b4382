#include "communication/nccl/dropin/program_call.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "communication/nccl/dropin/communicators.hpp"

namespace taut::nccl::dropin {
namespace {

// The open group of a thread, within an open group of NCCL.
struct Group {
  int depth = 0;
  std::vector<ProgramCall> calls;   // on communicators whose calls Taut may serve
  std::vector<ncclComm**> created;  // where the program finds the communicators that it creates
};
thread_local Group group;

int ranks_of(ncclComm* comm) {
  int ranks = 1;
  if (comm != nullptr) library().CommCount(comm, &ranks);
  return ranks;
}

// Puts calls in the queue of their communicator, or makes them by NCCL. Returns true if they are in the
// queue; otherwise sets `result` to NCCL's.
bool enqueue_or_run(OrderedCalls& calls, std::vector<ProgramCall> program_calls, int& result) {
  if (calls.must_queue(program_calls)) return calls.enqueue(std::move(program_calls)), true;
  for (const ProgramCall& call : program_calls)
    if (result == success) result = run_by_nccl(call, calls.ranks());
  return false;
}

// Makes the calls of a group, those of each communicator together, in their order. Returns NCCL's result.
int run_group(std::vector<ProgramCall> all, std::vector<std::shared_ptr<OrderedCalls>>& queued) {
  int result = success;
  while (!all.empty() && result == success) {
    ncclComm* const comm = all.front().comm();
    const auto others =
        std::ranges::stable_partition(all, [&](const ProgramCall& one) { return one.comm() == comm; });
    std::vector<ProgramCall> own(all.begin(), others.begin());
    all.erase(all.begin(), others.begin());
    std::shared_ptr<OrderedCalls> calls = find_calls(comm);
    if (calls != nullptr && enqueue_or_run(*calls, std::move(own), result))
      queued.push_back(std::move(calls));
  }
  return result;
}

// Starts to serve the communicators that a group has created. Returns NCCL's result.
int serve_created(const Group& ended) {
  std::vector<ncclComm*> comms;
  for (ncclComm* const* const comm : ended.created) comms.push_back(*comm);
  return comms.empty() ? success : start_serving(comms);
}

}  // namespace

int start_group() {
  const int result = library().GroupStart();
  if (result == success) ++group.depth;
  return result;
}

int end_group() {
  if (group.depth == 0 || --group.depth > 0) return library().GroupEnd();
  const Group ended = std::exchange(group, {});
  std::vector<std::shared_ptr<OrderedCalls>> queued;
  int made = success;
  try {
    made = run_group(ended.calls, queued);
  } catch (...) {
    library().GroupEnd();
    throw;
  }
  const int result = library().GroupEnd();
  for (const auto& calls : queued) calls->await_calls();
  if (made != success || result != success) return made != success ? made : result;
  return serve_created(ended);
}

// Makes all calls of the group by NCCL, which estimates them. The thread of a communicator makes none
// meanwhile.
int simulate_group(int (*simulate_end)(void* estimate), void* estimate) {
  if (group.depth == 0 || --group.depth > 0) return simulate_end(estimate);
  const Group ended = std::exchange(group, {});
  int made = success;
  for (const ProgramCall& call : ended.calls) {
    const std::shared_ptr<OrderedCalls> calls = find_calls(call.comm());
    if (calls != nullptr) calls->drain();
    if (made == success) made = run_uncounted(call, ranks_of(call.comm()));
  }
  const int result = simulate_end(estimate);
  if (made != success || result != success) return made != success ? made : result;
  return serve_created(ended);
}

int issue(const ProgramCall& call) {
  const std::shared_ptr<OrderedCalls> calls = find_calls(call.comm());
  if (calls == nullptr) return run_by_nccl(call, ranks_of(call.comm()));
  void* stream = nullptr;
  if (call.has_stream(stream) && calls->is_captured(stream)) calls->note_captured(call);
  if (group.depth > 0) return group.calls.push_back(call), success;
  int result = success;
  if (enqueue_or_run(*calls, {call}, result)) calls->await_calls();
  return result;
}

int note_created(ncclComm** comms, int n) {
  if (group.depth == 0) return start_serving(std::span(comms, static_cast<std::size_t>(n)));
  for (int i = 0; i < n; ++i) group.created.push_back(comms + i);
  return success;
}

}  // namespace taut::nccl::dropin
