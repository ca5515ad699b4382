// Taut's data for one communicator of NCCL.
#pragma once

#include <memory>
#include <mutex>

#include "comm/communicator.hpp"
#include "nccl/call.hpp"
#include "nccl/fixed_frames.hpp"
#include "nccl/messages.hpp"
#include "nccl/transport.hpp"

namespace taut::nccl {

// State that Taut keeps for one communicator of NCCL: the transport over it, the rules that the ranks agreed
// on, what the tuner learned, and the calls that wait for settle().
class CommState {
 public:
  // Collective: creates the transport of `comm` and agrees on its rules. All ranks create their state at the
  // same place among their calls, and compare `policy`; if it is null, the rules of the environment. Throws
  // Error.
  CommState(ncclComm* comm, const std::string* policy);

  // False if `comm` now has another size, rank or device. A new communicator at the same address that equals
  // the old one in all three is not noticed: release the state before ncclCommDestroy.
  bool is_of(ncclComm* comm) const;

  // Sets the bytes reserved for a frame to the size of its values divided by `ratio`. 0: capacity mode is
  // off, sizes are exact.
  void set_capacity(double ratio);

  // Serves a call, by Taut or by NCCL. Throws Error.
  void serve(const NcclCall& call);

  // Serves the messages of a group on this communicator and one stream. Throws Error.
  void serve(std::span<const NcclMessage> messages);

  // Completes the calls with frames of a fixed size. Returns the number of blocks that were repeated.
  std::size_t settle(void* stream);

  Statistics statistics() const { return communicator_->calls().total(); }
  std::uint64_t capacity_calls() const noexcept { return fixed_.calls(); }

 private:
  struct Vote;
  Rules agreed_rules(Rules mine, bool readable, std::vector<int>& node_of);
  Verdict run(CollectiveCall call, void* stream);
  void run_plain_timed(const NcclCall& call, RecentTimes* times);

  const Library& nccl_;
  const api::DeviceServices& services_;
  NcclTransport transport_;
  HostPlace place_;
  Rules rules_;
  std::unique_ptr<Communicator> communicator_;
  FixedFrames fixed_;
  std::map<const Policy*, PolicyState> message_states_;
  std::mutex calls_;  // one at a time
};

}  // namespace taut::nccl
