#include "communication/p2p/request_table.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "communication/mpi/lasting.hpp"
#include "communication/p2p/bypass.hpp"

namespace taut::p2p {

// TrackedRequest: what the table knows of one request, a receive or a send.
struct TrackedRequest {
  MpiMessage arguments{};           // arguments of a receive, or of a persistent send
  Detached detached;                // gets the message instead of the program's buffer
  Send send;                        // a coded send
  std::optional<OpenReceive> open;  // receive that other calls advance
  bool persistent = false;
  StartFunction sends = nullptr;  // function of a persistent send
  MPI_Request substitute = MPI_REQUEST_NULL;
  MPI_Datatype kept_type = MPI_DATATYPE_NULL;
  std::uint64_t born = 0;   // time of the entry, by RequestTable::clock
  bool has_status = false;  // get_status() was called before completion, with this result:
  int code = MPI_SUCCESS;
  std::size_t bytes = 0;

  TrackedRequest() = default;
  TrackedRequest(const TrackedRequest&) = delete;
  ~TrackedRequest() {
    if (kept_type != MPI_DATATYPE_NULL) PMPI_Type_free(&kept_type);
  }

  // Ends the call that a start of a persistent request has begun.
  void end_start() noexcept {
    has_status = false;
    open.reset();
    substitute = MPI_REQUEST_NULL;
    detached = {};
    send = {};
  }
  bool is_send() const noexcept { return send.coded() || sends != nullptr; }

  // Duplicates a derived type, which the program may free before the request is complete.
  void keep(MPI_Datatype& type) noexcept {
    const BypassScope scope;
    if (api::is_derived(type) && PMPI_Type_dup(type, &kept_type) == MPI_SUCCESS) type = kept_type;
  }

  // Opens a receive that may come in segments, or that goes through a bounce buffer.
  void open_by(MPI_Request request) noexcept {
    const bool bounced = detached && !detached.matched;
    if (bounced || may_be_segmented(arguments))
      open.emplace(arguments, detached ? &detached : nullptr, request);
  }

  // Returns true if a call has to look at the request before MPI completes it.
  bool special() const noexcept { return open || send.in_segments() || substitute != MPI_REQUEST_NULL; }

  // Returns true if MPI may complete the request: all segments of the message have arrived or are sent.
  bool ready(MPI_Request request) { return open ? open->ready() : send.ready(request); }
};

namespace {

using Entries = std::unordered_map<MPI_Request, std::unique_ptr<TrackedRequest>>;

}  // namespace

// Call such as MPI_Waitall that is in progress. The call owns the entries of its requests until it has looked
// them up, even if MPI has freed their handles and given them to new requests.
struct CompletingCall {
  std::vector<MPI_Request> handles;
  std::uint64_t start = 0;
  std::thread::id thread = std::this_thread::get_id();
  const void* frame = __builtin_frame_address(0);
  Entries displaced;  // entries whose handle a new request in the table has
  bool left = false;

  bool owns(MPI_Request request, const TrackedRequest& tracked) const noexcept {
    return !left && tracked.born < start && std::ranges::find(handles, request) != handles.end();
  }
};

namespace {

struct RequestTable {
  std::mutex mutex;
  Entries tracked;
  std::list<CompletingCall> calls;
  std::uint64_t clock = 0;
};

constexpr auto request_table = lasting<RequestTable>;

std::atomic<std::size_t> open_requests{0}, special_requests{0};

// Returns the call of another thread that owns an entry; null if there is none. If several calls have the
// handle, the call that started first owns the entry. `asking`: a call with the handle; only earlier calls
// are considered.
CompletingCall* other_owner(RequestTable& here, const Entries::value_type& entry,
                            const CompletingCall* asking = nullptr) noexcept {
  for (CompletingCall& call : here.calls) {
    if (&call == asking) return nullptr;
    if (call.owns(entry.first, *entry.second))
      return call.thread != std::this_thread::get_id() ? &call : nullptr;
  }
  return nullptr;
}

void count(RequestTable& here) noexcept { open_requests = here.tracked.size(); }

void insert(MPI_Request request, std::unique_ptr<TrackedRequest> tracked) {
  RequestTable& here = request_table();
  const std::lock_guard lock(here.mutex);
  tracked->born = ++here.clock;
  special_requests += tracked->special();
  if (const auto old = here.tracked.find(request); old != here.tracked.end()) {
    if (CompletingCall* const call = other_owner(here, *old))
      call->displaced.insert_or_assign(request, std::move(old->second));
    else
      special_requests -= old->second->special();
    here.tracked.erase(old);
  }
  here.tracked.emplace(request, std::move(tracked));
  count(here);
}

// Returns the entry of a request of this thread; the end of the table if there is none.
auto find(RequestTable& here, MPI_Request request) noexcept {
  const auto found = here.tracked.find(request);
  const bool mine = found != here.tracked.end() && other_owner(here, *found) == nullptr;
  return mine ? found : here.tracked.end();
}

std::unique_ptr<TrackedRequest> remove(RequestTable& here, Entries::iterator found) noexcept {
  if (found == here.tracked.end()) return nullptr;
  std::unique_ptr<TrackedRequest> tracked = std::move(found->second);
  here.tracked.erase(found);
  special_requests -= tracked->special();
  count(here);
  return tracked;
}

// Runs `use(tracked)` if the request is in the table.
template <class Use>
void with(MPI_Request request, Use use) {
  if (open_requests == 0) return;
  RequestTable& here = request_table();
  const std::lock_guard lock(here.mutex);
  const auto found = find(here, request);
  if (found != here.tracked.end()) use(*found->second);
}

// Marks the calls of this thread that an error handler has left by longjmp: their stack frame is not above
// the current one. Such calls no longer keep entries from other threads. They stay in the list, because a
// call on another stack of this thread may still be in progress.
void mark_left_calls(RequestTable& here) noexcept {
  const auto me = std::this_thread::get_id();
  const void* const frame = __builtin_frame_address(0);
  for (CompletingCall& call : here.calls) call.left |= call.thread == me && !std::less<>()(frame, call.frame);
}

std::unique_ptr<TrackedRequest> entry_of(const MpiMessage& arguments) {
  auto tracked = std::make_unique<TrackedRequest>();
  tracked->arguments = arguments;
  tracked->keep(tracked->arguments.type);
  return tracked;
}

api::Failure finish_tracked(TrackedRequest& tracked, MPI_Status& status) {
  if (tracked.is_send()) return {};
  if (tracked.has_status) {
    set_received_bytes(status, tracked.bytes);
    return {tracked.code};
  }
  return finish_recv(tracked.arguments, tracked.detached, tracked.open ? tracked.open->segmented() : nullptr,
                     status);
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

void track_recv(MPI_Request request, const MpiMessage& recv, Detached detached) noexcept {
  auto tracked = entry_of(recv);
  tracked->detached = std::move(detached);
  tracked->open_by(request);
  insert(request, std::move(tracked));
}

void hand_over(PostedReceive posted, const MpiMessage& recv, MPI_Request* request) noexcept {
  *request = posted.request;
  if (posted.detached || may_be_coded(recv)) track_recv(*request, recv, std::move(posted.detached));
}

void track_send(MPI_Request request, Send send) noexcept {
  auto tracked = std::make_unique<TrackedRequest>();
  tracked->send = std::move(send);
  insert(request, std::move(tracked));
}

bool untrack(MPI_Request& request) noexcept {
  if (open_requests == 0) return false;
  RequestTable& here = request_table();
  std::unique_lock lock(here.mutex);
  auto tracked = remove(here, find(here, request));
  lock.unlock();
  if (!tracked) return false;
  if (tracked->open && !tracked->open->ready()) {  // the receive goes on: its segments have to be received
    tracked->open->forget();
    const bool frees = tracked.release()->persistent;  // MPI's persistent request is not started
    if (!frees) request = MPI_REQUEST_NULL;
    return !frees;
  }
  if (tracked->send.coded() && !tracked->send.in_segments()) tracked->send.abandon();
  const bool comes_detached = !tracked->persistent && tracked->detached;
  free_started(*tracked, comes_detached ? request : tracked->substitute);
  return comes_detached;
}

// ---- Persistent requests

void track_persistent(MPI_Request request, const MpiMessage& message, StartFunction sends) noexcept {
  auto tracked = entry_of(message);
  tracked->persistent = true;
  tracked->sends = sends;
  insert(request, std::move(tracked));
}

std::optional<std::pair<StartFunction, MpiMessage>> find_persistent(MPI_Request request) noexcept {
  std::optional<std::pair<StartFunction, MpiMessage>> found;
  with(request, [&](const TrackedRequest& tracked) {
    if (tracked.persistent) found.emplace(tracked.sends, tracked.arguments);
  });
  return found;
}

void substitute(MPI_Request request, PostedReceive posted) noexcept {
  with(request, [&](TrackedRequest& tracked) {
    special_requests -= tracked.special();
    tracked.substitute = posted.request;
    tracked.detached = std::move(posted.detached);
    tracked.open_by(tracked.substitute);
    special_requests += tracked.special();
  });
}

void substitute(MPI_Request request, MPI_Request started, Send send) noexcept {
  with(request, [&](TrackedRequest& tracked) {
    special_requests -= tracked.special();
    tracked.substitute = started;
    tracked.send = std::move(send);
    special_requests += tracked.special();
  });
}

MPI_Request substitute_of(MPI_Request request) noexcept {
  MPI_Request substitute = MPI_REQUEST_NULL;
  with(request, [&](const TrackedRequest& tracked) { substitute = tracked.substitute; });
  return substitute;
}

// ---- Completion

namespace {

// Number of requests that are looked up before the call, which MPI can then serve alone.
constexpr std::size_t few = 16;

}  // namespace

bool has_tracked_requests() noexcept { return open_requests != 0; }

CompletionScope::CompletionScope(std::span<MPI_Request> requests) : requests_(requests) {
  if (requests.empty()) return;
  RequestTable& here = request_table();
  const std::lock_guard lock(here.mutex);
  if (!here.calls.empty()) mark_left_calls(here);
  const auto known = [&](MPI_Request request) { return find(here, request) != here.tracked.end(); };
  if (requests.size() <= few && std::ranges::none_of(requests, known)) return;
  call_ = &here.calls.emplace_back();
  call_->handles.assign(requests.begin(), requests.end());
  call_->start = ++here.clock;
  if (special_requests != 0) find_specials();
}

void CompletionScope::find_specials() {
  RequestTable& here = request_table();
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const auto found = find(here, requests_[i]);
    if (found == here.tracked.end() || !found->second->special()) continue;
    TrackedRequest& tracked = *found->second;
    const bool substituted = tracked.substitute != MPI_REQUEST_NULL;
    specials_.push_back({i, &tracked, substituted, substituted ? tracked.substitute : requests_[i]});
  }
  if (specials_.empty()) return;
  of_mpi_.assign(requests_.begin(), requests_.end());
  for (const Special& one : specials_) of_mpi_[one.index] = one.of_mpi;
}

// Gives the program its requests as MPI has left them.
CompletionScope::~CompletionScope() {
  if (call_ == nullptr) return;
  if (std::uncaught_exceptions() > exceptions_) discard_ended();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < of_mpi_.size(); ++i) {
    const bool special = kept < specials_.size() && specials_[kept].index == i;
    const bool keeps = special && (specials_[kept].substituted || specials_[kept].held);
    kept += special;
    if (!keeps) requests_[i] = of_mpi_[i];
  }
  RequestTable& here = request_table();
  const std::lock_guard lock(here.mutex);
  here.calls.remove_if([this](const CompletingCall& call) { return &call == call_; });
}

std::size_t CompletionScope::hold_back() {
  std::size_t held = 0;
  for (Special& one : specials_) {
    one.held = !one.tracked->ready(one.of_mpi);
    of_mpi_[one.index] = one.held ? MPI_REQUEST_NULL : one.of_mpi;
    held += one.held;
  }
  return held;
}

TrackedRequest* CompletionScope::find_mine(std::size_t i) const noexcept {
  RequestTable& here = request_table();
  const std::lock_guard lock(here.mutex);
  const MPI_Request request = call_->handles[i];
  if (const auto found = call_->displaced.find(request); found != call_->displaced.end())
    return found->second.get();
  const auto found = here.tracked.find(request);
  const bool mine = found != here.tracked.end() && found->second->born < call_->start &&
                    other_owner(here, *found, call_) == nullptr;
  return mine ? found->second.get() : nullptr;
}

// Ends a request of the program. A persistent request may be started again.
void CompletionScope::end(std::size_t i, TrackedRequest& tracked) noexcept {
  RequestTable& here = request_table();
  std::unique_ptr<TrackedRequest> over;  // destroyed after the lock is released
  const std::lock_guard lock(here.mutex);
  if (tracked.persistent) {
    special_requests -= tracked.special();
    tracked.end_start();
  } else if (const auto displaced = call_->displaced.extract(call_->handles[i]); !displaced.empty()) {
    special_requests -= tracked.special();
    over = std::move(displaced.mapped());
  } else {
    over = remove(here, here.tracked.find(call_->handles[i]));
  }
}

int CompletionScope::note(TrackedRequest& tracked, MPI_Status& status) {
  const api::Failure failure = finish_tracked(tracked, status);
  if (failure && !failure_.second) failure_ = {tracked.arguments.comm, failure};
  return failure.code;
}

int CompletionScope::finish(std::size_t i, MPI_Status& status) {
  TrackedRequest* const tracked = find_mine(i);
  if (tracked == nullptr) return MPI_SUCCESS;
  const int code = note(*tracked, status);
  end(i, *tracked);
  return code;
}

void CompletionScope::discard(std::size_t i) noexcept {
  if (TrackedRequest* const tracked = find_mine(i)) end(i, *tracked);
}

void CompletionScope::discard_ended() noexcept {
  for (std::size_t i = 0; i < requests_.size(); ++i)
    if (requests()[i] == MPI_REQUEST_NULL && call_->handles[i] != MPI_REQUEST_NULL && !is_held(i)) discard(i);
}

bool CompletionScope::is_held(std::size_t i) const noexcept {
  return std::ranges::any_of(specials_, [i](const Special& one) { return one.held && one.index == i; });
}

int CompletionScope::get_status(std::size_t i, MPI_Status& status) {
  TrackedRequest* const tracked = find_mine(i);
  if (tracked == nullptr) return MPI_SUCCESS;
  tracked->code = note(*tracked, status);
  tracked->has_status = true;
  tracked->bytes = received_bytes(status);
  return tracked->code;
}

}  // namespace taut::p2p
