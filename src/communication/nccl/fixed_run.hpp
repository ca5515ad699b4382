// One run of a call with frames of a fixed size, for some of its blocks.
#pragma once

#include "communication/nccl/fixed_frames.hpp"

namespace taut::nccl {

// Each block has an owner, the rank of the same number; a broadcast has one block, the root's. To reduce, all
// ranks send their frames of a block to its owner, who adds them. To share, owners send their frames to all.
class FixedFrames::Run {
 public:
  Run(FixedFrames& frames, Call& call, std::span<const int> blocks, double ratio);

  // Enqueue the work. Throw Error.
  void reduce();
  void encode_own();
  void share();
  void decode_own();

 private:
  ConstSlice in(int block) const noexcept;
  Slice out(int block) const noexcept;
  std::size_t count(int block) const noexcept { return out(block).count; }
  std::size_t full_room(std::size_t count, int addends) const noexcept;
  std::size_t sent_bytes(int block, int addends) const noexcept;
  bool owns(int block) const noexcept { return block == me_; }
  bool owns_any() const noexcept;
  bool stays(int block) const noexcept;
  bool sums() const noexcept { return reduces(call_.collective); }
  std::byte* take(std::size_t bytes);

  template <class Launch>
  void enqueue(const Launch& launch);
  template <class Messages>
  void exchange(const Messages& messages);
  void send(const std::byte* from, std::size_t bytes, int to);
  void receive(std::byte* to, std::size_t bytes, int from);
  void encode(std::span<const int> blocks, std::span<std::byte* const> frames);
  void decode(std::span<const int> blocks, std::span<std::byte* const> frames);
  void add_up(std::vector<const void*> frames);
  TAUT_Cuda_result* ignored();

  FixedFrames& frames_;
  Call& call_;
  const api::DeviceCodec& kernels_;
  std::span<const int> blocks_;
  double ratio_;
  int me_, ranks_;
  int failed_ = success;        // result of NCCL in a group
  std::vector<Buffer> memory_;  // given back when the run is enqueued: later work of the stream may reuse it
  std::byte* mine_ = nullptr;   // frame of the own block, or of its sum
};

}  // namespace taut::nccl
