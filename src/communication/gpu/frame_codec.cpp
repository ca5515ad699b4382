#include "communication/gpu/frame_codec.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "communication/gpu/staging_codec.hpp"
#include "compressor/base/device_memory.hpp"

namespace taut::gpu {
namespace {

constexpr std::size_t frame_alignment = 16;
constexpr std::size_t most_together = CodecOperations::max_batch;

bool aligned(const void* at, std::size_t to) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) % to == 0;
}

// Returns true if the host has the values, or there are none.
bool on_host(ConstSlice values) noexcept { return values.count == 0 || !on_device(values.data); }

FrameHeader header_of(ConstBytes frame) noexcept {
  FrameHeader header;
  return read_header(frame, header) == Status::ok ? header : FrameHeader{};
}

bool has_lags(const FrameHeader& header) noexcept { return header.parameters[1] > 0; }

}  // namespace

// ---- Parts of operations

// Room for a frame that kernels write: the memory of `out`, on the host or on the GPU, if its address suits
// them, otherwise memory aside.
class FrameCodec::Room {
 public:
  Room() = default;
  Room(Device& device, Bytes out, std::size_t most) : device_(&device), out_(out) {
    const std::size_t bytes = std::min(most, out.size());
    std::byte* const there = device.frames_there().device_address(out.data());
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
  Device* device_ = nullptr;
  Bytes out_, frame_;
  std::byte* to_ = nullptr;
  Buffer aside_;
};

// Returns true if operations of this call may use the second stream, which follows the user's stream from the
// first operation on.
bool FrameCodec::overlaps() const {
  if (overlap_ && !forked_) overlap_ = forked_ = device_.fork();
  return overlap_;
}

std::size_t FrameCodec::most_bytes(const FrameHeader& header, std::uint32_t addends) const noexcept {
  return max_bytes(header.type, static_cast<std::size_t>(header.count), addends);
}

// Returns a frame in memory of the GPU, suitably aligned: where it is, or a copy that is enqueued.
Buffer FrameCodec::frame_there(Kernels& kernels, ConstBytes frame) const {
  std::byte* const at = device_.frames_there().device_address(frame.data());
  if (at != nullptr && aligned(at, frame_alignment)) return Buffer(&values_, at, frame.size());
  Buffer there = device_.memory().scratch(frame.size());
  const Status status = kernels.copy(there.data(), at != nullptr ? at : frame.data(), frame.size());
  if (status != Status::ok) throw Error(status, describe(status));
  return there;
}

// ---- Encoding

// Launches the encoders of the items that have a frame: together if kernels of this coding can do that.
void FrameCodec::launch_encoders(Kernels& kernels, std::span<const EncodeItem> items,
                                 std::span<const Bytes> frames) const {
  const TAUT_Cuda_coding* const coding = encoder_ && items.size() > 1 ? encoder_->batched_coding() : nullptr;
  std::array<api::DeviceFrameItem, most_together> together;
  std::array<std::size_t, most_together> results;
  std::size_t n = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (frames[i].empty()) continue;
    const ConstSlice values = items[i].values;
    if (coding == nullptr) {
      kernels.run(i, [&](TAUT_Cuda_result* result, void* stream) {
        return (*encoder_)(device_.services(), values, frames[i], result, stream);
      });
    } else {
      results[n] = i;
      together[n++] = {const_cast<void*>(values.data), values.count, frames[i].data(), frames[i].size(),
                       kernels.at(i)};
    }
  }
  if (n == 0) return;
  kernels.run(std::span(results).first(n), [&](void* stream) {
    return device_.services().encode_many(together.data(), static_cast<int>(n),
                                          static_cast<int>(items[0].values.type), coding, stream);
  });
}

Task<Sized> FrameCodec::encode_there(std::span<EncodeItem> items) const {
  std::array<Room, most_together> rooms;
  std::array<Bytes, most_together> frames;
  Kernels kernels = this->kernels(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& [values, out, made] = items[i];
    const std::size_t most = max_bytes(values.type, values.count, 1);
    if (!encoder_ || on_host(values) || !suits_kernels(values) || out.size() < most) continue;
    rooms[i] = Room(device_, out, most);
    frames[i] = rooms[i].frame();
  }
  launch_encoders(kernels, items, frames);
  co_await kernels;
  for (std::size_t i = 0; i < items.size(); ++i) {
    EncodeItem& item = items[i];
    const Outcome made = kernels.outcome(i);
    item.made = made ? rooms[i].moved(*made) : encode_here(item.values, item.out);
  }
  co_return Sized{};
}

Sized FrameCodec::encode_here(ConstSlice values, Bytes out) const noexcept {
  if (on_host(values)) return host_->encode(values, out);
  Sized made;
  made.status =
      values_.on_copy(values, [&](ConstSlice copy) { return (made = host_->encode(copy, out)).status; });
  return made;
}

// ---- Decoding

// Returns true if kernels may decode frames with this header.
bool FrameCodec::has_decoder(const FrameHeader& header) const {
  return encoder_ || api::decoder_of(device_.services(), header) != nullptr;
}

// Launches the decoders of the items that have a frame on the GPU: together if kernels can do that.
void FrameCodec::launch_decoders(Kernels& kernels, std::span<const DecodeItem> items,
                                 std::span<const Buffer> frames) const {
  const api::DeviceServices& services = device_.services();
  std::array<api::DeviceFrameItem, most_together> together;
  std::array<std::size_t, most_together> results;
  std::size_t n = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (frames[i].data() == nullptr) continue;
    const auto& [in, values, status] = items[i];
    const auto decoder = api::decoder_of(services, header_of(in));
    const ConstBytes frame = frames[i].bytes().first(in.size());
    if (decoder == services.decode && items.size() > 1 && values.type == items[0].values.type) {
      results[n] = i;
      together[n++] = {values.data, values.count, frames[i].data(), in.size(), kernels.at(i)};
      continue;
    }
    kernels.run(i, [&](TAUT_Cuda_result* result, void* stream) {
      if (decoder == nullptr) return encoder_->decode(services, frame, values, result, stream);
      return decoder(frame.data(), frame.size(), values.data, values.count, static_cast<int>(values.type),
                     result, stream);
    });
  }
  if (n == 0) return;
  kernels.run(std::span(results).first(n), [&](void* stream) {
    return services.decode_many(together.data(), static_cast<int>(n), static_cast<int>(items[0].values.type),
                                0, stream);
  });
}

Task<Sized> FrameCodec::decode_there(std::span<DecodeItem> items) const {
  std::array<Buffer, most_together> frames;
  Kernels kernels = this->kernels(items.size());
  for (std::size_t i = 0; i < items.size(); ++i)
    if (const auto& [in, values, status] = items[i];
        !on_host(values) && suits_kernels(values) && has_decoder(header_of(in)))
      frames[i] = frame_there(kernels, in);
  launch_decoders(kernels, items, frames);
  co_await kernels;
  for (std::size_t i = 0; i < items.size(); ++i) {
    DecodeItem& item = items[i];
    const Outcome done = kernels.outcome(i);
    item.status = done ? done->status : decode_here(item.in, item.values);
  }
  co_return Sized{};
}

Status FrameCodec::decode_here(ConstBytes in, Slice values) const noexcept {
  if (on_host(values)) return host_->decode(in, values);
  return guarded([&] {
    const Buffer memory = device_.pinned().scratch(values.bytes());
    const Status status = host_->decode(in, {{memory.data(), values.count, values.type}});
    return status == Status::ok ? values_.copy(values.as_bytes().data(), memory.data(), values.bytes())
                                : status;
  });
}

// A sum is fused with decoding if kernels can do that.
Task<Sized> FrameCodec::reduce_there(ConstBytes in, Slice values, Reduction op) const {
  const auto adder =
      op == Reduction::sum ? api::decoding_adder_of(device_.services(), header_of(in)) : nullptr;
  if (adder != nullptr && suits_kernels(values)) {
    Buffer frame;
    Kernels kernels = this->kernels(1);
    frame = frame_there(kernels, in);
    kernels.run(0, [&](TAUT_Cuda_result* result, void* stream) {
      return adder(frame.data(), in.size(), values.data, values.count, static_cast<int>(values.type), result,
                   stream);
    });
    co_await kernels;
    if (const Outcome done = kernels.outcome(0)) co_return Sized{done->status};
  }
  const Buffer memory = values_.scratch(values.bytes());
  DecodeItem decoded{in, {{memory.data(), values.count, values.type}}};
  const Sized outcome = co_await decode_there({&decoded, 1});
  const Status status = outcome.status != Status::ok ? outcome.status : decoded.status;
  co_return Sized{status == Status::ok ? values_.reduce(values, decoded.values, op) : status};
}

// ---- Sums

// Launches the sum of frames in memory of the GPU, if kernels can add them. `header`: that of the sum, but
// for the size.
void FrameCodec::add(Kernels& kernels, std::span<const ConstBytes> frames, const FrameHeader& header,
                     Bytes out) const {
  const auto adder = api::adder_of(device_.services(), header);
  if (adder == nullptr) return;
  std::array<const void*, max_operands> at{};
  std::array<std::size_t, max_operands> bytes{};
  for (std::size_t i = 0; i < frames.size(); ++i) {
    at[i] = frames[i].data();
    bytes[i] = frames[i].size();
  }
  kernels.run(0, [&](TAUT_Cuda_result* result, void* stream) {
    return adder(at.data(), bytes.data(), static_cast<int>(frames.size()), header.count,
                 static_cast<int>(header.type), out.data(), out.size(), result, stream);
  });
}

Task<Sized> FrameCodec::sum_there(std::span<const ConstBytes> frames, Bytes out) const {
  std::array<Buffer, max_operands> memory;
  std::array<ConstBytes, max_operands> there;
  FrameHeader header = header_of(frames[0]);
  header.addends = 0;
  for (const ConstBytes frame : frames) header.addends += header_of(frame).addends;
  const Room room(device_, out, most_bytes(header, header.addends));
  Kernels kernels = this->kernels(1);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    memory[i] = frame_there(kernels, frames[i]);
    there[i] = memory[i].bytes().first(frames[i].size());
  }
  add(kernels, std::span(there).first(frames.size()), header, room.frame());
  co_await kernels;
  const Outcome made = kernels.outcome(0);
  co_return made ? room.moved(*made) : host_->arithmetic()->sum(frames, out);
}

Task<Sized> FrameCodec::accumulate_there(ConstBytes frame, ConstSlice values, Bytes out) const {
  const FrameHeader header = header_of(frame);
  const TAUT_Cuda_coding* const coding = encoder_ ? encoder_->planes_coding() : nullptr;
  if (!suits_kernels(values) || coding == nullptr) co_return accumulate_here(frame, values, out);
  Buffer there;
  const Room room(device_, out, most_bytes(header, header.addends + 1));
  Kernels kernels = this->kernels(1);
  there = frame_there(kernels, frame);
  kernels.run(0, [&](TAUT_Cuda_result* result, void* stream) {
    return device_.services().accumulate(there.data(), frame.size(), values.data, values.count,
                                         static_cast<int>(values.type), coding, room.frame().data(),
                                         room.frame().size(), result, stream);
  });
  co_await kernels;
  const Outcome made = kernels.outcome(0);
  co_return made ? room.moved(*made) : accumulate_here(frame, values, out);
}

// Adds a frame with lags and a frame of the values: the kernel that encodes and adds at once has no lags.
Task<Sized> FrameCodec::accumulate_lagged(ConstBytes frame, ConstSlice values, Bytes out) const {
  FrameHeader header = header_of(frame);
  ++header.addends;
  Buffer own = device_.memory().scratch(max_bytes(values.type, values.count, 1)), there;
  const Room room(device_, out, most_bytes(header, header.addends));
  Kernels encoding = kernels(1);
  if (encoder_ && suits_kernels(values))
    encoding.run(0, [&](TAUT_Cuda_result* result, void* stream) {
      return (*encoder_)(device_.services(), values, own.bytes(), result, stream);
    });
  co_await encoding;
  Outcome made = encoding.outcome(0);
  if (made && made->status == Status::ok) {
    Kernels adding = kernels(1);
    there = frame_there(adding, frame);
    const ConstBytes both[] = {there.bytes().first(frame.size()), own.bytes().first(made->bytes)};
    add(adding, both, header, room.frame());
    co_await adding;
    made = adding.outcome(0);
  }
  co_return made ? room.moved(*made) : accumulate_here(frame, values, out);
}

Sized FrameCodec::accumulate_here(ConstBytes frame, ConstSlice values, Bytes out) const noexcept {
  Sized made;
  made.status = values_.on_copy(values, [&](ConstSlice copy) {
    return (made = host_->arithmetic()->accumulate(frame, copy, out)).status;
  });
  return made;
}

// ---- Codec

Operation FrameCodec::start_encode(std::span<EncodeItem> items) const noexcept {
  return Operation::by_task([&] { return encode_there(items); });
}

Operation FrameCodec::start_decode(std::span<DecodeItem> items) const noexcept {
  return Operation::by_task([&] { return decode_there(items); });
}

Operation FrameCodec::start_reduce(ConstBytes in, Slice values, Reduction op) const noexcept {
  if (on_host(values)) return Sized{host_->reduce(in, values, op)};
  return Operation::by_task([&] { return reduce_there(in, values, op); });
}

Operation FrameCodec::start_sum(std::span<const ConstBytes> frames, Bytes out) const noexcept {
  if (frames.size() > max_operands) return host_->arithmetic()->sum(frames, out);
  return Operation::by_task([&] { return sum_there(frames, out); });
}

Operation FrameCodec::start_accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept {
  if (on_host(values)) return host_->arithmetic()->accumulate(frame, values, out);
  return Operation::by_task([&] {
    return has_lags(header_of(frame)) ? accumulate_lagged(frame, values, out)
                                      : accumulate_there(frame, values, out);
  });
}

Sized FrameCodec::encode(ConstSlice values, Bytes out) const noexcept {
  EncodeItem item{values, out};
  const Sized outcome = start_encode({&item, 1}).wait();
  return outcome.status == Status::ok ? item.made : outcome;
}

Status FrameCodec::decode(ConstBytes in, Slice values) const noexcept {
  DecodeItem item{in, values};
  const Sized outcome = start_decode({&item, 1}).wait();
  return outcome.status == Status::ok ? item.status : outcome.status;
}

Status FrameCodec::reduce(ConstBytes in, Slice values, Reduction op) const noexcept {
  return start_reduce(in, values, op).wait().status;
}

Sized FrameCodec::sum(std::span<const ConstBytes> frames, Bytes out) const noexcept {
  return start_sum(frames, out).wait();
}

Sized FrameCodec::accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept {
  return start_accumulate(frame, values, out).wait();
}

// ---- Choice

std::shared_ptr<const Codec> codec_on_device(std::shared_ptr<const Codec> host, const Coding& coding,
                                             DeviceValues& values, bool overlap) {
  const auto encoder = api::DeviceEncoder::of(coding);
  if (!encoder) return nullptr;
  Device& device = values.device();
  if (device.keeps_frames()) host = std::make_shared<StagingCodec>(std::move(host), device.frames_there());
  return std::make_shared<FrameCodec>(std::move(host), encoder, values, overlap);
}

}  // namespace taut::gpu
