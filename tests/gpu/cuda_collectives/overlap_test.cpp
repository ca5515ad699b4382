// Tests that codec operations on GPUs overlap, and that their second stream keeps the order of the user's.
#include <cstring>
#include <string>

#include "compressor/gpu/device_services.hpp"
#include "gpu/cuda_collectives/device_job.hpp"

namespace taut::test {
namespace overlap_test {

constexpr int segments = 4;
constexpr unsigned long kernels_to_encode = 1;
const std::string policy = "abs:1e-3,codec=planes,predictor=delta,segments=4";

// All segments are being encoded when the first one is sent.
TEST(OverlapOnGpus, ASegmentIsSentWhileOthersAreEncoded) {
  const Trial trial{.collective = Collective::bcast, .policy = policy + ",algorithm=chain", .P = 2};
  Job job = trial.job();
  Ranks ranks(trial.P, trial.whole_policy());
  const unsigned long before = stand_in_launches();
  unsigned long at_first_frame = 0;
  ranks.hub.set_damage([&](const LoopbackHub::Record& message, std::vector<std::byte>&) {
    const bool is_frame = message.from == 0 && message.lane % 128 < segments;
    if (is_frame && at_first_frame == 0) at_first_frame = stand_in_launches() - before;
  });
  for (const Verdict& verdict : run_on_gpus(ranks, trial, job)) EXPECT_EQ(verdict.status, Status::ok);
  EXPECT_EQ(at_first_frame, segments * kernels_to_encode);
}

// Pinned host memory with a copy of values.
class Pinned {
 public:
  explicit Pinned(const Values& values) : bytes_(values.slice().bytes()) {
    EXPECT_EQ(gpu::device_services("a test").allocate(&memory_, bytes_, gpu::MemoryKind::pinned), 0);
    std::memcpy(memory_, values.slice().data, bytes_);
  }
  Pinned(const Pinned&) = delete;
  ~Pinned() { gpu::device_services("a test").free(memory_, gpu::MemoryKind::pinned); }

  void enqueue_copy(const void* to) const {
    EXPECT_EQ(gpu::device_services("a test").copy_on(const_cast<void*>(to), memory_, bytes_, nullptr), 0);
  }

 private:
  std::size_t bytes_;
  void* memory_ = nullptr;
};

TEST(OverlapOnGpus, BothStreamsSeeWhatWasEnqueuedBefore) {
  for (const char* const arithmetic : {",reduction=frames", ",reduction=values"}) {
    const Trial trial{.policy = policy + arithmetic, .P = 3};
    Job host = trial.job(), late = trial.job();
    Ranks on_host(trial.P, trial.whole_policy());
    on_host.run(trial.collective, host);
    std::vector<std::unique_ptr<Pinned>> inputs;
    for (Values& input : late.inputs) {
      inputs.push_back(std::make_unique<Pinned>(input));
      input = Values(DType::f32, trial.count);  // the GPU has zeros until the copy has run
    }
    OnGpus there(late, trial.on_gpus);
    Ranks ranks(trial.P, trial.whole_policy());
    const auto verdicts = ranks.run(trial.collective, late, [&](int rank, CollectiveCall& request) {
      there.place(rank, request);
      inputs[static_cast<std::size_t>(rank)]->enqueue_copy(request.data.in.data);
    });
    for (const Verdict& verdict : verdicts) EXPECT_EQ(verdict.status, Status::ok);
    late.inputs = host.inputs;  // the copies have run
    there.fetch();
    EXPECT_TRUE(late.outputs == host.outputs) << arithmetic;
  }
}

// From the second call on all ranks know that there are GPUs, and choose for them.
TEST(ChoiceOnGpus, LargeOperationsAreChosenOnceAllRanksKnow) {
  const Trial trial{.policy = "abs:1e-3,codec=planes,predictor=delta", .P = 8, .count = 70000};
  Ranks ranks(trial.P, trial.whole_policy());
  std::vector<unsigned long> launches;
  for (int call = 0; call < 3; ++call) {
    Job job = trial.job();
    const unsigned long before = stand_in_launches();
    for (const Verdict& verdict : run_on_gpus(ranks, trial, job)) EXPECT_EQ(verdict.status, Status::ok);
    launches.push_back(stand_in_launches() - before);
  }
  EXPECT_GT(launches[0], 8 * 5u);
  EXPECT_EQ(launches[1], 8 * 5u);  // two-shot in one segment
  EXPECT_EQ(launches[2], 8 * 5u);
}

// The result that says "no kernel" comes from the host, and says nothing about work that was enqueued before.
TEST(KernelsOfAnOperation, WaitForACopyWhoseKernelIsDeclined) {
  constexpr std::size_t bytes = 4096;
  gpu::Device device(gpu::device_services("the values"), 0, nullptr, false);
  const Buffer from = device.pinned().scratch(bytes);
  std::memset(from.data(), 7, bytes);
  const OnGpu<std::byte> to(bytes);
  {
    gpu::Kernels kernels(device, 1, false);
    ASSERT_EQ(kernels.copy(to.data(), from.data(), bytes), Status::ok);
    kernels.run(0, [](TAUT_Cuda_result*, void*) { return TAUT_ERR_CUDA_NEEDS_HOST; });
    while (!kernels.ready()) continue;
    EXPECT_FALSE(kernels.outcome(0));
  }
  EXPECT_EQ(to.peek(bytes), std::vector<std::byte>(bytes, std::byte{7}));
}

}  // namespace overlap_test
}  // namespace taut::test
