// Handshake that finds out if all ranks of a communicator run with the same version of Taut. Ranks that were
// started without Taut do not answer its messages.
#pragma once

#include <mpi.h>

#include <chrono>
#include <memory>

namespace taut::dropin {

// Two-phase commit led by the lowest rank. The leader collects a greeting from each other rank, asks all of
// them if they still wait, and tells them the result: yes only if all have answered. A rank that has answered
// waits until it is told the result; a rank that has given up before stays silent, so that no rank is told
// yes. Greetings and questions carry the version: the leader says no if a rank has another one. The handshake
// costs four messages a rank if all ranks run with Taut; otherwise it costs twice the patience, once.
//
// The messages travel on the communicator itself. The handshake must therefore run while none of the
// program's messages are in flight, right after MPI_Init. If the lowest rank runs without Taut, greetings
// reach it that it never receives.
class Handshake {
 public:
  enum class Outcome { all_here, some_missing, other_version };

  // `version`: identifies the version of Taut, not 0.
  Handshake(MPI_Comm comm, int version);
  ~Handshake();  // cancels the receives of messages that never came; MPI must not be finalised yet
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;

  // Returns the outcome. If all ranks are here, no message of the handshake is left in flight.
  Outcome find_out(std::chrono::milliseconds patience);

 private:
  struct State;
  Outcome lead(std::chrono::milliseconds patience);
  Outcome follow(std::chrono::milliseconds patience);

  std::unique_ptr<State> state_;
};

}  // namespace taut::dropin
