// Capacity mode (TAUT_Nccl_comm_set_capacity): calls whose frames travel in rooms of a fixed size. All sizes
// are known before, so that a call only enqueues work: the host waits for nothing.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "communication/comm/tuner.hpp"
#include "communication/gpu/device.hpp"
#include "communication/nccl/call.hpp"
#include "communication/nccl/transport.hpp"

namespace taut::nccl {

// A frame that does not fit its room arrives cut off. Its decoder finds that by the frame's header and writes
// nothing; a sum of such a frame becomes no frame at all. All ranks thus leave the block as it was, also in
// place, and settle() repeats it in rooms that every frame fits.
//
// Serves sums of all ranks in blocks (allreduce, reduce_scatter), allgather and broadcast, under bounds whose
// frames can be added and that do not depend on the values.
class FixedFrames {
 public:
  FixedFrames(const Library& nccl, const api::DeviceServices& services, NcclTransport& transport,
              ncclComm* comm) noexcept
      : nccl_(nccl), services_(services), transport_(transport), comm_(comm) {}
  FixedFrames(const FixedFrames&) = delete;
  // Prints a warning if results are missing that nobody has asked for.
  ~FixedFrames();

  // Sets the room of later frames: bytes of values / `ratio`. 0: no calls are served.
  void set_ratio(double ratio) noexcept { ratio_ = ratio; }

  // Enqueues the call, and returns true if it is served; the same on all ranks. Throws Error.
  bool serve(const NcclCall& call, const CollectiveCall& described, const Rules& rules);

  // Waits for all calls since the last time, and repeats the blocks that did not fit on some rank. All ranks
  // call it at the same place. Returns the number of these blocks. Throws Error if a result is missing.
  std::size_t settle(void* stream);

  std::uint64_t calls() const noexcept { return calls_; }  // that were served

 private:
  // A call, with all that its repetition needs.
  struct Call {
    Collective collective;
    ConstSlice in;
    Slice out;
    int root;
    bool same_bits;  // as in the policy
    void* stream;
    Coding coding;
    std::shared_ptr<const Codec> codec;
    std::shared_ptr<gpu::Device> device;
    Buffer results = {};  // of decoding, for each block: TAUT_Cuda_result in pinned memory

    std::span<TAUT_Cuda_result> outcomes(std::size_t blocks) const noexcept {
      return {reinterpret_cast<TAUT_Cuda_result*>(results.data()), blocks};
    }
  };
  class Run;

  std::optional<Call> planned(const NcclCall& call, const CollectiveCall& described, const Rules& rules);
  Buffer fresh_results(const Call& call) const;
  // Enqueues the blocks of a call. `ratio` 0: rooms that every frame fits.
  void run(Call& call, std::span<const int> blocks, double ratio);
  std::vector<bool> failed_somewhere();

  const Library& nccl_;
  const api::DeviceServices& services_;
  NcclTransport& transport_;
  ncclComm* comm_;
  double ratio_ = 0;
  std::uint64_t calls_ = 0;
  gpu::Devices devices_;
  std::map<const Policy*, PolicyState> states_;
  std::vector<Call> open_;  // since the last settle()
};

}  // namespace taut::nccl
