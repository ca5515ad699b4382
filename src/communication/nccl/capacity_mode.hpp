// Capacity mode: frames travel in slots, whose sizes are fixed before the frames are made. The program
// chooses them by TAUT_Nccl_comm_set_capacity, and settles: a call then only enqueues work, and the host
// waits for nothing. Calls whose frames have a fixed size, which fit every slot, need no settle, and may be
// captured in graphs. Under a policy with `slots=` each call settles itself, and is tried beside calls with
// exact sizes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "communication/comm/tuner.hpp"
#include "communication/gpu/device.hpp"
#include "communication/nccl/call.hpp"
#include "communication/nccl/slot_memory.hpp"
#include "communication/nccl/slot_trial.hpp"
#include "communication/nccl/transport.hpp"

namespace taut::nccl {

// Serves the calls of one communicator in capacity mode. A frame that overflows its slot arrives truncated.
// Its decoder notices that by the frame's header and writes nothing; a sum of such a frame has no valid
// header. All ranks thus leave the block as it was, also in place, and settle() repeats it in slots that
// every frame fits.
//
// The calls are allreduce and reduce_scatter (sums), allgather and broadcast, under bounds that do not depend
// on the values. Frames of sums can be added, or have a fixed size: the owner of a block then decodes them
// and reduces the values in the order of the ranks.
//
// If a frame of a fixed size is not decoded (it is damaged, or the ranks' types differ), the values of its
// block are missing. If it is an operand of an allreduce, the frame of the result is made invalid, so that no
// rank takes it for one. Kernels note such a failure in a word that the host reads in later calls and in
// settle().
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
               ncclComm* comm)
      : nccl_(nccl),
        services_(services),
        transport_(transport),
        comm_(comm),
        memory_(std::make_shared<SlotMemory>(services)),
        late_failure_(std::make_shared<LateFailure>(services)) {}
  CapacityMode(const CapacityMode&) = delete;
  // Prints a warning if results are missing that nobody has asked for. Memory is freed without a wait,
  // by a later free_after() or TAUT_Cuda_release when the streams have passed their calls.
  ~CapacityMode();

  // Sets the slots of later frames: bytes of values / `ratio`. 0: those of the policy, if it has any.
  void set_ratio(double ratio) noexcept { ratio_ = ratio; }

  // Serves a call in slots, or by exact(), alike on all ranks. Returns true if Taut compressed the call.
  // `described`: with its ranks and nodes. The first call by nodes makes the communicator of the node. Throws
  // Error.
  bool serve(const NcclCall& call, const CollectiveCall& described, const Rules& rules, const Nodes& nodes,
             const std::function<bool()>& exact);

  // Throws Error if a frame of an earlier call was not decoded, once.
  void expect_no_late_failure();
  // Takes over the failures of the calls of another state of this communicator.
  void continue_after(const CapacityMode& before);
  // Returns true if graphs use memory of this object.
  bool has_graphs() const noexcept { return memory_->has_graphs(); }

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
    bool fixed;        // frames have a fixed size: the call is never repeated
    double ratio;      // bytes of values over bytes of their slot
    SlotTrial* trial;  // compares the call with exact sizes; null: it always travels in slots
    Slice residual;    // of `in`; no memory: there is none
    bool by_nodes;
    Coding coding;
    std::shared_ptr<const Codec> codec;
    std::shared_ptr<gpu::Device> device;
    PooledPlace* place;                // of scratch memory: that of the device, or of a graph
    bool captured;                     // in a graph
    int ranks;                         // of the communicator
    std::vector<int> peers;            // ranks that exchange frames with this one: all, or one on each node
    int my_index;                      // index of this rank in `peers`
    std::size_t first_block;           // number of the peers' first block among those of all ranks
    Slice own_output = {};             // gets the values of this rank's decoded block; no memory: `out` does
    NodeWork before = {}, after = {};  // by nodes: work on the node before and after frames travel
    std::vector<Buffer> memory = {};   // of values, until the call is settled or need not be
    bool enqueued = false;             // all work is on the stream; else results are missing
    Buffer results = {};               // of decoding each block: TAUT_Cuda_result in pinned memory

    std::span<TAUT_Cuda_result> block_results() const noexcept {
      return {reinterpret_cast<TAUT_Cuda_result*>(results.data()), fixed ? 0 : peers.size()};
    }
    Buffer scratch(std::size_t bytes) const { return scratch_at_once(*place, bytes); }
  };
  class Run;
  class Rail;

  static constexpr const char* before_capture = "make the same call once on this stream before the capture";

  // Message of each rank in the agreement of settle().
  struct Agreement {
    std::uint32_t failed;   // 1: some block is to be repeated
    std::uint32_t missing;  // 1: some result of a call that is never repeated, or has failed
    SlotTimes times;
  };
  // Outcome of settling calls.
  struct Settled {
    std::size_t repeated = 0;    // number of blocks
    Status status = Status::ok;  // of these calls
    bool missing = false;        // a result of another call, on some rank
    SlotTimes times = {};        // the longest of all ranks
  };

  std::optional<SlotCall> plan_call(const NcclCall& call, const CollectiveCall& described,
                                    const Rules& rules);
  std::optional<SlotCall> plan_with_residual(const NcclCall& call, const CollectiveCall& described,
                                             const Rules& rules);
  SlotCall new_call(const NcclCall& call, const CollectiveCall& described, const Policy& policy,
                    const Plan& plan);
  // Returns true if the values of each block fit a frame.
  static bool fits_frames(const CollectiveCall& call) noexcept;
  PolicyState& state_of(const Policy& policy);
  bool serve_captured(const NcclCall& call, const CollectiveCall& described, const Rules& rules,
                      const Nodes& nodes);
  void enqueue(SlotCall planned, const Nodes& nodes);
  void enqueue_now(SlotCall planned, const Nodes& nodes);
  void find_device(SlotCall& planned);
  void check_residual_memory(const SlotCall& planned);
  std::shared_ptr<gpu::Device> device_of(const SlotCall& planned);
  SlotTimes serve_and_settle(SlotCall planned, const NcclCall& call, const CollectiveCall& described,
                             const Rules& rules, const Nodes& nodes, const SlotTimes& times);
  void abandon_from(std::size_t unsettled);
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
  auto or_abort_node(const Work& work) {
    try {
      return work();
    } catch (...) {
      transport_.abort_node();
      throw;
    }
  }
  std::vector<char> failed_somewhere(std::span<const SlotCall> calls, SlotTimes& times, bool missing,
                                     bool& missing_anywhere);
  Settled settle_from(std::size_t first, void* stream, bool missing, const SlotTimes& times);
  SlotTimes settle_own(std::size_t first, void* stream, const SlotTimes& times);
  void wait_for_all(void* stream);
  void take_late_failure() noexcept;

  const Library& nccl_;
  const gpu::DeviceServices& services_;
  NcclTransport& transport_;
  ncclComm* comm_;
  double ratio_ = 0;
  std::uint64_t calls_ = 0;
  std::shared_ptr<SlotMemory> memory_;
  std::shared_ptr<LateFailure> late_failure_;
  bool unreported_ = false,
       unsettled_failure_ = false;  // late failures that no call, or no settle(), has told
  std::map<const Policy*, PolicyState> states_;
  std::map<std::pair<const Policy*, std::uint32_t>, SlotTrial> trials_;  // by policy and kind of call
  std::vector<SlotCall> unsettled_;  // calls since the last settle() that may have to be repeated
  std::vector<SlotCall> abandoned_;  // calls that failed, until the streams have passed them
};

}  // namespace taut::nccl
