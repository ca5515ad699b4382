#include "p2p/request_table.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "api/args/datatype_layout.hpp"
#include "p2p/bypass.hpp"
#include "p2p/open_receive.hpp"

namespace taut::p2p {

// TrackedRequest: what the table knows of one request, a receive or a send.
struct TrackedRequest {
  RecvBuffer at{};                      // buffer of a receive
  Detached detached;                    // gets the message instead of the program's buffer
  OutgoingMessage sent;                 // message of a coded send
  std::optional<OpenReceive> open;      // receive that other calls advance
  std::optional<MatchKey> key;          // match key of a persistent receive
  std::optional<PersistentSend> sends;  // function and arguments of a persistent send
  MPI_Request substitute = MPI_REQUEST_NULL;
  MPI_Datatype kept_type = MPI_DATATYPE_NULL;
  bool has_status = false;  // get_status() was called before completion, with this result:
  int code = MPI_SUCCESS;
  std::size_t bytes = 0;

  TrackedRequest() = default;
  TrackedRequest(const TrackedRequest&) = delete;
  ~TrackedRequest() {
    if (kept_type != MPI_DATATYPE_NULL) PMPI_Type_free(&kept_type);
  }

  bool persistent() const noexcept { return key || sends; }
  bool is_send() const noexcept { return sent.coded() || sends; }

  // Duplicates a derived type, which the program may free before the request is complete.
  void keep(MPI_Datatype& type) noexcept {
    const BypassScope scope;
    if (api::is_derived(type) && PMPI_Type_dup(type, &kept_type) == MPI_SUCCESS) type = kept_type;
  }

  // Opens a receive that may come in segments, or that goes through a bounce buffer.
  void open_by(MPI_Request request) noexcept {
    const bool bounced = detached && !detached.matched;
    if (bounced || may_be_segmented(at)) open.emplace(at, detached ? &detached : nullptr, request);
  }

  // Returns true if MPI may complete the request: all segments of the message have arrived or are sent.
  bool ready(MPI_Request request) noexcept { return open ? open->ready() : sent.ready(request); }
};

namespace {

struct RequestTable {
  std::mutex mutex;
  std::unordered_map<MPI_Request, std::unique_ptr<TrackedRequest>> tracked;
};

RequestTable& request_table() {
  static auto* const one = new RequestTable;
  return *one;
}

std::atomic<std::size_t> open_requests{0};

void insert(MPI_Request request, std::unique_ptr<TrackedRequest> tracked) noexcept {
  RequestTable& here = request_table();
  const std::lock_guard lock(here.mutex);
  here.tracked.insert_or_assign(request, std::move(tracked));
  open_requests = here.tracked.size();
}

std::unique_ptr<TrackedRequest> take(RequestTable& here, MPI_Request request) noexcept {
  const auto found = here.tracked.find(request);
  if (found == here.tracked.end()) return nullptr;
  std::unique_ptr<TrackedRequest> tracked = std::move(found->second);
  here.tracked.erase(found);
  open_requests = here.tracked.size();
  return tracked;
}

// Runs `use(tracked)` if the request is in the table.
template <class Use>
void with(MPI_Request request, Use use) noexcept {
  if (open_requests == 0) return;
  RequestTable& here = request_table();
  const std::lock_guard lock(here.mutex);
  const auto found = here.tracked.find(request);
  if (found != here.tracked.end()) use(*found->second);
}

std::unique_ptr<TrackedRequest> receiving(const RecvBuffer& at) noexcept {
  auto tracked = std::make_unique<TrackedRequest>();
  tracked->at = at;
  tracked->keep(tracked->at.type);
  return tracked;
}

// Ends a request. A persistent request may be started again.
void end(std::unique_ptr<TrackedRequest>& tracked) noexcept {
  if (!tracked->persistent()) return tracked.reset();
  tracked->has_status = false;
  tracked->open.reset();
  tracked->substitute = MPI_REQUEST_NULL;
  tracked->detached = {};
  tracked->sent = {};
}

int finish_tracked(TrackedRequest& tracked, MPI_Status& status) noexcept {
  if (tracked.is_send()) return MPI_SUCCESS;
  if (tracked.has_status) {
    set_received_bytes(status, tracked.bytes);
    return tracked.code;
  }
  if (tracked.open && tracked.open->message() != nullptr)
    return tracked.open->message()->finish(tracked.at.comm, status);
  return tracked.detached ? deliver(tracked.detached, tracked.at, status) : finish_recv(tracked.at, status);
}

// Frees a request for which the program does not wait. A receive into memory of Taut is waited for: its
// message is on its way.
void free_started(TrackedRequest& tracked, MPI_Request& started) noexcept {
  if (started == MPI_REQUEST_NULL) return;
  if (!tracked.detached) return void(PMPI_Request_free(&started));
  MPI_Status status;
  if (PMPI_Wait(&started, &status) == MPI_SUCCESS) finish_tracked(tracked, status);
}

}  // namespace

void track_recv(MPI_Request request, const RecvBuffer& at, Detached detached) noexcept {
  auto tracked = receiving(at);
  tracked->detached = std::move(detached);
  tracked->open_by(request);
  insert(request, std::move(tracked));
}

void hand_over(PostedReceive posted, const RecvBuffer& at, MPI_Request* request) noexcept {
  *request = posted.request;
  if (posted.detached || may_be_coded(at)) track_recv(*request, at, std::move(posted.detached));
}

void track_send(MPI_Request request, OutgoingMessage message) noexcept {
  auto tracked = std::make_unique<TrackedRequest>();
  tracked->sent = std::move(message);
  insert(request, std::move(tracked));
}

bool untrack(MPI_Request& request) noexcept {
  if (open_requests == 0) return false;
  RequestTable& here = request_table();
  std::unique_lock lock(here.mutex);
  auto tracked = take(here, request);
  lock.unlock();
  if (!tracked) return false;
  if (tracked->open && !tracked->open->ready()) {  // the receive goes on: its segments have to be received
    tracked->open->forget();
    const bool frees = tracked.release()->persistent();  // MPI's persistent request is not started
    if (!frees) request = MPI_REQUEST_NULL;
    return !frees;
  }
  if (tracked->sent.coded() && !tracked->sent.in_segments()) tracked->sent.abandon();
  const bool comes_detached = !tracked->persistent() && tracked->detached;
  free_started(*tracked, comes_detached ? request : tracked->substitute);
  return comes_detached;
}

// ---- Persistent requests

void track_persistent(MPI_Request request, const PersistentRecv& recv) noexcept {
  auto tracked = receiving(recv.at);
  tracked->key = recv.key;
  insert(request, std::move(tracked));
}

std::optional<PersistentRecv> find_persistent_recv(MPI_Request request) noexcept {
  std::optional<PersistentRecv> found;
  with(request, [&](const TrackedRequest& tracked) {
    if (tracked.key) found = {tracked.at, *tracked.key};
  });
  return found;
}

void track_persistent(MPI_Request request, const PersistentSend& send) noexcept {
  auto tracked = std::make_unique<TrackedRequest>();
  tracked->sends = send;
  tracked->keep(tracked->sends->message.type);
  insert(request, std::move(tracked));
}

std::optional<PersistentSend> find_persistent_send(MPI_Request request) noexcept {
  std::optional<PersistentSend> found;
  with(request, [&](const TrackedRequest& tracked) { found = tracked.sends; });
  return found;
}

void substitute(MPI_Request request, PostedReceive posted) noexcept {
  with(request, [&](TrackedRequest& tracked) {
    tracked.substitute = posted.request;
    tracked.detached = std::move(posted.detached);
    tracked.open_by(tracked.substitute);
  });
}

void substitute(MPI_Request request, MPI_Request started, OutgoingMessage sent) noexcept {
  with(request, [&](TrackedRequest& tracked) {
    tracked.substitute = started;
    tracked.sent = std::move(sent);
  });
}

MPI_Request substitute_of(MPI_Request request) noexcept {
  MPI_Request substitute = MPI_REQUEST_NULL;
  with(request, [&](const TrackedRequest& tracked) { substitute = tracked.substitute; });
  return substitute;
}

// ---- Completion

CompletionScope::CompletionScope(std::span<MPI_Request> requests) noexcept : requests_(requests) {
  if (open_requests == 0) return;
  RequestTable& here = request_table();
  const std::lock_guard lock(here.mutex);
  const auto known = [&](MPI_Request request) { return here.tracked.contains(request); };
  if (std::ranges::none_of(requests, known)) return;
  for (const MPI_Request request : requests) {
    auto tracked = take(here, request);
    const bool substituted = tracked && tracked->substitute != MPI_REQUEST_NULL;
    of_mpi_.push_back(substituted ? tracked->substitute : request);
    mine_.push_back({request, std::move(tracked), substituted, of_mpi_.back()});
  }
}

// Ends the requests that are complete. The other requests return to the table.
CompletionScope::~CompletionScope() {
  for (std::size_t i = 0; i < mine_.size(); ++i) {
    auto& [request, tracked, substituted, of_mpi, held] = mine_[i];
    if (!substituted && !held) requests_[i] = of_mpi_[i];
    if (!tracked) continue;
    const bool over = of_mpi_[i] == MPI_REQUEST_NULL && !held;
    if (over) end(tracked);
    if (tracked) insert(request, std::move(tracked));
  }
}

std::size_t CompletionScope::hold_back() noexcept {
  std::size_t held = 0;
  for (std::size_t i = 0; i < mine_.size(); ++i) {
    One& one = mine_[i];
    if (!one.tracked) continue;
    one.held = !one.tracked->ready(one.of_mpi);
    of_mpi_[i] = one.held ? MPI_REQUEST_NULL : one.of_mpi;
    held += one.held;
  }
  return held;
}

int CompletionScope::finish(std::size_t i, MPI_Status& status) noexcept {
  auto& tracked = mine_[i].tracked;
  if (!tracked) return MPI_SUCCESS;
  const int code = finish_tracked(*tracked, status);
  end(tracked);
  return code;
}

void CompletionScope::discard(std::size_t i) noexcept {
  if (auto& tracked = mine_[i].tracked) end(tracked);
}

int CompletionScope::get_status(std::size_t i, MPI_Status& status) noexcept {
  auto& tracked = mine_[i].tracked;
  if (!tracked) return MPI_SUCCESS;
  tracked->code = finish_tracked(*tracked, status);
  tracked->has_status = true;
  tracked->bytes = received_bytes(status);
  return tracked->code;
}

}  // namespace taut::p2p
