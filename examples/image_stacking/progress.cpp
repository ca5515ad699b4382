#include "progress.hpp"

#include <cstdio>
#include <numeric>

namespace stacking {
namespace {
constexpr int tag = 1;
}

Progress::Progress(MPI_Comm comm, int shots_of_all, bool show)
    : comm_(comm), shots_(shots_of_all), active_(show) {
  int ranks = 1;
  MPI_Comm_rank(comm, &me_);
  MPI_Comm_size(comm, &ranks);
  done_.assign(static_cast<std::size_t>(ranks), 0);
}

Progress::~Progress() {
  if (!active_ || me_ != 0) return;
  while (std::accumulate(done_.begin(), done_.end(), 0) < shots_) hear(true);
  std::fprintf(stderr, "\n");
}

void Progress::shot_done() {
  if (!active_) return;
  ++done_[static_cast<std::size_t>(me_)];
  if (me_ == 0) {
    hear(false);
    show();
  } else {
    sent_ = done_[static_cast<std::size_t>(me_)];
    MPI_Send(&sent_, 1, MPI_INT, 0, tag, comm_);  // a few bytes: sent eagerly
  }
}

// Receives the messages that have arrived, or waits for one.
void Progress::hear(bool wait) {
  for (;;) {
    MPI_Status status;
    int there = 1;
    if (wait) MPI_Probe(MPI_ANY_SOURCE, tag, comm_, &status);
    if (!wait) MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &there, &status);
    if (!there) return;
    MPI_Recv(&done_[static_cast<std::size_t>(status.MPI_SOURCE)], 1, MPI_INT, status.MPI_SOURCE, tag, comm_,
             MPI_STATUS_IGNORE);
    if (wait) return show();
  }
}

void Progress::show() const {
  std::fprintf(stderr, "\rmigrated %d of %d shots; by rank:", std::accumulate(done_.begin(), done_.end(), 0),
               shots_);
  for (const int shots : done_) std::fprintf(stderr, " %d", shots);
  std::fflush(stderr);
}

}  // namespace stacking
