// CapacityMode::Run: enqueues the kernels and NCCL messages of a call in capacity mode, for some of its
// blocks.
#pragma once

#include "communication/nccl/capacity_mode.hpp"

namespace taut::nccl {

// Each block has an owner: the rank of the same number or, in a broadcast, the root. reduce(): all ranks send
// their frames of a block to its owner, which adds them. share(): owners send their frames to all ranks.
class CapacityMode::Run {
 public:
  Run(CapacityMode& mode, Call& call, std::span<const int> blocks, double ratio);

  // Enqueue the work of one step of the call on its stream. Throw Error.
  void reduce();
  // Enqueues the whole call, not one step. Frames have a fixed size. As in the algorithm rank_order, the
  // owner of a block decodes the frames of the other ranks and reduces all values, from rank 0 on, in a wider
  // type.
  void reduce_values();
  void encode_own();
  void share();
  void decode_own();

 private:
  ConstSlice input(int block) const noexcept;
  Slice output(int block) const noexcept;
  std::size_t count(int block) const noexcept { return output(block).count; }
  std::size_t whole_frame_bytes(std::size_t count, int addends) const noexcept;
  std::size_t slot_bytes(int block, int addends) const noexcept;
  bool owns(int block) const noexcept { return block == me_; }
  bool owns_any() const noexcept;
  bool keeps_input(int block) const noexcept;
  bool sums() const noexcept { return reduces(call_.collective); }
  // Returns the number of ranks whose values a frame of share() adds up.
  int shared_addends() const noexcept { return sums() && call_.by_frames ? ranks_ : 1; }
  std::byte* allocate(std::size_t bytes);

  template <class Launch>
  void enqueue(const Launch& launch);
  template <class Messages>
  void exchange(const Messages& messages);
  void send(const std::byte* from, std::size_t bytes, int to);
  void receive(std::byte* to, std::size_t bytes, int from);
  void encode(std::span<const int> blocks, std::span<std::byte* const> frames);
  void encode(std::span<const ConstSlice> values, std::span<std::byte* const> frames);
  void decode(std::span<const int> blocks, std::span<std::byte* const> frames);
  void decode(std::span<const api::DeviceFrameItem> items);
  std::vector<std::byte*> exchange_operands();
  void combine(const std::vector<std::byte*>& frames);
  void add_up(std::vector<const void*> frames);
  TAUT_Cuda_result* unread_result();

  CapacityMode& mode_;
  Call& call_;
  const api::DeviceCodec& kernels_;
  std::span<const int> blocks_;
  double ratio_;
  int me_, ranks_;
  int failed_ = success;            // result of NCCL in a group
  std::vector<Buffer> memory_;      // released with this object; later work of the stream may reuse it
  std::byte* own_frame_ = nullptr;  // frame of the own block, or of its sum
};

}  // namespace taut::nccl
