// CommState is the state that Taut keeps for one communicator of NCCL.
#pragma once

#include <memory>
#include <mutex>

#include "communication/comm/communicator.hpp"
#include "communication/comm/settings.hpp"
#include "communication/nccl/call.hpp"
#include "communication/nccl/capacity_mode.hpp"
#include "communication/nccl/messages.hpp"
#include "communication/nccl/transport.hpp"

namespace taut::nccl {

// The transport over the communicator, the rules that the ranks agreed on, what the tuner has learned, and
// the calls that wait for settle().
class CommState {
 public:
  // Creates the state without rules. `limits`: of all waits for other ranks; null: there are none. Throws
  // Error.
  explicit CommState(ncclComm* comm, const WaitLimits* limits = nullptr);

  // Agrees on the rules with the other ranks, by work on `stream`. All ranks call it at the same place among
  // their calls. They compare `policy`, or the rules of the environment if it is null. Throws Error, on all
  // ranks, if the policies or rules differ (rank_mismatch), or cannot be read on some rank.
  void agree(const std::string* policy, void* stream);
  // Does the same by work on a stream of Taut.
  void agree(const std::string* policy);

  // Returns false if `comm` now has another size, rank or device. A new communicator at the same address that
  // equals the old one in all three is not noticed: release the state before ncclCommDestroy.
  bool matches(ncclComm* comm) const;

  int rank() const noexcept { return transport_.rank(); }
  int ranks() const noexcept { return transport_.size(); }

  // Sets the size of the slots of frames to that of their values divided by `ratio`. 0: the policies state
  // which calls have slots. All ranks call it. Throws Error(rank_mismatch) if the ratios differ.
  void set_capacity(double ratio);

  // Serves a call, by Taut or by NCCL. Returns true if Taut compressed it. Throws Error, also if the call was
  // made and an earlier one, which had returned, has failed since.
  // `plain_if_unreachable`: NCCL serves the call on all ranks if some rank's buffers are in memory that Taut
  // cannot use.
  bool serve(const NcclCall& call, bool plain_if_unreachable = false);

  // Ends the communicators of the node if NCCL has noticed an error on that of all ranks: kernels of the
  // node's calls may wait for ranks that are gone, and the end of the state for these kernels.
  void end_nodes_after_error() noexcept;
  // Throws Error if an earlier call, which had returned, has failed since.
  void expect_no_late_failure();
  // Continues after another state of the same communicator, whose calls may be in flight or in graphs.
  void continue_after(const std::shared_ptr<CommState>& before);

  bool agreed() const noexcept { return communicator_ != nullptr; }

  const Rules& rules() const noexcept { return rules_; }

  // Returns true if no collective call is ever compressed.
  bool off() const noexcept { return rules_.off(); }

  // Returns true if the rules can select the call; the same on all ranks.
  bool selects(const NcclCall& call) const;

  // Makes NCCL connect all pairs of ranks, by work on `stream`. All ranks call it.
  void connect(void* stream);

  // Waits until all work on a stream is done. Throws Error.
  void wait(void* stream);

  // Serves the messages of a group on this communicator and one stream. Throws Error.
  void serve(std::span<const NcclMessage> messages);

  // Completes the calls in capacity mode. Returns the number of blocks that were repeated.
  std::size_t settle(void* stream);

  const CallTable& calls() const noexcept { return communicator_->calls(); }
  std::uint64_t waits() const noexcept { return transport_.waits(); }
  std::uint64_t capacity_calls() const noexcept { return capacity_mode_.calls(); }

 private:
  Rules agreed_rules(const RankRules& mine, std::vector<int>& node_of);
  Nodes agreed_nodes(std::span<const int> node_of);
  std::string agreed_card();
  bool serve_now(const NcclCall& call, bool plain_if_unreachable);
  bool serve(const NcclCall& call, const CollectiveCall& described);
  bool serve_exactly(const NcclCall& call, const CollectiveCall& described);
  Verdict run(CollectiveCall call, void* stream);
  void run_plain_timed(const NcclCall& call, RecentTimes* times);

  std::shared_ptr<CommState> before_;  // state that graphs still use; null: there is none
  const Library& nccl_;
  const gpu::DeviceServices& services_;
  NcclTransport transport_;
  HostPlace place_;
  Rules rules_;
  std::unique_ptr<Communicator> communicator_;
  CapacityMode capacity_mode_;
  std::map<const Policy*, PolicyState> message_states_;
  std::shared_ptr<MessageGroup::Memory> message_memory_;
  std::mutex call_mutex_;  // held by the call in progress
};

}  // namespace taut::nccl
