// Ranks that share too few cores: how long they are kept from running, and waits that let others run.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <thread>

namespace comparison {

// Returns the seconds for which this thread has been ready to run without a core; 0 where Linux does not say.
inline double seconds_without_core() {
  std::FILE* const file = std::fopen("/proc/thread-self/schedstat", "r");
  if (file == nullptr) return 0;
  unsigned long long running = 0, ready = 0;
  const bool known = std::fscanf(file, "%llu %llu", &running, &ready) == 2;
  std::fclose(file);
  return known ? static_cast<double>(ready) * 1e-9 : 0;
}

// Polls until done() is true. Gives up the core between polls, as Taut's own waits do. MPICH's waits keep it
// until the scheduler takes it away: with more ranks than cores, a rank whose message has arrived then waits
// for a tick of the clock, whatever the link does.
template <class Done>
void wait_until(Done done) {
  constexpr int spins = 64;
  for (int polls = 0; !done(); ++polls)
    if (polls > spins) std::this_thread::yield();
}

inline void wait_all(int n, MPI_Request* requests) {
  wait_until([&] {
    int done = 0;
    MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
    return done != 0;
  });
}

inline void barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &request);
  wait_all(1, &request);
}

}  // namespace comparison
