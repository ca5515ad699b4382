// Ranks with values in memory of simulated GPUs (tests/gpu/kernels/on_host).
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <vector>

#include "robustness/random/scenario.hpp"

namespace taut::test {

class Gpus final : public Machine {
 public:
  Gpus();

  // Draw what kernels serve, for the most part, few ranks and few values: simulated kernels take their time,
  // for the smallest frame as long as for a chunk.
  int draw_ranks(Draw& draw) const override;  // 1 to 7
  int draw_ranks_with_faults(Draw& draw) const override { return 2 + draw.pick(draw.one_in(4) ? 6 : 2); }
  int draw_calls(Draw& draw) const override { return draw.one_in(4) ? 1 + draw.pick(4) : 1; }
  std::string draw_policy(Draw& draw, double scale) const override;
  Call draw_call(Draw& draw, int P, const std::vector<int>& node_of, double scale) const override;
  int faults() const override { return faults_of_gpus; }
  bool repeats_on_host(Draw& draw, const std::string& policy) const override;

  // The description has a letter for each rank: its memory is on the host (h), on GPUs (g), or only its
  // inputs (i) or outputs (o) are.
  std::string enter(Draw& draw, int P) override;
  void join(Communicator& comm, int rank) override;
  void move(Memory& memory, int rank, CollectiveCall& request) override;
  void fetch(Memory& memory) override;

  void expect(const Scenario& scenario) override;
  void arm(const Scenario& scenario) override;
  bool disarm() override;

  // Reports memory, streams and events that are still there.
  std::string leave() override;

 private:
  // A rank's inputs and outputs are on the host, or on a GPU each.
  struct Rank {
    bool on_gpu[2];
    int device[2];
    cudaStream_t stream;  // of the communicator, on device[0]
    cudaStream_t writer;  // that the values come from
    bool keeps_frames;    // on its GPU
  };
  // A copy of memory of the host. Its values may still be on their way, until the event `written`.
  struct Copy {
    Bytes host;
    std::byte *memory, *at;
    cudaEvent_t written;
  };

  cudaStream_t new_stream(int device, unsigned flags);
  Copy copy_to(int device, Bytes host, cudaStream_t writer);

  Draw draw_{0, 0};
  bool writes_at_once_ = false;
  unsigned long failing_call_ = 0;  // 0: none
  std::vector<Rank> ranks_;
  std::vector<cudaStream_t> streams_;
  std::map<const Memory*, std::vector<Copy>> copies_;
};

}  // namespace taut::test
