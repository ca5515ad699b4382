#include "gpu/frame_codec.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/device_memory.hpp"

namespace taut::gpu {
namespace {

constexpr std::size_t frame_alignment = 16;

bool aligned(const void* at, std::size_t to) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) % to == 0;
}

// Returns true if kernels can read and write the values.
bool usable(ConstSlice values) noexcept { return aligned(values.data, size_of(component_of(values.type))); }

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

// Runs launch(frame, result, stream), which writes a frame of at most `most` bytes. Kernels write into the
// memory of the frame itself if its address suits them.
template <class Launch>
FrameCodec::Outcome FrameCodec::write_frame(Bytes out, std::size_t most, const Launch& launch) const {
  DeviceFrames& frames = device_.frames_there();
  std::byte* const there = frames.there(out.data());
  std::byte* const to = there != nullptr ? there : out.data();
  const bool direct = aligned(to, frame_alignment);
  Place& others = there != nullptr ? static_cast<Place&>(device_.memory()) : device_.pinned();
  const Buffer aside = direct ? Buffer() : others.scratch(std::min(most, out.size()));
  const Bytes frame{direct ? to : aside.data(), std::min(most, out.size())};
  Outcome made =
      device_.run([&](TAUT_Cuda_result* result, void* stream) { return launch(frame, result, stream); });
  if (!made || made->status != Status::ok) return made;
  if (!direct && there == nullptr) std::memcpy(to, frame.data(), made->bytes);
  if (!direct && there != nullptr) made->status = device_.copy(to, frame.data(), made->bytes);
  if (made->status == Status::ok) made->status = frames.fetch_header(out.first(made->bytes));
  return made;
}

FrameCodec::Outcome FrameCodec::encode_there(ConstSlice values, Bytes out) const {
  if (!usable(values)) return {};
  const std::size_t most = max_bytes(values.type, values.count, 1);
  if (out.size() < most) return Sized{Status::buffer_too_small};
  return write_frame(out, most, [&](Bytes frame, TAUT_Cuda_result* result, void* stream) {
    return encoder_(device_.services(), values, frame, result, stream);
  });
}

std::size_t FrameCodec::most_bytes(const FrameHeader& header, std::uint32_t addends) const noexcept {
  return max_bytes(header.type, static_cast<std::size_t>(header.count), addends);
}

// Returns a frame in memory of the GPU, suitably aligned: where it is, or in `memory`, to which a copy is
// enqueued.
ConstBytes FrameCodec::frame_there(ConstBytes frame, Buffer& memory) const {
  const std::byte* const there = device_.frames_there().there(frame.data());
  if (there != nullptr && aligned(there, frame_alignment)) return {there, frame.size()};
  memory = device_.memory().scratch(frame.size());
  const Status status = device_.copy(memory.data(), there != nullptr ? there : frame.data(), frame.size());
  if (status != Status::ok) throw Error(status, describe(status));
  return memory.bytes().first(frame.size());
}

FrameCodec::Outcome FrameCodec::decode_there(ConstBytes in, Slice values, bool add) const {
  const FrameHeader header = header_of(in);
  const auto decode =
      add ? api::decoding_adder_of(device_.services(), header) : api::decoder_of(device_.services(), header);
  if (!usable(values) || (decode == nullptr && add)) return {};
  Buffer memory;
  const ConstBytes frame = frame_there(in, memory);
  return device_.run([&](TAUT_Cuda_result* result, void* stream) {
    if (decode == nullptr) return encoder_.decode(device_.services(), frame, values, result, stream);
    return decode(frame.data(), frame.size(), values.data, values.count, static_cast<int>(values.type),
                  result, stream);
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
    there[i] = frame_there(frames[i], memory[i]);
    addends += header_of(frames[i]).addends;
  }
  return add_there(std::span(there).first(frames.size()), header_of(frames[0]), addends, out);
}

// A frame with lags is added to a frame of the values, as the kernel that does both has no lags.
FrameCodec::Outcome FrameCodec::accumulate_there(ConstBytes frame, ConstSlice values, Bytes out) const {
  const FrameHeader header = header_of(frame);
  const TAUT_Cuda_coding* const coding = encoder_.planes_coding();
  if (!usable(values) || coding == nullptr) return {};
  Buffer memory;
  const ConstBytes there = frame_there(frame, memory);
  if (has_lags(header)) {
    const Buffer own = device_.memory().scratch(max_bytes(values.type, values.count, 1));
    const Outcome made = encode_there(values, own.bytes());
    if (!made || made->status != Status::ok) return made;
    return add_there(std::array{there, ConstBytes(own.bytes().first(made->bytes))}, header,
                     header.addends + 1, out);
  }
  return write_frame(out, most_bytes(header, header.addends + 1),
                     [&](Bytes sum, TAUT_Cuda_result* result, void* stream) {
                       return device_.services().accumulate(there.data(), there.size(), values.data,
                                                            values.count, static_cast<int>(values.type),
                                                            coding, sum.data(), sum.size(), result, stream);
                     });
}

// ---- Codec

// Runs work(), by which the host reads the frames `in`, and writes a frame to `out` if it has room.
template <class Work>
Sized FrameCodec::by_host(std::span<const ConstBytes> in, Bytes out, const Work& work) const noexcept {
  DeviceFrames& frames = device_.frames_there();
  Sized made;
  for (const ConstBytes frame : in)
    if (made.status == Status::ok) made.status = frames.download(frame);
  if (made.status == Status::ok) made = work();
  if (made.status == Status::ok && !out.empty()) made.status = frames.upload(out.first(made.bytes));
  return made;
}

Sized FrameCodec::encode(ConstSlice values, Bytes out) const noexcept {
  if (on_host(values)) return by_host({}, out, [&] { return host_->encode(values, out); });
  if (const Outcome done = attempt([&] { return encode_there(values, out); })) return *done;
  Sized made;
  made.status = values_.on_copy(values, [&](ConstSlice copy) {
    return (made = by_host({}, out, [&] { return host_->encode(copy, out); })).status;
  });
  return made;
}

Status FrameCodec::decode(ConstBytes in, Slice values) const noexcept {
  const auto host_decodes = [&](Slice to) {
    return by_host({&in, 1}, {}, [&] { return Sized{host_->decode(in, to)}; }).status;
  };
  if (on_host(values)) return host_decodes(values);
  if (const Outcome done = attempt([&] { return decode_there(in, values, false); })) return done->status;
  return guarded([&] {
    const Buffer memory = device_.pinned().scratch(values.bytes());
    const Status status = host_decodes({{memory.data(), values.count, values.type}});
    return status == Status::ok ? values_.copy(values.as_bytes().data(), memory.data(), values.bytes())
                                : status;
  });
}

Status FrameCodec::reduce(ConstBytes in, Slice values, Reduction op) const noexcept {
  if (on_host(values))
    return by_host({&in, 1}, {}, [&] { return Sized{host_->reduce(in, values, op)}; }).status;
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
  return by_host(frames, out, [&] { return host_->arithmetic()->sum(frames, out); });
}

Sized FrameCodec::accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept {
  const auto host_adds = [&](ConstSlice own) {
    return by_host({&frame, 1}, out, [&] { return host_->arithmetic()->accumulate(frame, own, out); });
  };
  if (on_host(values)) return host_adds(values);
  if (const Outcome done = attempt([&] { return accumulate_there(frame, values, out); })) return *done;
  Sized made;
  made.status = values_.on_copy(values, [&](ConstSlice copy) { return (made = host_adds(copy)).status; });
  return made;
}

}  // namespace taut::gpu
