// Ranks of a real NCCL communicator, in place of threads: each is a process of its own, and all share a GPU.
//   NCCL_TEST_RANK, NCCL_TEST_RANKS    number of this process, and of all
//   NCCL_TEST_FOLDER                   an empty folder that they share
// All processes run the same tests in the same order.
#pragma once

#include <functional>
#include <vector>

#include "gpu/nccl/rank.hpp"

namespace taut::test {

// Returns true if this process is the rank.
bool is_here(int rank);
int processes();

// The first P processes. Those of the same number share one communicator, which lives as long as the process.
class NcclThreads {
 public:
  explicit NcclThreads(int P, int device = 0);

  // Runs action(rank) if this process is one of the ranks.
  void run(const std::function<void(NcclRank&)>& action) {
    if (own_.comm != nullptr) action(own_);
  }
  NcclRank& operator[](int) { return own_; }
  int size() const { return own_.comm != nullptr ? 1 : 0; }

 private:
  NcclRank own_;
};

}  // namespace taut::test
