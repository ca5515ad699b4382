// Ranks of a simulated NCCL communicator, each driven by a thread of its own.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "gpu/nccl/rank.hpp"

namespace taut::test {

// Returns true if the rank is one of this process: each one is.
inline bool is_here(int) { return true; }

class NcclThreads {
 public:
  // The ranks have GPU `device`; -1: the GPUs in turn.
  explicit NcclThreads(int P, int device = 0) : ranks_(static_cast<std::size_t>(P)) {
    std::vector<ncclComm_t> comms(ranks_.size());
    std::vector<int> devices;
    for (int r = 0; r < P; ++r) devices.push_back(device >= 0 ? device : r % stand_in_devices);
    EXPECT_EQ(ncclCommInitAll(comms.data(), P, devices.data()), ncclSuccess);
    for (int r = 0; r < P; ++r) {
      NcclRank& rank = ranks_[static_cast<std::size_t>(r)];
      rank = {r, comms[static_cast<std::size_t>(r)]};
      EXPECT_EQ(cudaSetDevice(devices[static_cast<std::size_t>(r)]), cudaSuccess);
      EXPECT_EQ(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking), cudaSuccess);
    }
    cudaSetDevice(0);
  }
  NcclThreads(const NcclThreads&) = delete;
  ~NcclThreads() {
    stand_in_finish();
    for (const NcclRank& rank : ranks_) {
      cudaStreamDestroy(rank.stream);
      if (rank.comm != nullptr) ncclCommDestroy(rank.comm);
    }
  }

  // Runs action(rank) on all ranks. An OnGpu must not be freed between calls: it waits for the work of all
  // ranks, which may wait for this one.
  void run(const std::function<void(NcclRank&)>& action) {
    std::vector<std::thread> threads;
    for (NcclRank& rank : ranks_)
      threads.emplace_back([&] {
        int device = 0;
        ncclCommCuDevice(rank.comm, &device);
        cudaSetDevice(device);
        action(rank);
      });
    for (std::thread& thread : threads) thread.join();
  }

  NcclRank& operator[](int r) { return ranks_[static_cast<std::size_t>(r)]; }
  int size() const { return static_cast<int>(ranks_.size()); }

 private:
  std::vector<NcclRank> ranks_;
};

}  // namespace taut::test
