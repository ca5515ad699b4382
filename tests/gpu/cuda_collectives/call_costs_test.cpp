// Counts what whole collective calls ask of CUDA: kernels, copies and waits, of all ranks together.
#include <cstring>

#include "gpu/cuda_collectives/device_job.hpp"

namespace taut::test {
namespace call_costs_test {

// Kernels of one operation on frames without lags. Up to 8 frames that are encoded, decoded or added together
// are one operation.
constexpr unsigned long kernels_to_encode = 1, kernels_to_decode = 2, kernels_to_sum = 2,
                        kernels_to_accumulate = 3;

// Requests to CUDA's runtime.
struct Requests {
  unsigned long kernels = 0, to_device = 0, to_host = 0, within = 0, waits = 0;

  static Requests so_far() {
    return {stand_in_launches(), stand_in_copied(stand_in_to_device), stand_in_copied(stand_in_to_host),
            stand_in_copied(stand_in_within), stand_in_waits()};
  }
  friend Requests operator-(const Requests& a, const Requests& b) {
    return {a.kernels - b.kernels, a.to_device - b.to_device, a.to_host - b.to_host, a.within - b.within,
            a.waits - b.waits};
  }
  bool operator==(const Requests&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Requests& r) {
    return out << r.kernels << " kernels, copies: " << r.to_device << " to the device, " << r.to_host
               << " to the host, " << r.within << " within; " << r.waits << " waits";
  }
};

// Returns the requests of a call, once earlier ones have allocated all memory: the first one shows that
// values are on GPUs, and from the second one on plans are made for GPUs.
Requests requests_of(const Trial& trial) {
  SCOPED_TRACE(text_of(trial));
  Ranks ranks(trial.P, trial.whole_policy());
  for (int earlier = 0; earlier < 2; ++earlier) {
    Job job = trial.job();
    run_on_gpus(ranks, trial, job);
  }
  Job job = trial.job();
  OnGpus there(job, trial.on_gpus);
  const Requests before = Requests::so_far();
  const auto verdicts = ranks.run(trial.collective, job,
                                  [&](int rank, CollectiveCall& request) { there.place(rank, request); });
  const Requests made = Requests::so_far() - before;
  for (const Verdict& verdict : verdicts) {
    EXPECT_EQ(verdict.fallback, Fallback::none);
    EXPECT_EQ(verdict.status, Status::ok);
  }
  return made;
}

// Operations of all ranks together, and the frames that they copy to a GPU. Values are copied within a GPU;
// the host waits for a copy that no polled operation follows.
struct Row {
  Collective collective;
  const char* algorithm;
  unsigned long encodes, accumulates, sums, decodes, frames, value_copies = 0, waits = 0;

  Requests requests() const {
    return {.kernels = encodes * kernels_to_encode + accumulates * kernels_to_accumulate +
                       sums * kernels_to_sum + decodes * kernels_to_decode,
            .to_device = frames,
            .within = value_copies,
            .waits = waits};
  }
};

constexpr int P = 4;
constexpr Row rows[] = {
    {Collective::allreduce, "ring", P, P*(P - 1), 0, P* P, P*(2 * P - 1)},
    {Collective::allreduce, "recursive_doubling", P, 0, 2 * P, P, 5 * P},
    {Collective::allreduce, "halving_doubling", P, 2 * P, P, P, 8 * P},
    {Collective::allreduce, "two_shot", P, 0, P, P, 2 * P* P},
    {Collective::allreduce, "cpr_p2p", 6 * P, 0, 0, 7 * P, 7 * P, 3 * P},
    {Collective::reduce_scatter, "ring", P, P*(P - 1), 0, P, P* P},
    {Collective::reduce_scatter, "direct", P, 0, P, P, P*(P + 1)},
    {Collective::reduce_scatter, "cpr_p2p", 3 * P, 0, 0, 3 * P, 3 * P, 3 * P},
    {Collective::allgather, "ring", P, 0, 0, P* P, P* P},
    {Collective::allgather, "direct", P, 0, 0, P, P* P},
    {Collective::allgather, "bruck", P, 0, 0, P, P* P},
    {Collective::allgather, "cpr_p2p", 3 * P, 0, 0, P* P, P* P},
    {Collective::bcast, "binomial", 1, 0, 0, P, P},
    {Collective::bcast, "chain", 1, 0, 0, P, P},
    {Collective::bcast, "scatter_allgather", 2, 0, 0, P* P, P* P},
    {Collective::bcast, "cpr_p2p", 3, 0, 0, P, P},
    {Collective::reduce, "binomial", P, 0, P - 1, 1, 2 * P - 1},
    {Collective::reduce, "ring", P, P*(P - 1), 0, P, P* P},
    {Collective::scatter, "linear", P - 1, 0, 0, P - 1, P - 1, 1, 1},
    {Collective::scatter, "binomial", 1, 0, 0, P - 1, P - 1, 1, 1},
    {Collective::scatter, "cpr_p2p", 3, 0, 0, P, P, 1, 1},
    {Collective::gather, "linear", P - 1, 0, 0, P - 1, P - 1, 1},
    {Collective::alltoall, "pairwise", P*(P - 1), 0, 0, P*(P - 1), P*(P - 1), P},
    {Collective::scan, "chain", 1, P - 1, 0, P, 2 * P - 1},
    {Collective::scan, "recursive_doubling", P, 0, 5, P, 10 + P},
    {Collective::exscan, "chain", 1, P - 2, 0, P - 1, 2 * P - 3},
    {Collective::exscan, "recursive_doubling", P - 1, 0, 3, P - 1, 6 + P - 1},
    {Collective::neighbor_allgather, "direct", P, 0, 0, 2 * P, P* P},
    {Collective::neighbor_alltoall, "direct", P*(P - 1), 0, 0, P, P*(P - 1), P},
};

const Row* row_of(const AlgorithmInfo& algorithm) {
  for (const Row& row : rows)
    if (row.collective == algorithm.collective && std::strcmp(row.algorithm, algorithm.name) == 0)
      return &row;
  return nullptr;
}

// Every received frame is copied to the GPU once, and nothing is copied to the host: kernels write frames
// into host memory. The host waits by polling only.
TEST(CallCostsOnGpus, OfEveryAlgorithm) {
  for (const AlgorithmInfo* const algorithm : registered_algorithms()) {
    if (algorithm->in_rank_order) continue;
    const std::string name = std::string(name_of(algorithm->collective)) + " " + algorithm->name;
    const Row* const row = row_of(*algorithm);
    ASSERT_NE(row, nullptr) << name << " has no row";
    Trial trial{.collective = algorithm->collective, .P = P, .count = 20000};
    trial.policy += std::string(",algorithm=") + algorithm->name;
    EXPECT_EQ(requests_of(trial), row->requests()) << name;
  }
}

// Two-shot allreduce on 8 ranks: 8 encodings, a sum of 8 frames and 8 decodings take 5 kernels a rank,
// whatever the size.
TEST(CallCostsOnGpus, TwoShotTakesFiveKernels) {
  for (const std::size_t count : {8000u, 50000u})
    EXPECT_EQ(
        requests_of(
            {.policy = "abs:1e-3,codec=planes,predictor=delta,algorithm=two_shot", .P = 8, .count = count})
            .kernels,
        8 * (kernels_to_encode + kernels_to_sum + kernels_to_decode));
}

}  // namespace call_costs_test
}  // namespace taut::test
