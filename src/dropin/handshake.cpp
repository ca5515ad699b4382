#include "dropin/handshake.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace taut::dropin {
namespace {

using Clock = std::chrono::steady_clock;

enum Tag : int { greeting = 32701, question, answer, word };  // below the least MPI_TAG_UB that MPI grants

// Whether all are complete in time. Those that are become MPI_REQUEST_NULL.
bool arrive(std::vector<MPI_Request>& requests, Clock::time_point until) {
  std::vector<int> which(requests.size());
  while (std::ranges::any_of(requests, [](MPI_Request request) { return request != MPI_REQUEST_NULL; })) {
    int some = 0;
    PMPI_Testsome(static_cast<int>(requests.size()), requests.data(), &some, which.data(), MPI_STATUSES_IGNORE);
    if (some > 0) continue;
    if (Clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

// What is under way. Buffers outlive a shake that has given up.
struct Handshake::Ties {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  std::vector<std::uint64_t> greetings, answers;  // of the leader, by rank - 1
  std::uint64_t mine = 0, asked = 0, told = 0;
  std::vector<MPI_Request> receives, sends;

  MPI_Request receive(std::uint64_t& into, int from, Tag tag) {
    MPI_Request request;
    PMPI_Irecv(&into, 1, MPI_UINT64_T, from, tag, comm, &request);
    return request;
  }
  void send(const std::uint64_t& what, int to, Tag tag) {
    PMPI_Isend(&what, 1, MPI_UINT64_T, to, tag, comm, &sends.emplace_back());
  }
};

Handshake::Handshake(MPI_Comm comm) : ties_(std::make_unique<Ties>()) {
  ties_->comm = comm;
  PMPI_Comm_rank(comm, &ties_->rank);
  PMPI_Comm_size(comm, &ties_->size);
}

Handshake::~Handshake() {
  for (MPI_Request& request : ties_->receives) {
    if (request == MPI_REQUEST_NULL) continue;
    PMPI_Cancel(&request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (MPI_Request& request : ties_->sends)
    if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);  // of eight bytes, and on its way
}

Handshake::Outcome Handshake::shake(std::uint64_t rules, std::chrono::milliseconds patience) {
  return ties_->rank == 0 ? lead(rules, patience) : follow(rules, patience);
}

Handshake::Outcome Handshake::lead(std::uint64_t rules, std::chrono::milliseconds patience) {
  const auto others = static_cast<std::size_t>(ties_->size - 1);
  Ties& ties = *ties_;
  ties.greetings.assign(others, 0);
  ties.answers.assign(others, 0);
  for (std::size_t i = 0; i < others; ++i)
    ties.receives.push_back(ties.receive(ties.greetings[i], static_cast<int>(i) + 1, greeting));
  const bool all_here = arrive(ties.receives, Clock::now() + patience);

  std::vector<int> here;
  for (std::size_t i = 0; i < others; ++i)
    if (ties.receives[i] == MPI_REQUEST_NULL) here.push_back(static_cast<int>(i) + 1);
  for (const int rank : here) {
    ties.receives.push_back(ties.receive(ties.answers[static_cast<std::size_t>(rank - 1)], rank, answer));
    ties.send(ties.asked, rank, question);
  }
  const bool all_wait = all_here && arrive(ties.receives, Clock::now() + patience);
  const bool alike = std::ranges::all_of(ties.greetings, [=](std::uint64_t theirs) { return theirs == rules; });
  const Outcome outcome = !all_wait ? Outcome::some : alike ? Outcome::all : Outcome::differ;

  ties.mine = static_cast<std::uint64_t>(outcome);
  for (const int rank : here) ties.send(ties.mine, rank, word);
  return outcome;
}

Handshake::Outcome Handshake::follow(std::uint64_t rules, std::chrono::milliseconds patience) {
  Ties& ties = *ties_;
  ties.mine = rules;
  ties.send(ties.mine, 0, greeting);
  ties.receives = {ties.receive(ties.told, 0, word)};
  std::vector<MPI_Request> questions{ties.receive(ties.asked, 0, question)};
  // The leader may wait as long for the slowest of all before it asks.
  if (!arrive(questions, Clock::now() + 2 * patience)) {
    ties.receives.push_back(questions[0]);
    return Outcome::some;
  }
  ties.send(ties.mine, 0, answer);
  PMPI_Wait(ties.receives.data(), MPI_STATUS_IGNORE);
  return static_cast<Outcome>(ties.told);
}

}  // namespace taut::dropin
