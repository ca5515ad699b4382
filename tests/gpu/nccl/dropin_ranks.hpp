// Ranks whose calls of NCCL the drop-in serves.
#pragma once

#include "gpu/nccl/calls.hpp"
#include "nccl/dropin/communicators.hpp"
#include "nccl/dropin/entry.hpp"

namespace taut::test {

namespace dropin = nccl::dropin;

inline constexpr NcclFunctions dropin_functions{taut_dropin_ncclAllReduce, taut_dropin_ncclReduceScatter,
                                                taut_dropin_ncclAllGather, taut_dropin_ncclBroadcast,
                                                taut_dropin_ncclReduce,    taut_dropin_ncclAlltoAll};

// The calls are served under a policy, as they would be under rules.
class DropinRanks : public NcclThreads {
 public:
  DropinRanks(int P, const std::string& policy) : NcclThreads(P) {
    run([&](NcclRank& me) { EXPECT_EQ(dropin::take(std::span(&me.comm, 1), policy), nccl::success); });
  }
  ~DropinRanks() {
    run([](NcclRank& me) {
      if (me.comm != nullptr) dropin::release(me.comm);
    });
  }
};

}  // namespace taut::test
