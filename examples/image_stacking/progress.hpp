// Shots done by each rank, shown by rank 0 on one line of the terminal.
#pragma once

#include <mpi.h>

#include <vector>

namespace stacking {

class Progress {
 public:
  Progress(MPI_Comm comm, int shots_of_all, bool show);
  ~Progress();  // rank 0 waits for the last shots of the other ranks
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void shot_done();

 private:
  void hear(bool wait);
  void show() const;

  MPI_Comm comm_;
  int me_ = 0, shots_;
  bool active_;
  int sent_ = 0;           // shots done according to the last message
  std::vector<int> done_;  // shots done by each rank, as far as rank 0 has heard
};

// Returns true if shot `shot` belongs to this rank.
inline bool mine(int shot, int rank, int ranks) { return shot % ranks == rank; }

}  // namespace stacking
