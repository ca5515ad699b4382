// Messages that have come where a program expects them, and may be coded (docs/adr/0014).
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <vector>

#include "dropin/coded_message.hpp"

namespace taut::dropin {

struct Expected {
  void* buf;
  MPI_Count count;
  MPI_Datatype type;
  MPI_Comm comm;
};

// Whether a coded message can come there.
bool may_be_coded(const Expected& expected) noexcept;

// After its arrival without an error, `status` is MPI's: puts values in the place of frames, and their number
// into the status. An MPI code, raised on the communicator.
int settle(const Expected& expected, MPI_Status& status) noexcept;

// ---- Requests

// Sees to a receive whose request MPI has made, a persistent one too; keeps what a send needs until its end.
void expect(MPI_Request request, const Expected& expected, bool persistent) noexcept;
void keep_until_sent(MPI_Request request, CodedMessage message) noexcept;

// A request that the program frees.
void forget(MPI_Request request) noexcept;

struct Watched;

// Around a call that completes requests, which it may overwrite. Until it goes they are in its hands: as soon
// as MPI has completed one, another thread may get a request of the same name.
class Completion {
 public:
  explicit Completion(std::span<const MPI_Request> requests) noexcept;
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  // Whether any of them is seen to. Else the rest is not to be called.
  bool matters() const noexcept { return !mine_.empty(); }

  // After request i has completed without an error. An MPI code.
  int settle(std::size_t i, MPI_Status& status) noexcept;

  // After it has failed.
  void forget(std::size_t i) noexcept;

  // Without completing it: for MPI_Request_get_status.
  int look(std::size_t i, MPI_Status& status) noexcept;

 private:
  struct One {
    MPI_Request request;
    std::unique_ptr<Watched> watched;
  };
  std::span<const MPI_Request> requests_;  // the program's
  std::vector<One> mine_;
};

}  // namespace taut::dropin
