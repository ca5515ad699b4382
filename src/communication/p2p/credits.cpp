#include "communication/p2p/credits.hpp"

#include <array>
#include <new>
#include <span>

#include "communication/comm/agree.hpp"
#include "communication/mpi/errors.hpp"
#include "communication/p2p/bypass.hpp"
#include "communication/p2p/endpoint.hpp"
#include "communication/p2p/receive.hpp"
#include "communication/team/task.hpp"

namespace taut::p2p {
namespace {

// Limits of memory. Messages with further keys are not coded.
constexpr std::size_t most_keys = 65536;      // of a communicator, in each direction
constexpr std::size_t most_underway = 16384;  // credits that were sent and not received

constexpr std::uint64_t key_of(int rank, int tag) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(rank)} << 32 | static_cast<std::uint32_t>(tag);
}

}  // namespace

Credits::Credits(std::shared_ptr<SegmentComm> private_comm) : private_comm_(std::move(private_comm)) {
  check(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval_, this), "MPI_Comm_create_keyval");
  name(MPI_COMM_WORLD, 0);
}

// MPI's callback for a communicator that is freed.
int Credits::forget(MPI_Comm comm, int, void*, void* credits) noexcept {
  auto& here = *static_cast<Credits*>(credits);
  const std::lock_guard lock(here.mutex_);
  if (const auto found = here.comms_.find(comm); found != here.comms_.end()) {
    here.by_name_.erase(found->second.name);
    here.comms_.erase(found);
  }
  return MPI_SUCCESS;
}

void Credits::name(MPI_Comm comm, std::uint64_t name) {
  NamedComm made{.name = name};
  PMPI_Comm_rank(comm, &made.rank);
  check(PMPI_Comm_set_attr(comm, keyval_, nullptr), "MPI_Comm_set_attr");
  const std::lock_guard lock(mutex_);
  by_name_[name] = &(comms_[comm] = std::move(made));
}

void Credits::name_made(MPI_Comm parent, MPI_Comm made) noexcept {
  const BypassScope scope;
  std::array<std::uint64_t, 2> path;
  {
    const std::lock_guard lock(mutex_);
    const auto found = comms_.find(parent);
    if (found == comms_.end()) return;
    path = {found->second.name, ++found->second.children};
  }
  try {
    if (made != MPI_COMM_NULL) name(made, hash(std::as_bytes(std::span(path))));
  } catch (...) {  // messages on it are then not coded
  }
}

bool Credits::knows(MPI_Comm comm, std::uint64_t key, Keys NamedComm::*keys) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = comms_.find(comm);
  return found != comms_.end() && (found->second.*keys).contains(key);
}

// Fills in the credit for a key. Returns true if it has to be sent.
bool Credits::note_grant(MPI_Comm comm, std::uint64_t key, Credit& credit) {
  const std::lock_guard lock(mutex_);
  const auto found = comms_.find(comm);
  if (finished_ || found == comms_.end()) return false;
  NamedComm& named = found->second;
  if (named.granted.size() >= most_keys || sent_.size() >= most_underway) return false;
  credit.comm = named.name;
  credit.rank = named.rank;
  return named.granted.insert(key).second;
}

// Sends a credit synchronously: its send is complete once it is received.
void Credits::grant(MPI_Comm comm, int source, int tag) noexcept {
  const BypassScope scope;
  const std::uint64_t key = key_of(source, tag);
  if (knows(comm, key, &NamedComm::granted)) return;
  try {
    all_received();
    std::list<SentCredit> one(1);
    one.front().credit.tag = tag;
    if (!note_grant(comm, key, one.front().credit)) return;
    const int dest = private_comm_->rank_of(comm, source);
    if (dest < 0 || PMPI_Issend(&one.front().credit, sizeof(Credit), MPI_BYTE, dest, credit_tag,
                                private_comm_->handle(), &one.front().request) != MPI_SUCCESS)
      return;
    const std::lock_guard lock(mutex_);
    sent_.splice(sent_.end(), one);
  } catch (const std::bad_alloc&) {  // the messages are then not coded
  }
}

bool Credits::has(MPI_Comm comm, int dest, int tag) noexcept {
  const std::uint64_t key = key_of(dest, tag);
  if (knows(comm, key, &NamedComm::held)) return true;
  receive();
  return knows(comm, key, &NamedComm::held);
}

// Takes the credits that have arrived.
void Credits::receive() noexcept {
  const BypassScope scope;
  for (;;) {
    int there = 0;
    MPI_Message message;
    Credit credit;
    if (PMPI_Improbe(MPI_ANY_SOURCE, credit_tag, private_comm_->handle(), &there, &message,
                     MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        there == 0 ||
        PMPI_Mrecv(&credit, sizeof credit, MPI_BYTE, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return;
    const std::lock_guard lock(mutex_);
    const auto found = by_name_.find(credit.comm);
    if (found == by_name_.end() || found->second->held.size() >= most_keys) continue;
    try {
      found->second->held.insert(key_of(credit.rank, credit.tag));
    } catch (const std::bad_alloc&) {  // the messages are then not coded
    }
  }
}

// Returns true if every credit that was sent has been received.
bool Credits::all_received() noexcept {
  std::list<SentCredit> sent;
  {
    const std::lock_guard lock(mutex_);
    sent.swap(sent_);
  }
  sent.remove_if([](SentCredit& one) {
    int done = 0;
    PMPI_Test(&one.request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
  const std::lock_guard lock(mutex_);
  sent_.splice(sent_.end(), sent);
  return sent_.empty();
}

// Enters a barrier once all credits of this rank are received: after it no rank has any to receive.
void Credits::finish() noexcept {
  const BypassScope scope;
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  MPI_Request barrier = MPI_REQUEST_NULL;
  int all_here = 0;
  for (Backoff backoff; all_here == 0; backoff.pause()) {
    receive();
    advance_receives();
    if (barrier == MPI_REQUEST_NULL && all_received()) PMPI_Ibarrier(private_comm_->handle(), &barrier);
    if (barrier != MPI_REQUEST_NULL) PMPI_Test(&barrier, &all_here, MPI_STATUS_IGNORE);
  }
}

}  // namespace taut::p2p
