#include "gpu/frame_codec.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/device_memory.hpp"
#include "gpu/staging_codec.hpp"

namespace taut::gpu {
namespace {

constexpr std::size_t frame_alignment = 16;

bool aligned(const void* at, std::size_t to) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) % to == 0;
}

// Returns true if the host has the values, or there are none.
bool on_host(ConstSlice values) noexcept { return values.count == 0 || !on_device(values.data); }

// Returns the outcome of action(), or that of the Error that the action throws.
template <class Action>
std::optional<Sized> attempt(const Action& action) noexcept {
  std::optional<Sized> outcome;
  const Status status = guarded([&] {
    outcome = action();
    return Status::ok;
  });
  return status == Status::ok ? outcome : Sized{status};
}

FrameHeader header_of(ConstBytes frame) noexcept {
  FrameHeader header;
  return read_header(frame, header) == Status::ok ? header : FrameHeader{};
}

bool has_lags(const FrameHeader& header) noexcept { return header.parameters[1] > 0; }

}  // namespace

// ---- Parts that use kernels

// Room for a frame that kernels write: the memory of `out`, on the host or on the GPU, if its address suits
// them, otherwise memory aside.
class FrameCodec::Room {
 public:
  Room(Device& device, Bytes out, std::size_t most) : device_(&device), out_(out) {
    const std::size_t bytes = std::min(most, out.size());
    std::byte* const there = device.frames_there().there(out.data());
    to_ = there != nullptr ? there : out.data();
    Place& aside = there != nullptr ? static_cast<Place&>(device.memory()) : device.pinned();
    if (!aligned(to_, frame_alignment)) aside_ = aside.scratch(bytes);
    frame_ = {aside_.data() != nullptr ? aside_.data() : to_, bytes};
  }

  Bytes frame() const noexcept { return frame_; }

  // Moves the frame that was made to the memory of `out`, and its header to the host.
  Sized moved(Sized made) const noexcept {
    if (made.status != Status::ok) return made;
    const bool on_host = to_ == out_.data();
    if (frame_.data() != to_ && on_host) std::memcpy(to_, frame_.data(), made.bytes);
    if (frame_.data() != to_ && !on_host) made.status = device_->copy(to_, frame_.data(), made.bytes);
    if (made.status == Status::ok) made.status = device_->frames_there().fetch_header(out_.first(made.bytes));
    return made;
  }

 private:
  Device* device_;
  Bytes out_, frame_;
  std::byte* to_;
  Buffer aside_;
};

// Runs launch(frame, result, stream), which writes a frame of at most `most` bytes.
template <class Launch>
FrameCodec::Outcome FrameCodec::write_frame(Bytes out, std::size_t most, const Launch& launch) const {
  const Room room(device_, out, most);
  const Outcome made = device_.run(
      [&](TAUT_Cuda_result* result, void* stream) { return launch(room.frame(), result, stream); });
  return made ? room.moved(*made) : made;
}

FrameCodec::Outcome FrameCodec::encode_there(ConstSlice values, Bytes out) const {
  if (!suits_kernels(values) || !encoder_) return {};
  const std::size_t most = max_bytes(values.type, values.count, 1);
  if (out.size() < most) return Sized{Status::buffer_too_small};
  return write_frame(out, most, [&](Bytes frame, TAUT_Cuda_result* result, void* stream) {
    return (*encoder_)(device_.services(), values, frame, result, stream);
  });
}

std::size_t FrameCodec::most_bytes(const FrameHeader& header, std::uint32_t addends) const noexcept {
  return max_bytes(header.type, static_cast<std::size_t>(header.count), addends);
}

// Returns a frame in memory of the GPU, suitably aligned: where it is, or a copy that is enqueued.
Buffer FrameCodec::frame_there(ConstBytes frame) const {
  std::byte* const at = device_.frames_there().there(frame.data());
  if (at != nullptr && aligned(at, frame_alignment)) return Buffer(&values_, at, frame.size());
  Buffer there = device_.memory().scratch(frame.size());
  const Status status = device_.copy(there.data(), at != nullptr ? at : frame.data(), frame.size());
  if (status != Status::ok) throw Error(status, describe(status));
  return there;
}

FrameCodec::Outcome FrameCodec::decode_there(ConstBytes in, Slice values, bool add) const {
  const FrameHeader header = header_of(in);
  const auto decode =
      add ? api::decoding_adder_of(device_.services(), header) : api::decoder_of(device_.services(), header);
  if (!suits_kernels(values) || (decode == nullptr && (add || !encoder_))) return {};
  const Buffer frame = frame_there(in);
  return device_.run([&](TAUT_Cuda_result* result, void* stream) {
    if (decode == nullptr)
      return encoder_->decode(device_.services(), frame.bytes().first(in.size()), values, result, stream);
    return decode(frame.data(), in.size(), values.data, values.count, static_cast<int>(values.type), result,
                  stream);
  });
}

// Adds frames in memory of the GPU. `header`: that of the first; `addends`: those of the sum.
FrameCodec::Outcome FrameCodec::add_there(std::span<const ConstBytes> frames, const FrameHeader& header,
                                          std::uint32_t addends, Bytes out) const {
  const auto add = api::adder_of(device_.services(), header);
  if (add == nullptr || frames.size() > max_operands) return {};
  std::array<const void*, max_operands> at{};
  std::array<std::size_t, max_operands> bytes{};
  for (std::size_t i = 0; i < frames.size(); ++i) {
    at[i] = frames[i].data();
    bytes[i] = frames[i].size();
  }
  return write_frame(out, most_bytes(header, addends),
                     [&](Bytes sum, TAUT_Cuda_result* result, void* stream) {
                       return add(at.data(), bytes.data(), static_cast<int>(frames.size()), header.count,
                                  static_cast<int>(header.type), sum.data(), sum.size(), result, stream);
                     });
}

FrameCodec::Outcome FrameCodec::sum_there(std::span<const ConstBytes> frames, Bytes out) const {
  if (frames.size() > max_operands) return {};
  std::array<Buffer, max_operands> memory;
  std::array<ConstBytes, max_operands> there;
  std::uint32_t addends = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    memory[i] = frame_there(frames[i]);
    there[i] = memory[i].bytes().first(frames[i].size());
    addends += header_of(frames[i]).addends;
  }
  return add_there(std::span(there).first(frames.size()), header_of(frames[0]), addends, out);
}

// A frame with lags is added to a frame of the values, as the kernel that does both has no lags.
FrameCodec::Outcome FrameCodec::accumulate_there(ConstBytes frame, ConstSlice values, Bytes out) const {
  const FrameHeader header = header_of(frame);
  const TAUT_Cuda_coding* const coding = encoder_ ? encoder_->planes_coding() : nullptr;
  if (!suits_kernels(values) || coding == nullptr) return {};
  if (has_lags(header)) {
    const Buffer there = frame_there(frame);
    const Buffer own = device_.memory().scratch(max_bytes(values.type, values.count, 1));
    const Outcome made = encode_there(values, own.bytes());
    if (!made || made->status != Status::ok) return made;
    return add_there(
        std::array{ConstBytes(there.bytes().first(frame.size())), ConstBytes(own.bytes().first(made->bytes))},
        header, header.addends + 1, out);
  }
  const Buffer there = frame_there(frame);
  return write_frame(out, most_bytes(header, header.addends + 1),
                     [&](Bytes sum, TAUT_Cuda_result* result, void* stream) {
                       return device_.services().accumulate(there.data(), frame.size(), values.data,
                                                            values.count, static_cast<int>(values.type),
                                                            coding, sum.data(), sum.size(), result, stream);
                     });
}

// ---- Codec

Sized FrameCodec::encode(ConstSlice values, Bytes out) const noexcept {
  if (on_host(values)) return host_->encode(values, out);
  if (const Outcome done = attempt([&] { return encode_there(values, out); })) return *done;
  Sized made;
  made.status =
      values_.on_copy(values, [&](ConstSlice copy) { return (made = host_->encode(copy, out)).status; });
  return made;
}

Status FrameCodec::decode(ConstBytes in, Slice values) const noexcept {
  if (on_host(values)) return host_->decode(in, values);
  if (const Outcome done = attempt([&] { return decode_there(in, values, false); })) return done->status;
  return guarded([&] {
    const Buffer memory = device_.pinned().scratch(values.bytes());
    const Status status = host_->decode(in, {{memory.data(), values.count, values.type}});
    return status == Status::ok ? values_.copy(values.as_bytes().data(), memory.data(), values.bytes())
                                : status;
  });
}

Status FrameCodec::reduce(ConstBytes in, Slice values, Reduction op) const noexcept {
  if (on_host(values)) return host_->reduce(in, values, op);
  if (op == Reduction::sum)
    if (const Outcome done = attempt([&] { return decode_there(in, values, true); })) return done->status;
  return guarded([&] {
    const Buffer memory = values_.scratch(values.bytes());
    const Slice decoded{{memory.data(), values.count, values.type}};
    const Status status = decode(in, decoded);
    return status == Status::ok ? values_.reduce(values, decoded, op) : status;
  });
}

Sized FrameCodec::sum(std::span<const ConstBytes> frames, Bytes out) const noexcept {
  if (const Outcome done = attempt([&] { return sum_there(frames, out); })) return *done;
  return host_->arithmetic()->sum(frames, out);
}

Sized FrameCodec::accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept {
  if (on_host(values)) return host_->arithmetic()->accumulate(frame, values, out);
  if (const Outcome done = attempt([&] { return accumulate_there(frame, values, out); })) return *done;
  Sized made;
  made.status = values_.on_copy(values, [&](ConstSlice copy) {
    return (made = host_->arithmetic()->accumulate(frame, copy, out)).status;
  });
  return made;
}

// ---- Choice

std::shared_ptr<const Codec> codec_on_device(std::shared_ptr<const Codec> host, const Candidate& candidate,
                                             const Coding& coding, Bound bound, DeviceValues& values) {
  const auto encoder = api::DeviceEncoder::of(candidate, coding, bound);
  if (!encoder) return nullptr;
  Device& device = values.device();
  if (device.keeps_frames()) host = std::make_shared<StagingCodec>(std::move(host), device.frames_there());
  return std::make_shared<FrameCodec>(std::move(host), encoder, values);
}

}  // namespace taut::gpu
