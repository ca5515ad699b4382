// Capacity mode: frames travel in slots, whose sizes are fixed before the frames are made. The program
// chooses them by TAUT_Nccl_comm_set_capacity, and settles: a call then only enqueues work, and the host
// waits for nothing. Under a policy with `slots=` each call settles itself, and is tried beside calls with
// exact sizes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "communication/comm/tuner.hpp"
#include "communication/gpu/device.hpp"
#include "communication/nccl/call.hpp"
#include "communication/nccl/slot_trial.hpp"
#include "communication/nccl/transport.hpp"

namespace taut::nccl {

// Serves the calls of one communicator in capacity mode. A frame that overflows its slot arrives truncated.
// Its decoder notices that by the frame's header and writes nothing; a sum of such a frame has no valid
// header. All ranks thus leave the block as it was, also in place, and settle() repeats it in slots that
// every frame fits.
//
// The calls are allreduce and reduce_scatter (sums), allgather and broadcast, under bounds whose frames can
// be added and that do not depend on the values. Frames of a fixed size, which fit every slot, need not be
// added: the owner of a block decodes them and reduces the values in the order of the ranks.
//
// A sum with a residual (error feedback) has frames of a fixed size, and needs no ratio: before values are
// encoded their residual is added to them, and what the frame leaves out becomes the new one. The residual of
// a rank's own block, whose values do not travel as an operand, is that of the sum.
//
// By nodes, of equal size, NCCL reduces and shares values on a node, and frames go from each rank to the
// ranks of the other nodes with the same local rank. A block that overflows holds the node's values until it
// is repeated.
class CapacityMode {
 public:
  CapacityMode(const Library& nccl, const gpu::DeviceServices& services, NcclTransport& transport,
               ncclComm* comm) noexcept
      : nccl_(nccl), services_(services), transport_(transport), comm_(comm) {}
  CapacityMode(const CapacityMode&) = delete;
  // Prints a warning if results are missing that nobody has asked for.
  ~CapacityMode();

  // Sets the slots of later frames: bytes of values / `ratio`. 0: those of the policy, if it has any.
  void set_ratio(double ratio) noexcept { ratio_ = ratio; }

  // Serves a call in slots, or by exact(), alike on all ranks. Returns true if Taut compressed the call.
  // `described`: with its ranks and nodes. The first call by nodes makes the communicator of the node. Throws
  // Error.
  bool serve(const NcclCall& call, const CollectiveCall& described, const Rules& rules, const Nodes& nodes,
             const std::function<bool()>& exact);

  // Waits for all calls since the last time, and repeats the blocks that did not fit on some rank. All ranks
  // call it at the same place. Returns the number of these blocks. Throws Error, on all ranks, if a result is
  // missing.
  std::size_t settle(void* stream);

  // Returns the number of calls that were served.
  std::uint64_t calls() const noexcept { return calls_; }

 private:
  // A call in slots, with all that its repetition needs.
  struct SlotCall {
    Collective collective;
    ConstSlice in;
    Slice out;
    int root;        // its index in `peers`
    bool keeps_own;  // this rank's block of a data movement in place stays as it is
    void* stream;
    Reduction op;
    bool mean;
    bool by_frames;    // reductions: frames are added, not decoded values
    double ratio;      // bytes of values over bytes of their slot
    SlotTrial* trial;  // compares the call with exact sizes; null: it always travels in slots
    Slice residual;    // of `in`; no memory: there is none
    bool by_nodes;
    Coding coding;
    std::shared_ptr<const Codec> codec;
    std::shared_ptr<gpu::Device> device;
    int ranks;                         // of the communicator
    std::vector<int> peers;            // ranks that exchange frames with this one: all, or one on each node
    int my_index;                      // index of this rank in `peers`
    std::size_t first_block;           // number of the peers' first block among those of all ranks
    Slice own_output = {};             // gets the values of this rank's decoded block; no memory: `out` does
    NodeWork before = {}, after = {};  // by nodes: work on the node before and after frames travel
    std::vector<Buffer> memory = {};   // of values, until the call is settled
    // Results of decoding each block, and then each peer's operand: TAUT_Cuda_result in pinned memory.
    Buffer results = {};

    std::span<TAUT_Cuda_result> all_results() const noexcept {
      return {reinterpret_cast<TAUT_Cuda_result*>(results.data()), 2 * peers.size()};
    }
    std::span<TAUT_Cuda_result> block_results() const noexcept { return all_results().first(peers.size()); }
    std::span<TAUT_Cuda_result> operand_results() const noexcept { return all_results().last(peers.size()); }
  };
  class Run;
  class Rail;

  // Message of each rank in the agreement of settle().
  struct Agreement {
    std::uint32_t failed;  // 1: some decoder has failed
    SlotTimes times;
  };
  // Outcome of settle().
  struct Settled {
    std::size_t repeated = 0;  // number of blocks
    Status status = Status::ok;
    SlotTimes times = {};  // the longest of all ranks
  };

  std::optional<SlotCall> plan_call(const NcclCall& call, const CollectiveCall& described,
                                    const Rules& rules);
  std::optional<SlotCall> plan_with_residual(const NcclCall& call, const CollectiveCall& described,
                                             const Rules& rules);
  SlotCall new_call(const NcclCall& call, const CollectiveCall& described, const Policy& policy,
                    const Plan& plan);
  PolicyState& state_of(const Policy& policy);
  void enqueue(SlotCall planned, const Nodes& nodes);
  void find_device(SlotCall& planned);
  SlotTimes serve_and_settle(SlotCall planned, const NcclCall& call, const CollectiveCall& described,
                             const Rules& rules, const Nodes& nodes, const SlotTimes& times);
  void abandon_from(std::size_t unsettled, void* stream);
  bool serve_with_residual(const NcclCall& call, const CollectiveCall& described, const Rules& rules,
                           const Nodes& nodes);
  bool kernels_access(const SlotCall& planned, const CollectiveCall& described);
  Buffer new_results(const SlotCall& call) const;
  // Enqueues the blocks of a call, and what the node does with their values. `ratio` 0: slots that every
  // frame fits.
  void run(SlotCall& call, std::span<const int> blocks, double ratio);
  void exchange_frames(Run& run, const SlotCall& call);
  // Returns work(). If it throws, kernels on the node's values do not wait for other ranks.
  template <class Work>
  auto or_abort_node(const Work& work);
  std::vector<char> failed_somewhere(SlotTimes& times);
  Settled settle_all(void* stream, const SlotTimes& times);
  Settled settle_now(void* stream, const SlotTimes& times);

  const Library& nccl_;
  const gpu::DeviceServices& services_;
  NcclTransport& transport_;
  ncclComm* comm_;
  double ratio_ = 0;
  std::uint64_t calls_ = 0;
  gpu::Devices devices_;
  std::map<const Policy*, PolicyState> states_;
  std::map<std::pair<const Policy*, std::uint32_t>, SlotTrial> trials_;  // by policy and kind of call
  std::vector<SlotCall> unsettled_;                                      // since the last settle()
};

}  // namespace taut::nccl
