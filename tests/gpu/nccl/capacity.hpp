// A call in capacity mode and its settle, for tests.
#pragma once

#include "gpu/nccl/calls.hpp"

namespace taut::test {

// Collectives that capacity mode serves.
inline constexpr Collective served[] = {Collective::allreduce, Collective::reduce_scatter,
                                        Collective::allgather, Collective::bcast};

// Makes a call, settles it, and expects the results of the host. Returns the number of repeated blocks.
inline std::size_t run_and_settle(const Trial& trial, double ratio) {
  SCOPED_TRACE(text_of(trial));
  NcclRanks ranks(trial.P, trial.whole_policy(), ratio);
  NcclJob job(trial);
  std::size_t repeated = 0;
  ranks.run([&](NcclRank& me) {
    EXPECT_EQ(job.call(me), 0) << TAUT_Nccl_last_error();
    std::size_t blocks = 0;
    EXPECT_EQ(TAUT_Nccl_comm_settle(me.comm, &blocks, me.stream), 0) << TAUT_Nccl_last_error();
    if (me.rank == 0) repeated = blocks;
    EXPECT_EQ(stats_of(me).capacity_calls, trial.P > 1 ? 1u : 0u);
  });
  expect_outputs_of_host(trial, job);
  EXPECT_EQ(fake_nccl::take_report(), "");
  return repeated;
}

}  // namespace taut::test
