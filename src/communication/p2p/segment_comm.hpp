// Private communicator of the segments of long messages behind the first (docs/adr/0022), and of credits.
#pragma once

#include <mpi.h>

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "communication/comm/message_coder.hpp"

namespace taut::p2p {

// Tag of credits on the private communicator (communication/p2p/credits.hpp). Every MPI allows it.
inline constexpr int credit_tag = 32767;

class SegmentComm {
 public:
  // Makes the communicator. Collective over `parent`; throws Error.
  static std::shared_ptr<SegmentComm> make(MPI_Comm parent);
  ~SegmentComm();
  SegmentComm(const SegmentComm&) = delete;
  SegmentComm& operator=(const SegmentComm&) = delete;

  MPI_Comm handle() const noexcept { return comm_; }
  int size() const noexcept { return size_; }

  // Returns the rank here of a rank of `comm`; MPI_UNDEFINED if it has none.
  int rank_of(MPI_Comm comm, int rank) const;

  // Returns how a message with `bytes` of values is divided: into one segment if it is short, or if `dest`
  // has left earlier segments waiting. `dest`: rank here.
  FollowingSegments divide(std::size_t bytes, int dest) noexcept;

  // Records if `dest` has received the segments of a message while its sender waited.
  void note(int dest, std::size_t bytes, bool received) noexcept;

  // Frees the communicator, in MPI_Finalize.
  void free() noexcept;

 private:
  explicit SegmentComm(MPI_Comm parent);

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Group group_ = MPI_GROUP_NULL;
  int rank_ = 0, size_ = 0;
  std::mutex mutex_;
  std::uint32_t messages_ = 0;
  std::unordered_map<int, RetryBackoff> backoffs_;  // by destination
};

// Returns all such communicators of this process.
std::vector<SegmentComm*>& segment_comms() noexcept;

}  // namespace taut::p2p
