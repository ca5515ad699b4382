#include "communication/dropin/handshake.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace taut::dropin {
namespace {

using Clock = std::chrono::steady_clock;

// Message tags, below 32767, the least MPI_TAG_UB that MPI allows.
enum Tag : int { greeting = 32701, question, answer, word };

// Waits for all requests; returns false if some are incomplete at `until`. Completed requests become
// MPI_REQUEST_NULL.
bool arrive(std::vector<MPI_Request>& requests, Clock::time_point until) {
  std::vector<int> which(requests.size());
  while (std::ranges::any_of(requests, [](MPI_Request request) { return request != MPI_REQUEST_NULL; })) {
    int some = 0;
    PMPI_Testsome(static_cast<int>(requests.size()), requests.data(), &some, which.data(),
                  MPI_STATUSES_IGNORE);
    if (some > 0) continue;
    if (Clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

// State of a handshake. Its buffers outlive a handshake that has given up.
struct Handshake::State {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  std::vector<int> replies;   // contents of the messages from other ranks
  int version = 0, says = 0;  // contents of the messages to them
  std::vector<MPI_Request> receives, sends;

  MPI_Request receive(int& into, int from, Tag tag) {
    MPI_Request request;
    PMPI_Irecv(&into, 1, MPI_INT, from, tag, comm, &request);
    return request;
  }
  void send(const int& what, int to, Tag tag) {
    PMPI_Isend(&what, 1, MPI_INT, to, tag, comm, &sends.emplace_back());
  }
};

Handshake::Handshake(MPI_Comm comm, int version) : state_(std::make_unique<State>()) {
  state_->comm = comm;
  state_->version = version;
  PMPI_Comm_rank(comm, &state_->rank);
  PMPI_Comm_size(comm, &state_->size);
}

Handshake::~Handshake() {
  for (MPI_Request& request : state_->receives) {
    if (request == MPI_REQUEST_NULL) continue;
    PMPI_Cancel(&request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (MPI_Request& request : state_->sends)
    if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);  // a small send completes by itself
}

Handshake::Outcome Handshake::find_out(std::chrono::milliseconds patience) {
  const Outcome found = state_->rank == 0 ? lead(patience) : follow(patience);
  std::vector<MPI_Request>& sends = state_->sends;
  if (found == Outcome::all_here)
    PMPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
  return found;
}

Handshake::Outcome Handshake::lead(std::chrono::milliseconds patience) {
  const auto others = static_cast<std::size_t>(state_->size - 1);
  State& state = *state_;
  state.replies.assign(2 * others, 0);
  for (std::size_t i = 0; i < others; ++i)
    state.receives.push_back(state.receive(state.replies[i], static_cast<int>(i) + 1, greeting));
  const bool all_here = arrive(state.receives, Clock::now() + patience);

  std::vector<int> here;
  for (std::size_t i = 0; i < others; ++i)
    if (state.receives[i] == MPI_REQUEST_NULL) here.push_back(static_cast<int>(i) + 1);
  for (std::size_t i = 0; i < here.size(); ++i) {
    state.receives.push_back(state.receive(state.replies[others + i], here[i], answer));
    state.send(state.version, here[i], question);
  }
  const bool one_version = std::ranges::all_of(
      here, [&](int rank) { return state.replies[static_cast<std::size_t>(rank) - 1] == state.version; });
  const bool all_wait = all_here && arrive(state.receives, Clock::now() + patience);
  state.says = all_wait && one_version;
  for (const int rank : here) state.send(state.says, rank, word);
  if (state.says != 0) return Outcome::all_here;
  return one_version ? Outcome::some_missing : Outcome::other_version;
}

Handshake::Outcome Handshake::follow(std::chrono::milliseconds patience) {
  State& state = *state_;
  state.replies.assign(2, 0);
  state.send(state.version, 0, greeting);
  state.receives = {state.receive(state.replies[0], 0, word)};
  std::vector<MPI_Request> questions{state.receive(state.replies[1], 0, question)};
  // The leader may wait as long for the slowest rank before it sends the question.
  if (!arrive(questions, Clock::now() + 2 * patience)) {
    state.receives.push_back(questions[0]);
    return Outcome::some_missing;
  }
  // A leader that names no version compares none: silence keeps it from saying yes.
  if (state.replies[1] != 0) state.send(state.says, 0, answer);
  PMPI_Wait(state.receives.data(), MPI_STATUS_IGNORE);
  if (state.replies[1] != state.version) return Outcome::other_version;
  return state.replies[0] != 0 ? Outcome::all_here : Outcome::some_missing;
}

}  // namespace taut::dropin
