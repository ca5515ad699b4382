// Collective calls whose values are in memory of simulated GPUs, compared with the same calls on the host.
#pragma once

#include <bit>
#include <memory>

#include "support/gpu_faults.h"
#include "support/on_gpu.hpp"
#include "support/ranks.hpp"

namespace taut::test {

// Ranks on loopback may wait for GPUs. Simulated GPUs go on when they are asked, a real GPU by itself.
inline const bool gpus_are_outside = [] {
  const bool real = stand_in_is_real() != 0;
  if (real) LoopbackHub::patience = std::chrono::seconds(5);
  LoopbackHub::outside = real ? nullptr : stand_in_calls;
  return true;
}();

// Copies of a job's inputs and outputs in memory of a GPU, for some of its ranks.
class OnGpus {
 public:
  // Bit r of `ranks`: the values of rank r are on a GPU, and begin `skipped` bytes behind an aligned address.
  OnGpus(Job& job, unsigned ranks, std::size_t skipped = 0, int device = 0) : job_(job) {
    for (std::size_t r = 0; r < job.inputs.size(); ++r) {
      const bool there = (ranks >> r & 1) != 0;
      for (Values* const values : {&job.inputs[r], &job.outputs[r]})
        copies_.push_back(there ? std::make_unique<OnGpu<std::byte>>(bytes_of(*values), skipped, device)
                                : nullptr);
    }
  }

  // Replaces the memory of a request by its copy.
  void place(int rank, CollectiveCall& request) const {
    request.data.in.data = moved(rank, request.data.in.data);
    request.data.out.data = const_cast<void*>(moved(rank, request.data.out.data));
  }

  // Copies the job's values to their memory on GPUs.
  void send() {
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const ConstSlice values = std::as_const(i % 2 == 0 ? job_.inputs : job_.outputs)[i / 2].slice();
      if (copies_[i] != nullptr) stand_in_copy(copies_[i]->data(), values.data, values.bytes());
    }
  }

  // Copies the outputs back to the job, and expects the inputs to be unchanged.
  void fetch() {
    for (std::size_t r = 0; r < job_.outputs.size(); ++r)
      if (const auto& copy = copies_[2 * r + 1]; copy != nullptr) {
        EXPECT_TRUE(copies_[2 * r]->peek(job_.inputs[r].slice().bytes()) == bytes_of(job_.inputs[r])) << r;
        const Slice out = job_.outputs[r].slice();
        stand_in_copy(out.data, copy->data(), out.bytes());
      }
  }

 private:
  static std::vector<std::byte> bytes_of(const Values& values) {
    const auto bytes = values.slice().as_bytes();
    return {bytes.begin(), bytes.end()};
  }
  // Returns the address in the copy of the buffer that holds the value at `at`. An address behind the last
  // value of a buffer may be the first address of another buffer: it counts only if no buffer has a value
  // there.
  const void* moved(int rank, const void* at) const {
    const auto r = static_cast<std::size_t>(rank);
    const void* found = at;
    for (const std::size_t side : {0, 1}) {
      const ConstSlice host = std::as_const(side == 0 ? job_.inputs[r] : job_.outputs[r]).slice();
      const std::ptrdiff_t offset = static_cast<const std::byte*>(at) - host.as_bytes().data();
      const auto& copy = copies_[2 * r + side];
      const auto bytes = static_cast<std::ptrdiff_t>(host.bytes());
      if (at == nullptr || copy == nullptr || offset < 0 || offset > bytes) continue;
      found = copy->data() + offset;
      if (offset < bytes) break;
    }
    return found;
  }

  Job& job_;
  std::vector<std::unique_ptr<OnGpu<std::byte>>> copies_;  // of input and output of each rank
};

// A call to be made twice, on the host and on GPUs.
struct Trial {
  Collective collective = Collective::allreduce;
  std::string policy = "abs:1e-3,codec=planes,predictor=delta";
  int P = 3;
  std::size_t count = 5003;
  DType type = DType::f32;
  Pattern pattern = Pattern::smooth;
  Reduction op = Reduction::sum;
  int root = 0;
  bool in_place = false;
  unsigned on_gpus = ~0u;  // bit r: rank r has its values on a GPU
  Nodes nodes = {};
  bool mean = false;
  bool frames_there = false;  // frames stay on the GPUs, whose memory the transport accesses

  Job job() const { return {collective, P, count, type, pattern, 7, op, root, in_place}; }
  std::string whole_policy() const { return policy + ",when=always,min_bytes=1"; }
  LoopbackHub::Options transport() const {
    return {.seed = 1, .random_order = true, .copy = frames_there ? stand_in_copy : nullptr};
  }
};

inline std::string text_of(const Trial& t) {
  return std::string(name_of(t.collective)) + " " + t.policy + " P " + std::to_string(t.P) + " count " +
         std::to_string(t.count) + " " + name_of(t.type) + " " + name_of(t.op) +
         (t.in_place ? " in place" : "") + " on GPUs " + std::to_string(t.on_gpus) +
         (t.frames_there ? " with their frames" : "");
}

// Communicators for a trial on GPUs.
class RanksOnGpus : public Ranks {
 public:
  explicit RanksOnGpus(const Trial& trial) : RanksOnGpus(trial, trial.transport()) {}
  RanksOnGpus(const Trial& trial, LoopbackHub::Options transport)
      : Ranks(trial.P, trial.whole_policy(), transport, trial.nodes) {
    for (const auto& comm : comms)
      if (trial.frames_there) comm->keep_frames_on_devices();
  }
};

// Makes the call with the values on GPUs. Returns the verdicts.
inline std::vector<Verdict> run_on_gpus(Ranks& ranks, const Trial& trial, Job& job, std::size_t skipped = 0) {
  OnGpus there(job, trial.on_gpus, skipped);
  const auto verdicts = ranks.run(trial.collective, job, [&](int rank, CollectiveCall& request) {
    request.mean = trial.mean;
    there.place(rank, request);
  });
  there.fetch();
  return verdicts;
}

// Expects that the call is compressed and gives the bits that it gives on the host.
inline void expect_same_bits(const Trial& trial) {
  SCOPED_TRACE(text_of(trial));
  Job here = trial.job(), there = trial.job();
  Ranks host(trial.P, trial.whole_policy(), {.seed = 1, .random_order = true}, trial.nodes);
  RanksOnGpus gpus(trial);
  const auto wanted =
      host.run(trial.collective, here, [&](int, CollectiveCall& request) { request.mean = trial.mean; });
  const unsigned long launches = stand_in_launches();
  const auto got = run_on_gpus(gpus, trial, there);
  const bool some = (trial.on_gpus & ((1u << trial.P) - 1)) != 0 && here.count() >= 100;
  EXPECT_TRUE(stand_in_launches() > launches || !some || stand_in_counts_launches() == 0);
  for (int r = 0; r < trial.P; ++r) {
    const auto i = static_cast<std::size_t>(r);
    EXPECT_EQ(wanted[i].fallback, here.bytes() == 0 ? Fallback::small : Fallback::none);
    EXPECT_EQ(wanted[i].status, Status::ok);
    EXPECT_EQ(got[i].fallback, wanted[i].fallback) << "rank " << r;
    EXPECT_EQ(got[i].status, Status::ok) << "rank " << r;
    EXPECT_TRUE(here.outputs[i] == there.outputs[i]) << "rank " << r;
  }
}

}  // namespace taut::test
