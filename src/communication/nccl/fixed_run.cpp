#include "communication/nccl/fixed_run.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "communication/team/frames.hpp"
#include "compressor/gpu/device_kernels.hpp"

namespace taut::nccl {
namespace {

constexpr std::size_t at_a_time = 8;  // frames that one call of libtaut_cuda encodes, decodes or adds

}  // namespace

FixedFrames::Run::Run(FixedFrames& frames, Call& call, std::span<const int> blocks, double ratio)
    : frames_(frames),
      call_(call),
      kernels_(api::kernels_of(frames.services_, call.coding)),
      blocks_(blocks),
      ratio_(ratio),
      me_(frames.transport_.rank()),
      ranks_(frames.transport_.size()) {}

// ---- Blocks and rooms

ConstSlice FixedFrames::Run::in(int b) const noexcept {
  const bool whole = call_.collective == Collective::bcast || call_.collective == Collective::allgather;
  if (whole) return call_.in;
  return block(call_.in, static_cast<std::size_t>(b), static_cast<std::size_t>(ranks_));
}

Slice FixedFrames::Run::out(int b) const noexcept {
  const bool whole = call_.collective == Collective::bcast || call_.collective == Collective::reduce_scatter;
  if (whole) return call_.out;
  return block(call_.out, static_cast<std::size_t>(b), static_cast<std::size_t>(ranks_));
}

std::size_t FixedFrames::Run::full_room(std::size_t count, int addends) const noexcept {
  return frame_room(call_.codec->max_bytes(call_.out.type, count, static_cast<std::uint32_t>(addends)));
}

// Returns the bytes of a frame that travel, a multiple of 64, with room for the header and the index.
std::size_t FixedFrames::Run::sent_bytes(int b, int addends) const noexcept {
  constexpr std::size_t least = 256;
  const std::size_t full = full_room(count(b), addends);
  if (ratio_ == 0) return full;
  const double wanted = static_cast<double>(count(b) * size_of(call_.out.type)) / ratio_;
  return std::min(full, frame_room(least + static_cast<std::size_t>(wanted)));
}

// Returns true if the own block is the input of a call in place, which stays as it is.
bool FixedFrames::Run::stays(int b) const noexcept {
  return !sums() && !call_.same_bits && owns(b) && in(b).data == out(b).data;
}

bool FixedFrames::Run::owns_any() const noexcept { return std::ranges::find(blocks_, me_) != blocks_.end(); }

std::byte* FixedFrames::Run::take(std::size_t bytes) {
  return memory_.emplace_back(call_.device->plain().scratch(bytes)).data();
}

// Returns a result that nobody reads: decoding shows all failures.
TAUT_Cuda_result* FixedFrames::Run::ignored() {
  return reinterpret_cast<TAUT_Cuda_result*>(take(sizeof(TAUT_Cuda_result)));
}

// ---- Work on the stream

// `launch` must not throw.
template <class Launch>
void FixedFrames::Run::enqueue(const Launch& launch) {
  const auto status = call_.device->enqueue(launch);
  if (!status) throw Error(Status::internal, "no kernel for frames of a fixed size");
  if (*status != Status::ok) throw Error(*status, std::string("CUDA: ") + frames_.services_.why());
}

void FixedFrames::Run::send(const std::byte* from, std::size_t bytes, int to) {
  if (failed_ == success) failed_ = frames_.nccl_.Send(from, bytes, uint8, to, frames_.comm_, call_.stream);
}

void FixedFrames::Run::receive(std::byte* to, std::size_t bytes, int from) {
  if (failed_ == success) failed_ = frames_.nccl_.Recv(to, bytes, uint8, from, frames_.comm_, call_.stream);
}

// `messages` must not throw.
template <class Messages>
void FixedFrames::Run::exchange(const Messages& messages) {
  int ended = success;
  enqueue([&](void*) {
    failed_ = frames_.nccl_.GroupStart();
    messages();
    ended = frames_.nccl_.GroupEnd();
    return 0;
  });
  check(failed_, "ncclSend");
  check(ended, "ncclGroupEnd");
}

void FixedFrames::Run::encode(std::span<const int> blocks, std::span<std::byte* const> frames) {
  for (std::size_t first = 0; first < blocks.size(); first += at_a_time) {
    std::array<api::DeviceFrameItem, at_a_time> items;
    const std::size_t n = std::min(blocks.size() - first, at_a_time);
    for (std::size_t i = 0; i < n; ++i) {
      const ConstSlice values = in(blocks[first + i]);
      items[i] = {const_cast<void*>(values.data), values.count, frames[first + i], full_room(values.count, 1),
                  ignored()};
    }
    enqueue([&](void* stream) {
      return kernels_.encode(call_.coding, items.data(), static_cast<int>(n), static_cast<int>(call_.in.type),
                             true, stream);
    });
  }
}

// Decodes frames of these blocks, of which as many bytes are there as travel.
void FixedFrames::Run::decode(std::span<const int> blocks, std::span<std::byte* const> frames) {
  const auto results = call_.outcomes(static_cast<std::size_t>(ranks_));
  for (std::size_t first = 0; first < blocks.size(); first += at_a_time) {
    std::array<api::DeviceFrameItem, at_a_time> items;
    const std::size_t n = std::min(blocks.size() - first, at_a_time);
    for (std::size_t i = 0; i < n; ++i) {
      const int b = blocks[first + i];
      const Slice values = out(b);
      items[i] = {values.data, values.count, frames[first + i], sent_bytes(b, sums() ? ranks_ : 1),
                  &results[static_cast<std::size_t>(b)]};
    }
    enqueue([&](void* stream) {
      return kernels_.decode(call_.coding, items.data(), static_cast<int>(n),
                             static_cast<int>(call_.out.type), false, stream);
    });
  }
}

// Adds frames of the own block, up to 8 at once; `mine_` becomes the frame of the sum. Where there is no sum,
// the memory holds no frame: its header is cleared before.
void FixedFrames::Run::add_up(std::vector<const void*> frames) {
  const std::size_t room = full_room(count(me_), ranks_);
  std::vector<std::size_t> sizes(frames.size(), sent_bytes(me_, 1));
  while (frames.size() > 1) {
    const std::size_t n = std::min(frames.size(), at_a_time);
    std::byte* const sum = take(room);
    TAUT_Cuda_result* const result = ignored();
    enqueue([&](void* stream) {
      static constexpr std::byte no_header[frame_header_bytes] = {};
      return frames_.services_.copy_on(sum, no_header, frame_header_bytes, stream);
    });
    enqueue([&](void* stream) {
      return kernels_.sum(frames.data(), sizes.data(), static_cast<int>(n), count(me_),
                          static_cast<int>(call_.out.type), sum, room, result, stream);
    });
    frames.erase(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(n));
    sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(n));
    frames.insert(frames.begin(), sum);
    sizes.insert(sizes.begin(), room);
  }
  mine_ = static_cast<std::byte*>(const_cast<void*>(frames[0]));
}

// ---- Parts of a call

// The owner of a block ends with the frame of the sum. Its own frame counts as cut off where those of others
// would be.
void FixedFrames::Run::reduce() {
  std::vector<std::byte*> frames;
  for (const int b : blocks_) frames.push_back(take(full_room(in(b).count, 1)));
  encode(blocks_, frames);
  std::vector<std::byte*> addends;  // of the own block; first the own frame
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    if (owns(blocks_[i])) addends.push_back(frames[i]);
  for (int d = 1; owns_any() && d < ranks_; ++d) addends.push_back(take(sent_bytes(me_, 1)));
  exchange([&] {
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      if (!owns(blocks_[i])) send(frames[i], sent_bytes(blocks_[i], 1), blocks_[i]);
    for (int d = 1; d < static_cast<int>(addends.size()); ++d)
      receive(addends[static_cast<std::size_t>(d)], sent_bytes(me_, 1), (me_ + d) % ranks_);
  });
  if (owns_any()) add_up({addends.begin(), addends.end()});
}

void FixedFrames::Run::encode_own() {
  if (!owns_any()) return;
  mine_ = take(full_room(in(me_).count, 1));
  encode(std::span(&me_, 1), std::span(&mine_, 1));
}

void FixedFrames::Run::share() {
  const int addends = sums() ? ranks_ : 1;
  std::vector<std::byte*> frames, decoded_frames;
  std::vector<int> decoded;
  for (const int b : blocks_) {
    frames.push_back(owns(b) ? mine_ : take(sent_bytes(b, addends)));
    if (stays(b)) continue;
    decoded.push_back(b);
    decoded_frames.push_back(frames.back());
  }
  exchange([&] {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const int b = blocks_[i];
      if (!owns(b)) receive(frames[i], sent_bytes(b, addends), b);
      for (int d = 1; owns(b) && d < ranks_; ++d) send(mine_, sent_bytes(b, addends), (me_ + d) % ranks_);
    }
  });
  decode(decoded, decoded_frames);
}

void FixedFrames::Run::decode_own() {
  if (owns_any()) decode(std::span(&me_, 1), std::span(&mine_, 1));
}

}  // namespace taut::nccl
