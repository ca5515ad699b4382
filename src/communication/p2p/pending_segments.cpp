#include "communication/p2p/pending_segments.hpp"

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>

#include "communication/p2p/bypass.hpp"
#include "communication/p2p/open_receive.hpp"
#include "communication/p2p/segment_comm.hpp"
#include "communication/team/task.hpp"

namespace taut::p2p {
namespace {

// Time for which segments may wait once every rank is in MPI_Finalize. Their receives are posted by then, if
// they ever were.
constexpr std::uint64_t last_patience = 1'000'000'000;

struct Pending {
  EncodedMessage made;
  std::vector<MPI_Request> sends;

  bool sent() noexcept {
    int done = 0;
    PMPI_Testall(static_cast<int>(sends.size()), sends.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  }
};

struct PendingSegments {
  std::mutex mutex;
  std::list<Pending> pending;
  std::vector<SegmentComm*> comms;
};

PendingSegments& pending_segments() {
  static auto* const one = new PendingSegments;
  return *one;
}

std::atomic<std::size_t> bytes_kept{0};

// Frees the messages that are sent. Returns true if none is left.
bool clear_sent() noexcept {
  const BypassScope scope;
  PendingSegments& here = pending_segments();
  const std::lock_guard lock(here.mutex);
  here.pending.remove_if([](Pending& one) { return one.sent(); });
  std::size_t bytes = 0;
  for (const Pending& one : here.pending) bytes += one.made.buffer.capacity();
  bytes_kept = bytes;
  return here.pending.empty();
}

// Leaves segments to MPI that no rank receives. MPI may still read their memory.
void give_up() noexcept {
  for (Pending& one : pending_segments().pending) {
    for (MPI_Request& send : one.sends)
      if (send != MPI_REQUEST_NULL) PMPI_Request_free(&send);
    new Buffer(std::move(one.made.buffer));
  }
  pending_segments().pending.clear();
  bytes_kept = 0;
}

}  // namespace

void register_segments(SegmentComm& comm) {
  const std::lock_guard lock(pending_segments().mutex);
  pending_segments().comms.push_back(&comm);
}

void unregister_segments(SegmentComm& comm) noexcept {
  const std::lock_guard lock(pending_segments().mutex);
  std::erase(pending_segments().comms, &comm);
}

void keep_pending(EncodedMessage made, std::vector<MPI_Request> sends) noexcept {
  bytes_kept += made.buffer.capacity();
  {
    const std::lock_guard lock(pending_segments().mutex);
    pending_segments().pending.push_back({std::move(made), std::move(sends)});
  }
  clear_sent();
}

std::size_t pending_bytes() noexcept {
  if (bytes_kept != 0) clear_sent();
  return bytes_kept;
}

void finish_segments() noexcept {
  const BypassScope scope;
  PendingSegments& here = pending_segments();
  std::vector<MPI_Request> barriers;
  for (const SegmentComm* const comm : here.comms)
    if (comm->handle() != MPI_COMM_NULL)
      PMPI_Ibarrier(comm->handle(), &barriers.emplace_back(MPI_REQUEST_NULL));
  int all_here = 0;
  std::uint64_t since = clock_now();
  for (Backoff backoff; !clear_sent() || all_here == 0; backoff.pause()) {
    advance_receives();
    if (all_here != 0 && clock_now() - since > last_patience) break;
    if (all_here != 0) continue;
    PMPI_Testall(static_cast<int>(barriers.size()), barriers.data(), &all_here, MPI_STATUSES_IGNORE);
    since = clock_now();
  }
  give_up();
  for (SegmentComm* const comm : here.comms) comm->free();
}

}  // namespace taut::p2p
