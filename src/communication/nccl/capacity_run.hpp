// CapacityMode::Run enqueues the kernels and NCCL messages of a call in capacity mode, for some of its
// blocks.
#pragma once

#include <array>

#include "communication/nccl/capacity_mode.hpp"

namespace taut::nccl {

// Peers are the ranks that exchange frames with this one, itself included. Each block has an owner: the peer
// of the same number or, in a broadcast, the root.
class CapacityMode::Run {
 public:
  Run(CapacityMode& mode, SlotCall& call, std::span<const int> blocks, double ratio);

  // Enqueue one step of the call on its stream. Throw Error.
  void reduce();      // all peers send their frames of a block to its owner, which adds them
  void encode_own();  // owners encode their block
  void share();       // owners send the frame of their block to all peers, which decode it
  void decode_own();  // owners decode their block
  // Enqueues the whole call, not one step. Frames have a fixed size. As in the algorithm rank_order, the
  // owner of a block decodes the frames of the other ranks and reduces all values, from rank 0 on, in a wider
  // type. A mean with a residual is divided there, so that the residual is that of the mean.
  void reduce_values();
  // Enqueues work on the values of the node, if there is any.
  void do_on_node(const NodeWork& work);

 private:
  ConstSlice input(int block) const noexcept;
  Slice output(int block) const noexcept;
  std::size_t count(int block) const noexcept { return output(block).count; }
  std::size_t max_frame_bytes(std::size_t count, int addends) const noexcept;
  std::size_t slot_bytes(int block, int addends) const noexcept;
  bool owns(int block) const noexcept { return block == my_index_; }
  int rank_of(int peer) const noexcept { return call_.peers[static_cast<std::size_t>(peer)]; }
  bool owns_any() const noexcept;
  // Returns true if the block is this rank's own, in a call in place, and stays as it is.
  bool keeps_input(int block) const noexcept { return call_.keeps_own && owns(block); }
  bool is_reduction() const noexcept { return reduces(call_.collective); }
  // Returns the number of peers whose values a frame of share() adds up.
  int shared_addends() const noexcept { return is_reduction() && call_.by_frames ? peer_count_ : 1; }
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
  void decode(std::span<const gpu::DeviceFrameItem> items);
  std::span<const TAUT_Cuda_result> decode_apart(std::span<gpu::DeviceFrameItem> items);
  void note_failures(std::span<const TAUT_Cuda_result> results, std::byte* frame);
  bool keeps_residual() const noexcept { return call_.residual.data != nullptr; }
  void* residual(Range range) const noexcept { return call_.residual.part(range.first, range.count).data; }
  Range own_range() const noexcept;
  std::array<Range, 2> ranges_of_others() const noexcept;
  Slice add_residual();
  void subtract_sent(Slice sums, std::span<const int> others, std::span<std::byte* const> frames);
  void sum_with_residual(const void* operands, std::size_t n, Slice result, Range range, int divisor);
  void subtract(ConstSlice decoded, Range range);
  std::vector<std::byte*> exchange_operands();
  void combine(const std::vector<std::byte*>& frames);
  void add_up(std::vector<const void*> frames);
  TAUT_Cuda_result* unread_result();

  CapacityMode& mode_;
  SlotCall& call_;
  const gpu::DeviceCodec& kernels_;
  std::span<const int> blocks_;
  double ratio_;
  int my_index_, peer_count_;       // this rank's index among the peers, and their number
  int failed_ = success;            // first error of NCCL in a group
  std::vector<Buffer> memory_;      // released with this object; later work of the stream may reuse it
  std::byte* own_frame_ = nullptr;  // frame of this rank's block, or of the sum of its frames
  std::span<const TAUT_Cuda_result> operand_results_;  // of decoding other ranks' values of the own block
};

}  // namespace taut::nccl
