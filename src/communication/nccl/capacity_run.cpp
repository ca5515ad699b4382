#include "communication/nccl/capacity_run.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "communication/team/frames.hpp"
#include "compressor/gpu/device_kernels.hpp"

namespace taut::nccl {
namespace {

constexpr std::size_t batch_frames = 8;  // frames that one call of libtaut_cuda encodes, decodes or adds

}  // namespace

CapacityMode::Run::Run(CapacityMode& mode, SlotCall& call, std::span<const int> blocks, double ratio)
    : mode_(mode),
      call_(call),
      kernels_(gpu::kernels_of(mode.services_, call.coding)),
      blocks_(blocks),
      ratio_(ratio),
      my_index_(call.my_index),
      peer_count_(static_cast<int>(call.peers.size())) {}

// ---- Blocks and slots

ConstSlice CapacityMode::Run::input(int b) const noexcept {
  const bool whole = call_.collective == Collective::bcast || call_.collective == Collective::allgather;
  return whole ? call_.in
               : block(call_.in, static_cast<std::size_t>(b), static_cast<std::size_t>(peer_count_));
}

Slice CapacityMode::Run::output(int b) const noexcept {
  if (owns(b) && call_.own_output.data != nullptr) return call_.own_output;
  if (call_.collective == Collective::bcast || call_.collective == Collective::reduce_scatter)
    return call_.out;
  if (call_.collective == Collective::allgather)
    return block(call_.out, static_cast<std::size_t>(rank_of(b)), static_cast<std::size_t>(call_.ranks));
  return block(call_.out, static_cast<std::size_t>(b), static_cast<std::size_t>(peer_count_));
}

std::size_t CapacityMode::Run::max_frame_bytes(std::size_t count, int addends) const noexcept {
  return frame_room(call_.codec->max_bytes(call_.out.type, count, static_cast<std::uint32_t>(addends)));
}

// Returns the size of the slot of a block, a multiple of 64 bytes. The slot holds at least the header and the
// index of a frame. At every ratio it holds a frame of a fixed size.
std::size_t CapacityMode::Run::slot_bytes(int b, int addends) const noexcept {
  constexpr std::size_t min = 256;
  const std::size_t full = max_frame_bytes(count(b), addends);
  if (ratio_ == 0 || call_.codec->contract().fixed_size) return full;
  const double wanted = static_cast<double>(count(b) * size_of(call_.out.type)) / ratio_;
  return std::min(full, frame_room(min + static_cast<std::size_t>(wanted)));
}

bool CapacityMode::Run::owns_any() const noexcept {
  return std::ranges::find(blocks_, my_index_) != blocks_.end();
}

std::byte* CapacityMode::Run::allocate(std::size_t bytes) {
  return memory_.emplace_back(call_.scratch(bytes)).data();
}

// Returns memory for a result that nobody reads: decoding shows all failures.
TAUT_Cuda_result* CapacityMode::Run::unread_result() {
  return reinterpret_cast<TAUT_Cuda_result*>(allocate(sizeof(TAUT_Cuda_result)));
}

// ---- Work on the stream

// `launch` must not throw. Device::enqueue() would wait for the stream after an error, and thus for other
// ranks. Memory of a call is used again in the order of the stream alone.
template <class Launch>
void CapacityMode::Run::enqueue(const Launch& launch) {
  const int code = launch(call_.stream);
  if (code != 0 && call_.captured)
    throw Error(Status::device_failed, std::string("a call cannot be captured: ") + before_capture +
                                           " (CUDA: " + mode_.services_.last_error() + ")");
  if (code == TAUT_ERR_CUDA_NEEDS_HOST) throw Error(Status::internal, "no kernel for a call in slots");
  gpu::check(mode_.services_, code);
}

void CapacityMode::Run::send(const std::byte* from, std::size_t bytes, int to) {
  if (failed_ == success)
    failed_ = mode_.nccl_.Send(from, bytes, uint8, rank_of(to), mode_.comm_, call_.stream);
}

void CapacityMode::Run::receive(std::byte* to, std::size_t bytes, int from) {
  if (failed_ == success)
    failed_ = mode_.nccl_.Recv(to, bytes, uint8, rank_of(from), mode_.comm_, call_.stream);
}

// `messages` must not throw.
template <class Messages>
void CapacityMode::Run::exchange(const Messages& messages) {
  int ended = success;
  enqueue([&](void*) {
    failed_ = mode_.nccl_.GroupStart();
    messages();
    ended = mode_.nccl_.GroupEnd();
    return 0;
  });
  check(failed_, "ncclSend");
  check(ended, "ncclGroupEnd");
}

// Lets kernels tell the host later if one of the results is no success. `frame`: becomes invalid then; null:
// none.
void CapacityMode::Run::note_failures(std::span<const TAUT_Cuda_result> results, std::byte* frame) {
  if (results.empty()) return;
  std::uint32_t* const failure = mode_.late_failure_->word();
  enqueue([&](void* stream) {
    return mode_.services_.note_failures(results.data(), results.size(), failure, frame, stream);
  });
}

void CapacityMode::Run::do_on_node(const NodeWork& work) {
  if (work.blocks.empty()) return;
  exchange([&] {
    if (failed_ == success) failed_ = mode_.transport_.node().enqueue(work, call_.stream);
  });
}

void CapacityMode::Run::encode(std::span<const int> blocks, std::span<std::byte* const> frames) {
  std::vector<ConstSlice> values;
  for (const int b : blocks) values.push_back(input(b));
  encode(values, frames);
}

void CapacityMode::Run::encode(std::span<const ConstSlice> values, std::span<std::byte* const> frames) {
  for (std::size_t first = 0; first < values.size(); first += batch_frames) {
    std::array<gpu::DeviceFrameItem, batch_frames> items;
    const std::size_t n = std::min(values.size() - first, batch_frames);
    for (std::size_t i = 0; i < n; ++i) {
      const ConstSlice own = values[first + i];
      items[i] = {const_cast<void*>(own.data), own.count, frames[first + i], max_frame_bytes(own.count, 1),
                  unread_result()};
    }
    enqueue([&](void* stream) {
      return kernels_.encode(call_.coding, items.data(), static_cast<int>(n), static_cast<int>(call_.in.type),
                             false, stream);
    });
  }
}

// Decodes the frames of some blocks. Of each frame only the bytes of its slot have arrived.
void CapacityMode::Run::decode(std::span<const int> blocks, std::span<std::byte* const> frames) {
  std::vector<gpu::DeviceFrameItem> items;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const int b = blocks[i];
    const Slice values = output(b);
    TAUT_Cuda_result* const result =
        call_.fixed ? nullptr : &call_.block_results()[static_cast<std::size_t>(b)];
    items.push_back({values.data, values.count, frames[i], slot_bytes(b, shared_addends()), result});
  }
  if (call_.fixed)
    note_failures(decode_apart(items), nullptr);
  else
    decode(items);
}

void CapacityMode::Run::decode(std::span<const gpu::DeviceFrameItem> items) {
  for (std::size_t first = 0; first < items.size(); first += batch_frames) {
    const auto some = items.subspan(first, std::min(items.size() - first, batch_frames));
    enqueue([&](void* stream) {
      return kernels_.decode(call_.coding, some.data(), static_cast<int>(some.size()),
                             static_cast<int>(call_.out.type), false, stream);
    });
  }
}

// Decodes frames, and returns where their results are, in memory of the device.
std::span<const TAUT_Cuda_result> CapacityMode::Run::decode_apart(std::span<gpu::DeviceFrameItem> items) {
  if (items.empty()) return {};
  auto* const results =
      reinterpret_cast<TAUT_Cuda_result*>(allocate(items.size() * sizeof(TAUT_Cuda_result)));
  for (std::size_t i = 0; i < items.size(); ++i) items[i].result = &results[i];
  decode(items);
  return {results, items.size()};
}

// Adds the frames of this rank's block, up to 8 at once. `own_frame_` becomes the frame of the sum. Its
// header is cleared before, so that no valid frame is there if the kernel cannot add.
void CapacityMode::Run::add_up(std::vector<const void*> frames) {
  const std::size_t room = max_frame_bytes(count(my_index_), peer_count_);
  std::vector<std::size_t> sizes(frames.size(), slot_bytes(my_index_, 1));
  while (frames.size() > 1) {
    const std::size_t n = std::min(frames.size(), batch_frames);
    std::byte* const sum = allocate(room);
    TAUT_Cuda_result* const result = unread_result();
    enqueue([&](void* stream) {
      static constexpr std::byte no_header[frame_header_bytes] = {};
      return mode_.services_.copy_on(sum, no_header, frame_header_bytes, stream);
    });
    enqueue([&](void* stream) {
      return kernels_.sum(frames.data(), sizes.data(), static_cast<int>(n), count(my_index_),
                          static_cast<int>(call_.out.type), sum, room, result, false, stream);
    });
    frames.erase(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(n));
    sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(n));
    frames.insert(frames.begin(), sum);
    sizes.insert(sizes.begin(), room);
  }
  own_frame_ = static_cast<std::byte*>(const_cast<void*>(frames[0]));
}

// ---- Parts of a call

// Leaves the frame of the sum with the owner of each block. The kernel reads the owner's frame as truncated
// at the size of a slot, like the frames of the others.
void CapacityMode::Run::reduce() {
  std::vector<std::byte*> frames;
  for (const int b : blocks_) frames.push_back(allocate(max_frame_bytes(input(b).count, 1)));
  encode(blocks_, frames);
  std::vector<std::byte*> addends;  // of the own block; first the own frame
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    if (owns(blocks_[i])) addends.push_back(frames[i]);
  for (int d = 1; owns_any() && d < peer_count_; ++d) addends.push_back(allocate(slot_bytes(my_index_, 1)));
  exchange([&] {
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      if (!owns(blocks_[i])) send(frames[i], slot_bytes(blocks_[i], 1), blocks_[i]);
    for (int d = 1; d < static_cast<int>(addends.size()); ++d)
      receive(addends[static_cast<std::size_t>(d)], slot_bytes(my_index_, 1), (my_index_ + d) % peer_count_);
  });
  if (owns_any()) add_up({addends.begin(), addends.end()});
}

// Sends each peer the frame of this rank's values of that peer's block. Returns, by peer, the frames received
// for this rank's block; null for this rank.
std::vector<std::byte*> CapacityMode::Run::exchange_operands() {
  const Slice sums = keeps_residual() ? add_residual() : Slice{};
  const ConstSlice from = keeps_residual() ? ConstSlice(sums) : call_.in;
  std::vector<int> others;
  std::vector<ConstSlice> values;
  std::vector<std::byte*> sent, received(static_cast<std::size_t>(peer_count_));
  for (int r = 0; r < peer_count_; ++r) {
    if (r == my_index_) continue;
    others.push_back(r);
    values.push_back(block(from, static_cast<std::size_t>(r), static_cast<std::size_t>(peer_count_)));
    sent.push_back(allocate(slot_bytes(r, 1)));
    received[static_cast<std::size_t>(r)] = allocate(slot_bytes(my_index_, 1));
  }
  encode(values, sent);
  exchange([&] {
    for (std::size_t i = 0; i < others.size(); ++i) {
      send(sent[i], slot_bytes(others[i], 1), others[i]);
      receive(received[static_cast<std::size_t>(others[i])], slot_bytes(my_index_, 1), others[i]);
    }
  });
  if (keeps_residual()) subtract_sent(sums, others, sent);
  return received;
}

// Writes the reduction of all ranks' values of the own block to its output.
void CapacityMode::Run::combine(const std::vector<std::byte*>& frames) {
  const auto P = static_cast<std::size_t>(peer_count_), me = static_cast<std::size_t>(my_index_);
  const Slice own = output(my_index_);
  std::byte* const operands = allocate(P * own.bytes());
  std::vector<gpu::DeviceFrameItem> items;
  for (std::size_t r = 0; r < P; ++r)
    if (r != me)
      items.push_back({operands + r * own.bytes(), own.count, frames[r], slot_bytes(my_index_, 1), nullptr});
  operand_results_ = decode_apart(items);
  enqueue([&](void* stream) {
    return mode_.services_.copy_on(operands + me * own.bytes(), input(my_index_).data, own.bytes(), stream);
  });
  if (keeps_residual()) return sum_with_residual(operands, P, own, own_range(), call_.mean ? call_.ranks : 1);
  enqueue([&](void* stream) {
    return mode_.services_.reduce_widely(operands, P, own.data, own.count, static_cast<int>(own.type),
                                         static_cast<int>(call_.op), 1, stream);
  });
}

void CapacityMode::Run::reduce_values() {
  combine(exchange_operands());
  if (call_.collective == Collective::allreduce) {
    own_frame_ = allocate(max_frame_bytes(count(my_index_), 1));
    const ConstSlice own = output(my_index_);
    encode(std::span(&own, 1), std::span(&own_frame_, 1));
    note_failures(operand_results_, own_frame_);
    share();
  } else {
    note_failures(operand_results_, nullptr);
  }
  if (keeps_residual()) return subtract(output(my_index_), own_range());
  if (!call_.mean) return;
  enqueue([&](void* stream) {
    return mode_.services_.divide_values(call_.out.data, call_.out.count, static_cast<int>(call_.out.type),
                                         call_.ranks, stream);
  });
}

// ---- Error feedback. The residual of a range of the values is the sum to be encoded, until what a decoder
// makes of its frame is subtracted.

Range CapacityMode::Run::own_range() const noexcept {
  return part_range(call_.in.count, static_cast<std::size_t>(my_index_),
                    static_cast<std::size_t>(peer_count_));
}

// Returns the values before and behind the own block.
std::array<Range, 2> CapacityMode::Run::ranges_of_others() const noexcept {
  const Range own = own_range();
  const std::size_t end = own.first + own.count;
  return {Range{0, own.first}, Range{end, call_.in.count - end}};
}

// Returns the values of other ranks' blocks with their residuals added.
Slice CapacityMode::Run::add_residual() {
  const Slice sums{{allocate(call_.in.bytes()), call_.in.count, call_.in.type}};
  for (const Range range : ranges_of_others())
    sum_with_residual(call_.in.part(range.first, range.count).data, 1, {sums.part(range.first, range.count)},
                      range, 1);
  return sums;
}

// Subtracts what other ranks decode from the sums that this rank has sent. Their memory is used for that.
void CapacityMode::Run::subtract_sent(Slice sums, std::span<const int> others,
                                      std::span<std::byte* const> frames) {
  std::vector<gpu::DeviceFrameItem> items;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const auto r = static_cast<std::size_t>(others[i]);
    const Slice values = block(sums, r, static_cast<std::size_t>(peer_count_));
    items.push_back({values.data, values.count, frames[i], slot_bytes(others[i], 1), unread_result()});
  }
  decode(items);
  for (const Range range : ranges_of_others()) subtract(Slice{sums.part(range.first, range.count)}, range);
}

// Enqueues result <- (operand 0 + operand 1 + ...) / divisor + residual of the range.
void CapacityMode::Run::sum_with_residual(const void* operands, std::size_t n, Slice result, Range range,
                                          int divisor) {
  enqueue([&](void* stream) {
    return mode_.services_.sum_with_residual(operands, n, result.data, residual(range), range.count,
                                             static_cast<int>(result.type), divisor, stream);
  });
}

void CapacityMode::Run::subtract(ConstSlice decoded, Range range) {
  enqueue([&](void* stream) {
    return mode_.services_.subtract_from_residual(residual(range), decoded.data, range.count,
                                                  static_cast<int>(decoded.type), stream);
  });
}

void CapacityMode::Run::encode_own() {
  if (!owns_any()) return;
  own_frame_ = allocate(max_frame_bytes(input(my_index_).count, 1));
  encode(std::span(&my_index_, 1), std::span(&own_frame_, 1));
}

void CapacityMode::Run::share() {
  std::vector<std::byte*> frames, decoded_frames;
  std::vector<int> decoded;
  for (const int b : blocks_) {
    frames.push_back(owns(b) ? own_frame_ : allocate(slot_bytes(b, shared_addends())));
    if (keeps_input(b)) continue;
    decoded.push_back(b);
    decoded_frames.push_back(frames.back());
  }
  exchange([&] {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const int b = blocks_[i];
      if (!owns(b)) receive(frames[i], slot_bytes(b, shared_addends()), b);
      for (int d = 1; owns(b) && d < peer_count_; ++d)
        send(own_frame_, slot_bytes(b, shared_addends()), (my_index_ + d) % peer_count_);
    }
  });
  decode(decoded, decoded_frames);
}

void CapacityMode::Run::decode_own() {
  if (owns_any()) decode(std::span(&my_index_, 1), std::span(&own_frame_, 1));
}

}  // namespace taut::nccl
