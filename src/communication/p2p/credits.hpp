// Credits: permissions to send coded messages. A receiver grants its peer credit for a key (communicator,
// source and tag) once one of Taut's receives has matched a message with that key. Without credit messages
// are sent uncoded: a receive that bypasses Taut would take the bytes of a frame for values (docs/adr/0086).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "communication/p2p/credit_channel.hpp"

namespace taut::p2p {

class SegmentComm;

class Credits {
 public:
  // `private_comm`: the communicator on which credits are sent. Gives MPI_COMM_WORLD its name. Throws Error.
  explicit Credits(std::shared_ptr<SegmentComm> private_comm);
  Credits(const Credits&) = delete;  // MPI's callbacks use the object until MPI_Finalize

  // Gives the communicator `made`, which all ranks of `parent` have just created from it, a name: a hash of
  // the parent's name and the number of communicators created from the parent, and thus the same on all ranks
  // without communication. `made`: MPI_COMM_NULL on a rank outside it. A communicator whose parent has no
  // name gets no name and no credit.
  void assign_child_name(MPI_Comm parent, MPI_Comm made) noexcept;

  // Gives the sender of a received message credit for the key of the message, unless it has some already.
  void grant(MPI_Comm comm, int source, int tag) noexcept;

  // Returns true if this rank has credit to send coded messages to `dest`. Never waits.
  bool has(MPI_Comm comm, int dest, int tag) noexcept;

  // Ends the grants of this rank. finish_credits() follows.
  void stop() noexcept;

 private:
  using Keys = std::unordered_set<std::uint64_t>;  // rank and tag as one number

  // A communicator with a name: its creations, and the keys that this rank has granted and holds.
  struct NamedComm {
    std::uint64_t name = 0, children = 0;
    int rank = 0;
    Keys granted{}, held{};
  };

  static int on_comm_freed(MPI_Comm comm, int keyval, void* value, void* credits) noexcept;
  void assign_name(MPI_Comm comm, std::uint64_t name);
  bool contains(MPI_Comm comm, std::uint64_t key, Keys NamedComm::*keys) noexcept;
  bool add_granted(MPI_Comm comm, std::uint64_t key, Credit& credit);
  void add_held(const Credit& credit) noexcept;

  const std::shared_ptr<SegmentComm> private_comm_;
  int keyval_ = MPI_KEYVAL_INVALID;  // attribute whose delete callback is on_comm_freed()
  std::mutex mutex_;                 // of the members below; not held during calls of MPI
  std::unordered_map<MPI_Comm, NamedComm> comms_;
  std::unordered_map<std::uint64_t, NamedComm*> by_name_;
  bool finished_ = false;
};

}  // namespace taut::p2p
