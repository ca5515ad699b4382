// Ranks whose calls of NCCL the drop-in serves.
#pragma once

#include <atomic>

#include "communication/nccl/dropin/communicators.hpp"
#include "communication/nccl/dropin/entry.hpp"
#include "gpu/nccl/random_calls.hpp"

namespace taut::test {

namespace dropin = nccl::dropin;

inline constexpr NcclFunctions dropin_functions{taut_dropin_ncclAllReduce, taut_dropin_ncclReduceScatter,
                                                taut_dropin_ncclAllGather, taut_dropin_ncclBroadcast,
                                                taut_dropin_ncclReduce,    taut_dropin_ncclAlltoAll};

// The calls are served under a policy, as they would be under rules.
class DropinRanks : public NcclThreads {
 public:
  DropinRanks(int P, const std::string& policy) : NcclThreads(P) {
    run([&](NcclRank& me) {
      EXPECT_EQ(dropin::start_serving(std::span(&me.comm, 1), policy), nccl::success);
    });
  }
  ~DropinRanks() {
    run([](NcclRank& me) {
      if (me.comm != nullptr) dropin::release(me.comm);
    });
  }
};

// Waits until the calls of a rank are made.
inline void finish_calls(const NcclRank& me) {
  if (const auto calls = dropin::find_calls(me.comm)) calls->drain();
}

// Makes the calls of all ranks: `make_calls(rank)` returns the first code that is not 0. Aborts the
// communicator after a failure. Returns true if all calls succeeded.
template <class Calls>
bool succeed(DropinRanks& ranks, Calls make_calls) {
  std::atomic<int> failures{0};
  ranks.run([&](NcclRank& me) {
    const int code = make_calls(me);
    finish_calls(me);
    int error = 0;
    taut_dropin_ncclCommGetAsyncError(me.comm, &error);
    if (code == 0 && error == 0) return;
    ++failures;
    note_failure();
  });
  stand_in_at_call(0, nullptr, nullptr);
  fake_nccl::fail_at(0);
  if (failures > 0)
    ranks.run([](NcclRank& me) {
      taut_dropin_ncclCommAbort(me.comm);
      me.comm = nullptr;
    });
  stand_in_finish();
  return failures == 0;
}

}  // namespace taut::test
