// Messages that probes have taken out of MPI's queues, to see what is in them, and which receives get first
// (docs/adr/0015).
#pragma once

#include <mpi.h>

#include <mutex>
#include <optional>

#include "dropin/arriving.hpp"

namespace taut::dropin {

// What a receive or a probe names; wildcards too.
struct Wanted {
  int source;
  int tag;
  MPI_Comm comm;
};

// A receive that is started. `apart`: its message does not come to the program's buffer.
struct Posted {
  MPI_Request request = MPI_REQUEST_NULL;
  Apart apart;
};

// With messages, in MPI_Init and before MPI_Finalize.
void begin_holding() noexcept;
void end_holding() noexcept;

// Whether receives have to ask for held messages: there are some, or another thread may take one.
bool may_be_held() noexcept;

// While one lives, no other thread takes messages out of MPI's queues.
class Holding {
 public:
  Holding();

  // Starts to receive a message that is held, if one matches. Else false.
  bool receive(const Wanted& wanted, const Expected& expected, Posted& posted, int& code) noexcept;

  // Whether a message is there that matches, and if so its status as the program is to see it. An MPI code.
  int probe(const Wanted& wanted, int* there, MPI_Status& status) noexcept;

  // The same, and takes it.
  int take(const Wanted& wanted, int* there, MPI_Message* message, MPI_Status& status) noexcept;

 private:
  std::lock_guard<std::mutex> lock_;
};

// What stands behind a handle that `take` has given, if it is not MPI's own message: a receive of it, to be
// waited for. Nothing: it is MPI's.
struct Taken {
  Posted posted;
  MPI_Comm comm;
  MPI_Request sent;  // what makes the handle
};
std::optional<Taken> receive_taken(MPI_Message* message) noexcept;

// Starts a receive: of a message that is held, or as `start(&posted.request)` does. An MPI code.
template <class Start>
int post(const Wanted& wanted, const Expected& expected, Posted& posted, Start start) noexcept {
  if (!may_be_held()) return start(&posted.request);
  Holding holding;
  int code = MPI_SUCCESS;
  return holding.receive(wanted, expected, posted, code) ? code : start(&posted.request);
}
int post(const Wanted& wanted, const Expected& expected, Posted& posted) noexcept;  // as MPI_Irecv does

}  // namespace taut::dropin
