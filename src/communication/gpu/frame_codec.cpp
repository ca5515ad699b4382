#include "communication/gpu/frame_codec.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "communication/gpu/staging_codec.hpp"
#include "compressor/base/device_memory.hpp"

namespace taut::gpu {
namespace {

constexpr std::size_t frame_alignment = 16;  // bytes; kernels need it
constexpr std::size_t max_items = CodecOperations::max_batch;

bool aligned(const void* at, std::size_t to) noexcept {
  return reinterpret_cast<std::uintptr_t>(at) % to == 0;
}

// Returns true if the host has the values, or there are none.
bool on_host(ConstSlice values) noexcept { return values.count == 0 || !on_device(values.data); }

FrameHeader header_of(ConstBytes frame) noexcept {
  FrameHeader header;
  return read_header(frame, header) == Status::ok ? header : FrameHeader{};
}

// References as kernels take them.
class KernelReferences {
 public:
  explicit KernelReferences(References references) noexcept
      : n_(std::min<std::size_t>(references.size(), max_references)) {
    for (std::size_t i = 0; i < n_; ++i) all_[i] = {references[i].values.data, references[i].state};
  }
  DeviceReferences span() const noexcept { return {all_.data(), n_}; }

 private:
  std::array<TAUT_Cuda_reference, max_references> all_{};
  std::size_t n_;
};

}  // namespace

// ---- Parts of operations

// The memory into which kernels write a frame: that of `out`, on the host or on the GPU, if its address is
// aligned; otherwise a buffer, from which deliver() moves the frame.
class FrameCodec::OutputFrame {
 public:
  OutputFrame() = default;
  OutputFrame(Device& device, Bytes out, std::size_t max_bytes) : device_(&device), out_(out) {
    const std::size_t bytes = std::min(max_bytes, out.size());
    std::byte* const device_memory = device.device_frames().device_address(out.data());
    to_ = device_memory != nullptr ? device_memory : out.data();
    Place& buffer_place = device_memory != nullptr ? static_cast<Place&>(device.pooled()) : device.pinned();
    if (!aligned(to_, frame_alignment)) buffer_ = buffer_place.scratch(bytes);
    frame_ = {buffer_.data() != nullptr ? buffer_.data() : to_, bytes};
  }

  Bytes frame() const noexcept { return frame_; }

  // Moves the frame to the memory of `out`, and its head to the host. `made`: result i of the kernels, which
  // have used all of the references or none.
  SizeOrStatus deliver(SizeOrStatus made, const Kernels& kernels, std::size_t i = 0,
                       References references = {}) const noexcept {
    if (made.status != Status::ok) return made;
    const bool on_host = to_ == out_.data();
    if (frame_.data() != to_ && on_host) std::memcpy(to_, frame_.data(), made.bytes);
    if (frame_.data() != to_ && !on_host) made.status = device_->copy(to_, frame_.data(), made.bytes);
    if (on_host) return made;
    std::ranges::copy(kernels.header(i), out_.data());
    if (!references.empty() && reference_count(header_of(out_.first(made.bytes))) > 0)
      write_state_numbers(state_numbers_of(references), out_.data() + frame_header_bytes);
    return made;
  }

 private:
  Device* device_ = nullptr;
  Bytes out_, frame_;
  std::byte* to_ = nullptr;
  Buffer buffer_;
};

// Collects items, each with its result, and launches their kernels: together, or one by one.
class FrameCodec::Launches {
 public:
  Launches(Kernels& kernels, bool together) noexcept : kernels_(kernels), together_(together) {}

  void add(std::size_t result, const DeviceFrameItem& item) noexcept {
    results_[n_] = result;
    items_[n_++] = item;
  }
  // Runs launch(items, stream).
  template <class Launch>
  void run(const Launch& launch) noexcept {
    const std::size_t at_once = together_ ? n_ : 1;
    for (std::size_t i = 0; i < n_; i += at_once)
      kernels_.run(std::span(results_).subspan(i, at_once),
                   [&](void* stream) { return launch(std::span(items_).subspan(i, at_once), stream); });
  }

 private:
  Kernels& kernels_;
  bool together_;
  std::size_t n_ = 0;
  std::array<std::size_t, max_items> results_;
  std::array<DeviceFrameItem, max_items> items_;
};

// Returns the coding by which kernels decode a frame, whose header is on the host. The host decodes frames
// with lags behind references.
std::optional<Coding> FrameCodec::decoding_of(const DecodeItem& item) const {
  FrameHeader header = header_of(item.in);
  if (item.references.empty()) return gpu::decoding_of(header, {}, coding_);
  if (refers_by_addend(header)) return {};
  header.parameters[2] = 0;  // the kernels for references serve what the others do
  const std::optional<Coding> coding = gpu::decoding_of(header, {}, coding_);
  const bool served = coding && has_reference_kernels(device_, *coding);
  return served ? coding : std::nullopt;
}

// Returns true if operations of this call may use the second stream. The first operation prepares that
// stream.
bool FrameCodec::overlaps() const {
  if (overlap_ && !forked_) overlap_ = forked_ = device_.fork();
  return overlap_;
}

std::size_t FrameCodec::max_frame_bytes(const FrameHeader& header, std::uint32_t addends) const noexcept {
  return max_bytes(header.type, static_cast<std::size_t>(header.count), addends);
}

// Returns a frame in aligned memory of the GPU: the frame itself, or a copy that is enqueued.
Buffer FrameCodec::frame_on_device(Kernels& kernels, ConstBytes frame) const {
  std::byte* const at = device_.device_frames().device_address(frame.data());
  if (at != nullptr && aligned(at, frame_alignment)) return Buffer(&values_, at, frame.size());
  Buffer device_frame = device_.pooled().scratch(frame.size());
  const Status status = kernels.copy(device_frame.data(), at != nullptr ? at : frame.data(), frame.size());
  if (status != Status::ok) throw Error(status, describe(status));
  return device_frame;
}

// ---- Encoding

// Launches the encoders of the items that have a frame: together if kernels of this coding can do that.
void FrameCodec::launch_encoders(Kernels& kernels, std::span<const EncodeItem> items,
                                 std::span<const Bytes> frames) const {
  if (!encodes()) return;
  const DeviceCodec& codec = kernels_of(device_.services(), coding_);
  Launches launches(kernels, codec.together != nullptr && codec.together(coding_));
  for (std::size_t i = 0; i < items.size(); ++i) {
    const ConstSlice values = items[i].values;
    if (frames[i].empty()) continue;
    const DeviceFrameItem item{const_cast<void*>(values.data), values.count, frames[i].data(),
                               frames[i].size(), kernels.result_at(i)};
    if (items[i].references.empty() || codec.encode_with_references == nullptr)
      launches.add(i, item);
    else
      kernels.run(std::span(&i, 1), [&](void* stream) {
        return codec.encode_with_references(coding_, item, KernelReferences(items[i].references).span(),
                                            static_cast<int>(values.type), true, stream);
      });
  }
  launches.run([&](std::span<const DeviceFrameItem> some, void* stream) {
    return codec.encode(coding_, some.data(), static_cast<int>(some.size()),
                        static_cast<int>(items[0].values.type), true, stream);
  });
}

Task<SizeOrStatus> FrameCodec::encode_on_device(std::span<EncodeItem> items) const {
  std::array<OutputFrame, max_items> outputs;
  std::array<Bytes, max_items> frames;
  Kernels kernels = this->kernels(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& [values, out, made, references] = items[i];
    const std::size_t needed = max_bytes(values.type, values.count, 1);
    if (!encodes() || on_host(values) || !suits_kernels(values) || out.size() < needed) continue;
    outputs[i] = OutputFrame(device_, out, needed);
    frames[i] = outputs[i].frame();
  }
  launch_encoders(kernels, items, frames);
  co_await kernels;
  for (std::size_t i = 0; i < items.size(); ++i) {
    EncodeItem& item = items[i];
    const Outcome made = kernels.outcome(i);
    item.made =
        made ? outputs[i].deliver(*made, kernels, i, item.references) : encode_on_host(item.values, item.out);
  }
  co_return SizeOrStatus{};
}

SizeOrStatus FrameCodec::encode_on_host(ConstSlice values, Bytes out) const noexcept {
  if (on_host(values)) return host_->encode(values, out);
  SizeOrStatus made;
  made.status = values_.with_host_copy(
      values, [&](ConstSlice copy) { return (made = host_->encode(copy, out)).status; });
  return made;
}

// ---- Decoding

// Launches the decoders of the items that have a frame on the GPU: together if kernels can do that.
void FrameCodec::launch_decoders(Kernels& kernels, std::span<const DecodeItem> items,
                                 std::span<const Buffer> frames) const {
  std::array<bool, max_items> launched{};
  for (std::size_t first = 0; first < items.size(); ++first) {
    if (frames[first].data() == nullptr || launched[first]) continue;
    const Coding coding = *decoding_of(items[first]);
    const DType type = items[first].values.type;
    const DeviceCodec& codec = kernels_of(device_.services(), coding);
    const bool together = codec.together != nullptr && codec.together(coding);
    Launches launches(kernels, together);
    for (std::size_t i = first; i < items.size(); ++i) {
      const auto& [in, values, status, references] = items[i];
      const bool alike = i == first || (together && values.type == type && decoding_of(items[i]) == coding);
      if (frames[i].data() == nullptr || launched[i] || !alike) continue;
      launched[i] = true;
      const DeviceFrameItem item{values.data, values.count, frames[i].data(), in.size(),
                                 kernels.result_at(i)};
      if (references.empty())
        launches.add(i, item);
      else
        kernels.run(std::span(&i, 1), [&](void* stream) {
          return codec.decode_with_references(coding, item, KernelReferences(references).span(),
                                              static_cast<int>(type), stream);
        });
    }
    launches.run([&](std::span<const DeviceFrameItem> some, void* stream) {
      return codec.decode(coding, some.data(), static_cast<int>(some.size()), static_cast<int>(type), false,
                          stream);
    });
  }
}

Task<SizeOrStatus> FrameCodec::decode_on_device(std::span<DecodeItem> items) const {
  std::array<Buffer, max_items> frames;
  Kernels kernels = this->kernels(items.size());
  for (std::size_t i = 0; i < items.size(); ++i)
    if (const DecodeItem& item = items[i];
        !on_host(item.values) && suits_kernels(item.values) && decoding_of(item))
      frames[i] = frame_on_device(kernels, item.in);
  launch_decoders(kernels, items, frames);
  co_await kernels;
  for (std::size_t i = 0; i < items.size(); ++i) {
    DecodeItem& item = items[i];
    const Outcome done = kernels.outcome(i);
    item.status = done ? done->status : decode_on_host(item);
  }
  co_return SizeOrStatus{};
}

Status FrameCodec::decode_on_host(const DecodeItem& item) const noexcept {
  const Slice values = item.values;
  return guarded([&] {
    std::array<Buffer, max_references + 1> memory;
    std::array<Reference, max_references> references;
    const auto copy_in = [&](Buffer& buffer) {
      buffer = device_.pinned().scratch(values.bytes());
      return Slice{{buffer.data(), values.count, values.type}};
    };
    const std::size_t n = std::min(item.references.size(), references.size());
    for (std::size_t i = 0; i < n; ++i) {
      const auto& [state, there, by_addend] = item.references[i];
      const Slice copy = copy_in(memory[i]);
      const Status status = values_.copy(copy.as_bytes().data(), there.as_bytes().data(), copy.bytes());
      if (status != Status::ok) return status;
      references[i] = {state, copy, by_addend};
    }
    const Slice decoded = on_host(values) ? values : copy_in(memory[n]);
    const Status status = host_->decode(item.in, References(references).first(n), decoded);
    if (status != Status::ok || decoded.data == values.data) return status;
    return values_.copy(values.as_bytes().data(), decoded.as_bytes().data(), values.bytes());
  });
}

// Adds while it decodes, if kernels can do that; otherwise decodes to scratch memory, and reduces.
Task<SizeOrStatus> FrameCodec::reduce_on_device(ConstBytes in, Slice values, Reduction op) const {
  const std::optional<Coding> coding = op == Reduction::sum ? decoding_of(in) : std::nullopt;
  const auto adds = coding ? kernels_of(device_.services(), *coding).adds : nullptr;
  if (adds != nullptr && adds(*coding) && suits_kernels(values)) {
    Buffer frame;
    Kernels kernels = this->kernels(1);
    frame = frame_on_device(kernels, in);
    kernels.run(0, [&](TAUT_Cuda_result* result, void* stream) {
      return gpu::decode(device_.services(), *coding, frame.bytes().first(in.size()), values, result, stream,
                         true);
    });
    co_await kernels;
    if (const Outcome done = kernels.outcome(0)) co_return SizeOrStatus{done->status};
  }
  const Buffer memory = values_.scratch(values.bytes());
  DecodeItem decoded{in, {{memory.data(), values.count, values.type}}};
  const SizeOrStatus outcome = co_await decode_on_device({&decoded, 1});
  const Status status = outcome.status != Status::ok ? outcome.status : decoded.status;
  co_return SizeOrStatus{status == Status::ok ? values_.reduce(values, decoded.values, op) : status};
}

// ---- Sums

// Launches the sum of frames in memory of the GPU, if kernels can add them. `header`: that of the sum,
// without its size.
void FrameCodec::add(Kernels& kernels, std::span<const ConstBytes> frames, const FrameHeader& header,
                     Bytes out) const {
  const std::optional<Coding> coding = gpu::decoding_of(header, {}, coding_);
  const auto sum = coding ? kernels_of(device_.services(), *coding).sum : nullptr;
  if (sum == nullptr) return;
  std::array<const void*, max_operands> at{};
  std::array<std::size_t, max_operands> bytes{};
  for (std::size_t i = 0; i < frames.size(); ++i) {
    at[i] = frames[i].data();
    bytes[i] = frames[i].size();
  }
  kernels.run(0, [&](TAUT_Cuda_result* result, void* stream) {
    return sum(at.data(), bytes.data(), static_cast<int>(frames.size()), header.count,
               static_cast<int>(header.type), out.data(), out.size(), result, true, stream);
  });
}

Task<SizeOrStatus> FrameCodec::sum_on_device(std::span<const ConstBytes> frames, Bytes out) const {
  std::array<Buffer, max_operands> memory;
  std::array<ConstBytes, max_operands> device_frames;
  FrameHeader header = header_of(frames[0]);
  header.addends = 0;
  for (const ConstBytes frame : frames) header.addends += header_of(frame).addends;
  const OutputFrame output(device_, out, max_frame_bytes(header, header.addends));
  Kernels kernels = this->kernels(1);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    memory[i] = frame_on_device(kernels, frames[i]);
    device_frames[i] = memory[i].bytes().first(frames[i].size());
  }
  add(kernels, std::span(device_frames).first(frames.size()), header, output.frame());
  co_await kernels;
  const Outcome made = kernels.outcome(0);
  co_return made ? output.deliver(*made, kernels) : host_->arithmetic()->sum(frames, out);
}

Task<SizeOrStatus> FrameCodec::accumulate_on_device(ConstBytes frame, ConstSlice values, Bytes out) const {
  const FrameHeader header = header_of(frame);
  const auto adds = encodes() ? kernels_of(device_.services(), coding_).accumulate : nullptr;
  if (!suits_kernels(values) || adds == nullptr) co_return accumulate_on_host(frame, values, out);
  Buffer device_frame;
  const OutputFrame output(device_, out, max_frame_bytes(header, header.addends + 1));
  Kernels kernels = this->kernels(1);
  device_frame = frame_on_device(kernels, frame);
  kernels.run(0, [&](TAUT_Cuda_result* result, void* stream) {
    const DeviceFrameItem item{const_cast<void*>(values.data), values.count, device_frame.data(),
                               frame.size(), result};
    return adds(coding_, item, static_cast<int>(values.type), output.frame().data(), output.frame().size(),
                true, stream);
  });
  co_await kernels;
  const Outcome made = kernels.outcome(0);
  co_return made ? output.deliver(*made, kernels) : accumulate_on_host(frame, values, out);
}

// Encodes the values, and adds the two frames: the kernel that encodes and adds at once has no lags.
Task<SizeOrStatus> FrameCodec::accumulate_lagged(ConstBytes frame, ConstSlice values, Bytes out) const {
  FrameHeader header = header_of(frame);
  ++header.addends;
  Buffer encoded = device_.pooled().scratch(max_bytes(values.type, values.count, 1)), device_frame;
  const OutputFrame output(device_, out, max_frame_bytes(header, header.addends));
  Kernels encoding = kernels(1);
  if (encodes() && suits_kernels(values))
    encoding.run(0, [&](TAUT_Cuda_result* result, void* stream) {
      return gpu::encode(device_.services(), coding_, values, encoded.bytes(), result, true, stream);
    });
  co_await encoding;
  const Outcome made = encoding.outcome(0);
  if (!made) co_return accumulate_on_host(frame, values, out);
  if (made->status != Status::ok) co_return *made;
  Kernels adding = kernels(1);
  device_frame = frame_on_device(adding, frame);
  const ConstBytes both[] = {device_frame.bytes().first(frame.size()), encoded.bytes().first(made->bytes)};
  add(adding, both, header, output.frame());
  co_await adding;
  const Outcome sum = adding.outcome(0);
  co_return sum ? output.deliver(*sum, adding) : accumulate_on_host(frame, values, out);
}

SizeOrStatus FrameCodec::accumulate_on_host(ConstBytes frame, ConstSlice values, Bytes out) const noexcept {
  SizeOrStatus made;
  made.status = values_.with_host_copy(values, [&](ConstSlice copy) {
    return (made = host_->arithmetic()->accumulate(frame, copy, out)).status;
  });
  return made;
}

// ---- Codec

Operation FrameCodec::start_encode(std::span<EncodeItem> items) const noexcept {
  return Operation::by_task([&] { return encode_on_device(items); });
}

Operation FrameCodec::start_decode(std::span<DecodeItem> items) const noexcept {
  return Operation::by_task([&] { return decode_on_device(items); });
}

Operation FrameCodec::start_reduce(ConstBytes in, Slice values, Reduction op) const noexcept {
  if (on_host(values)) return SizeOrStatus{host_->reduce(in, values, op)};
  return Operation::by_task([&] { return reduce_on_device(in, values, op); });
}

Operation FrameCodec::start_sum(std::span<const ConstBytes> frames, Bytes out) const noexcept {
  if (frames.size() > max_operands) return host_->arithmetic()->sum(frames, out);
  return Operation::by_task([&] { return sum_on_device(frames, out); });
}

Operation FrameCodec::start_accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept {
  if (on_host(values)) return host_->arithmetic()->accumulate(frame, values, out);
  return Operation::by_task([&] {
    const std::optional<Coding> coding = decoding_of(frame);
    return coding && coding->predictor.lags.any() ? accumulate_lagged(frame, values, out)
                                                  : accumulate_on_device(frame, values, out);
  });
}

SizeOrStatus FrameCodec::encode(ConstSlice values, References references, Bytes out) const noexcept {
  EncodeItem item{values, out, {}, references};
  const SizeOrStatus outcome = start_encode({&item, 1}).wait();
  return outcome.status == Status::ok ? item.made : outcome;
}

Status FrameCodec::decode(ConstBytes in, References references, Slice values) const noexcept {
  DecodeItem item{in, values, Status::ok, references};
  const SizeOrStatus outcome = start_decode({&item, 1}).wait();
  return outcome.status == Status::ok ? item.status : outcome.status;
}

Status FrameCodec::reduce(ConstBytes in, References, Slice values, Reduction op) const noexcept {
  return start_reduce(in, values, op).wait().status;
}

SizeOrStatus FrameCodec::sum(std::span<const ConstBytes> frames, Bytes out) const noexcept {
  return start_sum(frames, out).wait();
}

SizeOrStatus FrameCodec::accumulate(ConstBytes frame, ConstSlice values, References,
                                    Bytes out) const noexcept {
  return start_accumulate(frame, values, out).wait();
}

// ---- Choice

bool has_reference_kernels(const Device& device, const Coding& coding) {
  if (coding.codec == nullptr || coding.predictor.lags.any()) return false;
  const DeviceCodec* const kernels = device.services().codec(coding.codec->frame_id);
  return kernels != nullptr && kernels->encode_with_references != nullptr &&
         kernels->decode_with_references != nullptr;
}

std::shared_ptr<const Codec> codec_on_device(std::shared_ptr<const Codec> host, const Coding& coding,
                                             DeviceValues& values, bool overlap) {
  if (!has_kernels(coding)) return nullptr;
  Device& device = values.device();
  if (device.frames_on_device())
    host = std::make_shared<StagingCodec>(std::move(host), device.device_frames());
  return std::make_shared<FrameCodec>(std::move(host), coding, values, overlap);
}

}  // namespace taut::gpu
