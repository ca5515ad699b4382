#include "dropin/watched.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "api/elements.hpp"
#include "api/wire.hpp"
#include "dropin/gate.hpp"

namespace taut::dropin {

struct Watched {
  Expected expected{};
  CodedMessage sent;                    // of a send; then there is nothing expected
  Apart apart;                          // where the message comes, if it is not the program's buffer
  std::optional<Wanted> wanted;         // of a persistent receive
  std::optional<PersistentSend> sends;  // of a persistent send; nothing is expected then either
  MPI_Request instead = MPI_REQUEST_NULL;
  bool kept_type = false;
  bool looked_at = false;  // before its completion; then what came of that:
  int code = MPI_SUCCESS;
  std::size_t bytes = 0;

  bool persistent() const noexcept { return wanted || sends; }
};

namespace {

struct All {
  std::mutex mutex;
  std::unordered_map<MPI_Request, std::unique_ptr<Watched>> watched;
};

All& all() {
  static auto* const one = new All;
  return *one;
}

std::atomic<std::size_t> open_requests{0};

void insert(MPI_Request request, std::unique_ptr<Watched> watched) noexcept {
  All& here = all();
  const std::lock_guard lock(here.mutex);
  here.watched.insert_or_assign(request, std::move(watched));
  open_requests = here.watched.size();
}

std::unique_ptr<Watched> take(All& here, MPI_Request request) noexcept {
  const auto found = here.watched.find(request);
  if (found == here.watched.end()) return nullptr;
  std::unique_ptr<Watched> watched = std::move(found->second);
  here.watched.erase(found);
  open_requests = here.watched.size();
  return watched;
}

// Runs `use(watched)`, if it is one.
template <class Use>
void with(MPI_Request request, Use use) noexcept {
  if (open_requests == 0) return;
  All& here = all();
  const std::lock_guard lock(here.mutex);
  const auto found = here.watched.find(request);
  if (found != here.watched.end()) use(*found->second);
}

std::unique_ptr<Watched> receiving(const Expected& expected) noexcept {
  const Inside inside;
  auto watched = std::make_unique<Watched>();
  watched->expected = expected;
  // The program may free it before the message comes.
  if (api::is_derived(expected.type))
    watched->kept_type = PMPI_Type_dup(expected.type, &watched->expected.type) == MPI_SUCCESS;
  return watched;
}

void drop(std::unique_ptr<Watched>& watched) noexcept {
  if (watched->kept_type) PMPI_Type_free(&watched->expected.type);
  watched.reset();
}

// One that has ended, and may be started again if it is persistent.
void end(std::unique_ptr<Watched>& watched) noexcept {
  if (!watched->persistent()) return drop(watched);
  watched->looked_at = false;
  watched->instead = MPI_REQUEST_NULL;
  watched->apart = {};
  watched->sent = {};
}

int settle_watched(const Watched& watched, MPI_Status& status) noexcept {
  if (watched.sent || watched.sends) return MPI_SUCCESS;
  if (watched.looked_at) {
    set_bytes(status, watched.bytes);
    return watched.code;
  }
  return watched.apart ? deliver(watched.apart, watched.expected, status) : settle(watched.expected, status);
}

// What the program frees without waiting. A message that comes to memory of Taut's has begun to come.
void free_started(Watched& watched, MPI_Request& started) noexcept {
  if (started == MPI_REQUEST_NULL) return;
  if (!watched.apart) return void(PMPI_Request_free(&started));
  MPI_Status status;
  if (PMPI_Wait(&started, &status) == MPI_SUCCESS) settle_watched(watched, status);
}

}  // namespace

void expect(MPI_Request request, const Expected& expected, Apart apart) noexcept {
  auto watched = receiving(expected);
  watched->apart = std::move(apart);
  insert(request, std::move(watched));
}

void hand_over(Posted posted, const Expected& expected, MPI_Request* request) noexcept {
  *request = posted.request;
  if (posted.apart || may_be_coded(expected)) expect(*request, expected, std::move(posted.apart));
}

void keep_until_sent(MPI_Request request, CodedMessage message) noexcept {
  auto watched = std::make_unique<Watched>();
  watched->sent = std::move(message);
  insert(request, std::move(watched));
}

bool forget(MPI_Request& request) noexcept {
  if (open_requests == 0) return false;
  All& here = all();
  std::unique_lock lock(here.mutex);
  auto watched = take(here, request);
  lock.unlock();
  if (!watched) return false;
  if (watched->sent) watched->sent.memory.release();  // MPI may still read it
  const bool comes_apart = !watched->persistent() && watched->apart;
  free_started(*watched, comes_apart ? request : watched->instead);
  drop(watched);
  return comes_apart;
}

// ---- Persistent requests

void expect_each(MPI_Request request, const PersistentReceive& receive) noexcept {
  auto watched = receiving(receive.expected);
  watched->wanted = receive.wanted;
  insert(request, std::move(watched));
}

std::optional<PersistentReceive> find_persistent(MPI_Request request) noexcept {
  std::optional<PersistentReceive> found;
  with(request, [&](const Watched& watched) {
    if (watched.wanted) found = {watched.expected, *watched.wanted};
  });
  return found;
}

void send_each(MPI_Request request, const PersistentSend& send) noexcept {
  auto watched = std::make_unique<Watched>();
  watched->sends = send;
  insert(request, std::move(watched));
}

std::optional<PersistentSend> find_persistent_send(MPI_Request request) noexcept {
  std::optional<PersistentSend> found;
  with(request, [&](const Watched& watched) { found = watched.sends; });
  return found;
}

void stand_in(MPI_Request request, Posted posted) noexcept {
  with(request, [&](Watched& watched) {
    watched.instead = posted.request;
    watched.apart = std::move(posted.apart);
  });
}

void stand_in(MPI_Request request, MPI_Request started, CodedMessage sent) noexcept {
  with(request, [&](Watched& watched) {
    watched.instead = started;
    watched.sent = std::move(sent);
  });
}

MPI_Request in_place_of(MPI_Request request) noexcept {
  MPI_Request instead = MPI_REQUEST_NULL;
  with(request, [&](const Watched& watched) { instead = watched.instead; });
  return instead;
}

// ---- Completion

Completion::Completion(std::span<MPI_Request> requests) noexcept : requests_(requests) {
  if (open_requests == 0) return;
  All& here = all();
  const std::lock_guard lock(here.mutex);
  const auto known = [&](MPI_Request request) { return here.watched.contains(request); };
  if (std::ranges::none_of(requests, known)) return;
  for (const MPI_Request request : requests) {
    auto watched = take(here, request);
    const bool replaced = watched && watched->instead != MPI_REQUEST_NULL;
    of_mpi_.push_back(replaced ? watched->instead : request);
    mine_.push_back({request, std::move(watched), replaced});
  }
}

// What has not been completed is seen to as before.
Completion::~Completion() {
  for (std::size_t i = 0; i < mine_.size(); ++i) {
    auto& [request, watched, replaced] = mine_[i];
    if (!replaced) requests_[i] = of_mpi_[i];
    if (!watched) continue;
    const bool over = of_mpi_[i] == MPI_REQUEST_NULL;
    if (over) end(watched);
    if (watched) insert(request, std::move(watched));
  }
}

int Completion::settle(std::size_t i, MPI_Status& status) noexcept {
  auto& watched = mine_[i].watched;
  if (!watched) return MPI_SUCCESS;
  const int code = settle_watched(*watched, status);
  end(watched);
  return code;
}

void Completion::forget(std::size_t i) noexcept {
  if (auto& watched = mine_[i].watched) end(watched);
}

int Completion::look(std::size_t i, MPI_Status& status) noexcept {
  auto& watched = mine_[i].watched;
  if (!watched) return MPI_SUCCESS;
  watched->code = settle_watched(*watched, status);
  watched->looked_at = true;
  watched->bytes = api::bytes_of(status);
  return watched->code;
}

}  // namespace taut::dropin
