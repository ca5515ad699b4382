// The calls of taut_nccl.h on simulated GPUs, and the same calls on the host over loopback.
#pragma once

#include <taut/taut_nccl.h>

#include "gpu/cuda_collectives/device_job.hpp"
#include "gpu/nccl/threads.hpp"

namespace taut::test {

inline constexpr Collective nccl_collectives[] = {Collective::allreduce, Collective::reduce_scatter,
                                                  Collective::allgather, Collective::bcast,
                                                  Collective::reduce,    Collective::alltoall};

inline int nccl_type(DType type) {
  switch (type) {
    case DType::f64: return ncclFloat64;
    case DType::f16: return ncclFloat16;
    case DType::bf16: return ncclBfloat16;
    case DType::i32: return ncclInt32;
    default: return ncclFloat32;
  }
}

inline int nccl_op(Reduction op, bool mean) {
  return mean ? ncclAvg : op == Reduction::min ? ncclMin : op == Reduction::max ? ncclMax : ncclSum;
}

// Functions with the arguments of NCCL's.
struct NcclFunctions {
  decltype(&TAUT_Nccl_AllReduce) all_reduce = TAUT_Nccl_AllReduce;
  decltype(&TAUT_Nccl_ReduceScatter) reduce_scatter = TAUT_Nccl_ReduceScatter;
  decltype(&TAUT_Nccl_AllGather) all_gather = TAUT_Nccl_AllGather;
  decltype(&TAUT_Nccl_Broadcast) broadcast = TAUT_Nccl_Broadcast;
  decltype(&TAUT_Nccl_Reduce) reduce = TAUT_Nccl_Reduce;
  decltype(&TAUT_Nccl_AlltoAll) all_to_all = TAUT_Nccl_AlltoAll;
};

// Makes the call that the operands describe.
inline int call_nccl(const NcclFunctions& nccl, const Trial& t, const Operands& data, const NcclRank& me) {
  const int type = nccl_type(t.type), op = nccl_op(t.op, t.mean);
  const void* const in = data.in.data;
  void* const out = data.out.data;
  const std::size_t P = static_cast<std::size_t>(t.P);
  switch (t.collective) {
    case Collective::allreduce: return nccl.all_reduce(in, out, data.in.count, type, op, me.comm, me.stream);
    case Collective::reduce_scatter:
      return nccl.reduce_scatter(in, out, data.out.count, type, op, me.comm, me.stream);
    case Collective::allgather: return nccl.all_gather(in, out, data.in.count, type, me.comm, me.stream);
    case Collective::bcast:
      return nccl.broadcast(in != nullptr ? in : out, out, data.out.count, type, t.root, me.comm, me.stream);
    case Collective::reduce: return nccl.reduce(in, out, data.in.count, type, op, t.root, me.comm, me.stream);
    default: return nccl.all_to_all(in, out, data.in.count / P, type, me.comm, me.stream);
  }
}

// Returns the trial with blocks of one size, and buffers as NCCL allows them.
inline Trial as_nccl_allows(Trial t) {
  using enum Collective;
  const bool in_blocks =
      t.collective == reduce_scatter || t.collective == allgather || t.collective == alltoall;
  if (in_blocks) t.count -= t.count % static_cast<std::size_t>(t.P);
  if (t.collective == Collective::alltoall) t.in_place = false;
  return t;
}

// The job's values in memory of GPU 0, and one call of each rank on them.
class NcclJob {
 public:
  explicit NcclJob(const Trial& trial) : trial_(trial), job_(trial.job()), there_(job_, ~0u) {}

  int call(const NcclRank& me, const NcclFunctions& nccl = {}) {
    CollectiveCall request{trial_.collective, job_.operands(me.rank), job_.bytes()};
    there_.place(me.rank, request);
    return call_nccl(nccl, trial_, request.data, me);
  }
  // Returns the job with its outputs, once all streams are idle.
  const Job& done() {
    outputs();
    return job_;
  }
  // Returns the outputs, once all streams are idle.
  const std::vector<Values>& outputs() {
    stand_in_finish();
    there_.fetch();
    return job_.outputs;
  }

 private:
  Trial trial_;
  Job job_;
  OnGpus there_;
};

// Expects the outputs of the same call on the host. One rank has its own values; calls that the host leaves
// to MPI are left to NCCL, whose sums have other bits.
inline void expect_outputs_of_host(const Trial& trial, NcclJob& job) {
  Job host(trial.job());
  const auto expect_equal = [&](const std::vector<Values>& wanted) {
    for (int r = 0; r < trial.P; ++r) {
      const auto i = static_cast<std::size_t>(r);
      EXPECT_TRUE(!is_here(r) || job.outputs()[i] == wanted[i]) << text_of(trial) << " rank " << r;
    }
  };
  if (trial.P == 1) return expect_equal(host.inputs);
  Ranks ranks(trial.P, trial.whole_policy(), {.seed = 1, .random_order = true}, trial.nodes);
  const auto verdicts =
      ranks.run(trial.collective, host, [&](int, CollectiveCall& request) { request.mean = trial.mean; });
  if (verdicts[0].fallback != Fallback::none) return;
  expect_equal(host.outputs);
}

inline TAUT_Nccl_stats stats_of(const NcclRank& me) {
  TAUT_Nccl_stats stats{};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(TAUT_Nccl_comm_get_stats(me.comm, &stats), 0);
  return stats;
}

// Ranks under a policy. The destructor frees what Taut has for their communicators.
class NcclRanks : public NcclThreads {
 public:
  NcclRanks(int P, const std::string& policy, double ratio = 0) : NcclThreads(P) {
    run([&](NcclRank& me) {
      EXPECT_EQ(TAUT_Nccl_comm_set_policy(me.comm, policy.c_str()), 0) << TAUT_Nccl_last_error();
      EXPECT_EQ(TAUT_Nccl_comm_set_capacity(me.comm, ratio), 0) << TAUT_Nccl_last_error();
    });
  }
  ~NcclRanks() {
    stand_in_finish();
    for (int r = 0; r < size(); ++r) TAUT_Nccl_comm_release((*this)[r].comm);
  }
};

}  // namespace taut::test
