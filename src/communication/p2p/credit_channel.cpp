#include "communication/p2p/credit_channel.hpp"

#include <new>

#include "communication/p2p/bypass.hpp"

namespace taut::p2p {
namespace {

constexpr std::size_t most_underway = 16384;  // credits that were sent and not received

}  // namespace

bool CreditChannel::open() noexcept {
  all_received();
  const std::lock_guard lock(mutex_);
  return !closed_ && sent_.size() < most_underway;
}

bool CreditChannel::send(int dest, const Credit& credit) noexcept {
  const BypassScope scope;
  if (!open()) return false;
  try {
    std::list<SentCredit> one(1);
    one.front().credit = credit;
    if (PMPI_Issend(&one.front().credit, sizeof(Credit), MPI_BYTE, dest, credit_tag, comm_,
                    &one.front().request) != MPI_SUCCESS)
      return false;
    const std::lock_guard lock(mutex_);
    sent_.splice(sent_.end(), one);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void CreditChannel::receive() noexcept {
  const BypassScope scope;
  for (;;) {
    int there = 0;
    MPI_Message message;
    Credit credit;
    if (PMPI_Improbe(MPI_ANY_SOURCE, credit_tag, comm_, &there, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
        there == 0 ||
        PMPI_Mrecv(&credit, sizeof credit, MPI_BYTE, &message, MPI_STATUS_IGNORE) != MPI_SUCCESS)
      return;
    const Handler& handler = credit.rank == Credit::of_state ? handle_state_ : handle_key_;
    if (handler) handler(credit);
  }
}

void CreditChannel::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

// Returns true if every credit that was sent has been received.
bool CreditChannel::all_received() noexcept {
  const BypassScope scope;
  std::list<SentCredit> sent;
  {
    const std::lock_guard lock(mutex_);
    sent.swap(sent_);
  }
  sent.remove_if([](SentCredit& one) {
    int done = 0;
    return PMPI_Test(&one.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
  });
  const std::lock_guard lock(mutex_);
  sent_.splice(sent_.end(), sent);
  return sent_.empty();
}

bool CreditChannel::ended() noexcept {
  const BypassScope scope;
  if (ended_) return true;
  receive();
  int code = MPI_SUCCESS, all_here = 0;
  if (barrier_ == MPI_REQUEST_NULL && all_received()) code = PMPI_Ibarrier(comm_, &barrier_);
  if (barrier_ != MPI_REQUEST_NULL) code = PMPI_Test(&barrier_, &all_here, MPI_STATUS_IGNORE);
  ended_ = code != MPI_SUCCESS || all_here != 0;  // after an error nobody is waited for
  return ended_;
}

}  // namespace taut::p2p
