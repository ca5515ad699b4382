// Whether all ranks of a communicator run with Taut: some of a job may have been started without it, and know
// nothing of these messages.
#pragma once

#include <mpi.h>

#include <chrono>
#include <memory>

namespace taut::dropin {

// The lowest rank collects a greeting from each other one, asks all whether they still wait, and when all
// have said so, tells them (a two-phase commit). Who has said that it waits does so until it is told; who has
// given up before stays silent, so that nobody is told yes. Of a job with all ranks this costs four messages
// a rank; of others, twice the patience, once.
//
// Messages are on the communicator itself: so it is to be called where none of the program's are under way,
// right after MPI_Init. Where the lowest rank runs without Taut, greetings reach it that it never receives.
class Handshake {
 public:
  explicit Handshake(MPI_Comm comm);
  ~Handshake();  // before MPI_Finalize: takes back what waits for messages that never came
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;

  bool all_have_taut(std::chrono::milliseconds patience);

 private:
  struct Ties;
  bool lead(std::chrono::milliseconds patience);
  bool follow(std::chrono::milliseconds patience);

  std::unique_ptr<Ties> ties_;
};

}  // namespace taut::dropin
