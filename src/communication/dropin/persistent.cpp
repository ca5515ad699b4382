#include "communication/dropin/persistent.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "communication/mpi/errors.hpp"
#include "communication/mpi/lasting.hpp"

namespace taut::dropin {
namespace {

struct Entry {
  CallHandle call;
  bool active;
};

// Calls behind the program's requests, and the communicator of the messages that complete them.
struct PersistentCalls {
  std::mutex mutex;
  std::unordered_map<MPI_Request, Entry> calls;
  std::vector<int> free_tags;
  int tags = 0;  // number of tags in use or used before
  MPI_Comm self = MPI_COMM_NULL;
};

std::atomic<bool> used{false};  // some request of the program was Taut's: without one no lock is needed

constexpr auto persistent_calls = lasting<PersistentCalls>;

char nothing[8];  // contents of the messages; the program's request has no room for any

int take_tag() {
  PersistentCalls& here = persistent_calls();
  const std::lock_guard lock(here.mutex);
  // Room for all tags, so that giving one back never allocates.
  here.free_tags.reserve(static_cast<std::size_t>(here.tags) + 1);
  if (here.free_tags.empty()) return here.tags++;
  const int tag = here.free_tags.back();
  here.free_tags.pop_back();
  return tag;
}

// Completes the program's request by a message. If the call failed, the message is too long for the request,
// which thus completes with an error. The program may free the request at any time, and may start it again
// once the message is sent.
void send_end(StartedCall& ended) noexcept {
  PersistentCalls& here = persistent_calls();
  const int tag = ended.tag;
  const bool failed = ended.code != MPI_SUCCESS;
  bool known = false;
  {
    const std::lock_guard lock(here.mutex);
    const auto found = here.calls.find(ended.request);
    known = found != here.calls.end() && &*found->second.call == &ended;
    if (known) found->second.active = false;
  }
  PMPI_Send(nothing, failed, MPI_BYTE, 0, tag, here.self);
  if (known) return;
  const std::lock_guard lock(here.mutex);
  here.free_tags.push_back(tag);
  ended.freed = true;
}

api::CollectiveRequest& collective(const StartedCall& one) noexcept {
  return static_cast<api::CollectiveRequest&>(*one.call);
}

// Starts a call that is not in progress.
int start(CallHandle started) {
  StartedCall& one = *started;
  if (const int code = PMPI_Start(&one.request); code != MPI_SUCCESS) return code;
  const int code = api::guard(one.call->comm(), [&] { return one.call->start(); });
  if (code == MPI_SUCCESS) {
    activate(started, !collective(one).advanced_by_mpi());
  } else {
    PMPI_Cancel(&one.request);
    PMPI_Wait(&one.request, MPI_STATUS_IGNORE);
  }
  return code;
}

// Creates the program's request for a call that Taut serves. Leaves `*request` unchanged if the call is plain
// MPI, on all ranks. Collective over `comm`. Returns an MPI code; throws Error.
int make_request(ArrayCopies copies, std::unique_ptr<TAUT_Request_s> call, MPI_Request* request) {
  forget_freed();
  std::list<StartedCall> one(1);
  StartedCall& made = one.front();
  made.copies = std::move(copies);
  made.call = std::move(call);
  if (!collective(made).set_apart(counts_all_calls())) return MPI_SUCCESS;
  if (const int code = collective(made).make_plain_persistent(); code != MPI_SUCCESS) return code;
  made.tag = take_tag();
  made.tell_mpi = send_end;
  const int code = PMPI_Recv_init(nothing, 0, MPI_BYTE, 0, made.tag, persistent_calls().self, &made.request);
  if (code != MPI_SUCCESS) throw MpiError(code, "MPI_Recv_init");
  *request = made.request;
  const CallHandle here = hold_inactive(std::move(one));
  used = true;
  const std::lock_guard lock(persistent_calls().mutex);
  persistent_calls().calls.insert_or_assign(*request, Entry{here, false});
  return MPI_SUCCESS;
}

}  // namespace

bool begin_persistent() noexcept {
  const BypassScope bypass;
  MPI_Comm& self = persistent_calls().self;
  return PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &self) == MPI_SUCCESS &&
         PMPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN) == MPI_SUCCESS;
}

void end_persistent() noexcept {
  const BypassScope bypass;
  if (persistent_calls().self != MPI_COMM_NULL) PMPI_Comm_free(&persistent_calls().self);
}

bool create_persistent(MPI_Comm comm, MPI_Info info, MPI_Request* request, int& code, CallMaker make) {
  if (!intercepts_persistent(comm)) return false;
  MPI_Request made = MPI_REQUEST_NULL;
  code = api::guard(comm, [&]() -> int {
    ArrayCopies copies;
    TAUT_Request call = TAUT_REQUEST_NULL;
    if (const int failure = api::prepare(make(copies), info, &call); failure != MPI_SUCCESS) return failure;
    return make_request(std::move(copies), std::unique_ptr<TAUT_Request_s>(call), &made);
  });
  if (code == MPI_SUCCESS && made == MPI_REQUEST_NULL) return false;
  if (code == MPI_SUCCESS) *request = made;
  return true;
}

bool start_persistent(MPI_Request request, int& code) {
  if (!used) return false;
  PersistentCalls& here = persistent_calls();
  std::unique_lock lock(here.mutex);
  const auto found = here.calls.find(request);
  if (found == here.calls.end()) return false;
  const CallHandle started = found->second.call;
  if (std::exchange(found->second.active, true)) {
    lock.unlock();
    code = api::raise(started->call->comm(), MPI_ERR_REQUEST);
    return true;
  }
  lock.unlock();
  code = start(started);
  if (code == MPI_SUCCESS) return true;
  lock.lock();
  if (const auto again = here.calls.find(request); again != here.calls.end()) again->second.active = false;
  return true;
}

void forget_persistent(MPI_Request request) noexcept {
  if (!used) return;
  PersistentCalls& here = persistent_calls();
  const std::lock_guard lock(here.mutex);
  const auto found = here.calls.find(request);
  if (found == here.calls.end()) return;
  const Entry entry = found->second;
  here.calls.erase(found);
  if (entry.active) return;  // send_end() frees the tag and the call
  here.free_tags.push_back(entry.call->tag);
  entry.call->freed = true;
}

}  // namespace taut::dropin
