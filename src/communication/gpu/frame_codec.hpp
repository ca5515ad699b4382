// FrameCodec is a codec for values on a GPU, and frames in pinned host memory or on the GPU.
#pragma once

#include "communication/gpu/device_values.hpp"
#include "communication/team/codec_operations.hpp"
#include "compressor/gpu/device_kernels.hpp"

namespace taut::gpu {

// Makes and reads the same frames as a codec of the host. Kernels do the work on values that are on the GPU,
// and write frames to host memory or to the GPU (DeviceFrames). Where no kernel serves a frame, the host does
// the work on copies; then it encodes without references. References are in memory of the GPU. start_encode()
// and its like return at once, except that the host's work on values or frames on the host is done before
// they return; the other functions return when their result is there. sample() reads values on the host.
class FrameCodec final : public Codec, public CodecOperations, private FrameArithmetic {
 public:
  // `host`: a codec for the same coding. `values` must outlive this object. If the coding names no codec, the
  // host encodes. `overlap`: operations may run beside each other, on two streams.
  FrameCodec(std::shared_ptr<const Codec> host, const Coding& coding, DeviceValues& values,
             bool overlap = false) noexcept
      : host_(std::move(host)),
        coding_(coding),
        values_(values),
        device_(values.device()),
        overlap_(overlap) {}

  const Contract& contract() const noexcept override { return host_->contract(); }
  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends) const noexcept override {
    return host_->max_bytes(type, count, addends);
  }
  using Codec::decode, Codec::encode, Codec::reduce;  // the forms without references
  SizeOrStatus encode(ConstSlice values, References references, Bytes out) const noexcept override;
  Status decode(ConstBytes in, References references, Slice values) const noexcept override;
  Status reduce(ConstBytes in, References, Slice values, Reduction op) const noexcept override;
  Sample sample(ConstSlice values, Bytes scratch) const noexcept override {
    return host_->sample(values, scratch);
  }
  const FrameArithmetic* arithmetic() const noexcept override {
    return host_->arithmetic() != nullptr ? this : nullptr;
  }

  int batch() const noexcept override { return max_batch; }
  Operation start_encode(std::span<EncodeItem> items) const noexcept override;
  Operation start_decode(std::span<DecodeItem> items) const noexcept override;
  Operation start_reduce(ConstBytes in, Slice values, Reduction op) const noexcept override;
  Operation start_sum(std::span<const ConstBytes> frames, Bytes out) const noexcept override;
  Operation start_accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept override;

 private:
  using Outcome = std::optional<SizeOrStatus>;  // of kernels; empty: the host has to do the work

  SizeOrStatus sum(std::span<const ConstBytes> frames, Bytes out) const noexcept override;
  SizeOrStatus accumulate(ConstBytes frame, ConstSlice values, References, Bytes out) const noexcept override;

  // ---- Operations on values or frames for the GPU
  Task<SizeOrStatus> encode_on_device(std::span<EncodeItem> items) const;
  Task<SizeOrStatus> decode_on_device(std::span<DecodeItem> items) const;
  Task<SizeOrStatus> reduce_on_device(ConstBytes in, Slice values, Reduction op) const;
  Task<SizeOrStatus> sum_on_device(std::span<const ConstBytes> frames, Bytes out) const;
  Task<SizeOrStatus> accumulate_on_device(ConstBytes frame, ConstSlice values, Bytes out) const;
  Task<SizeOrStatus> accumulate_lagged(ConstBytes frame, ConstSlice values, Bytes out) const;

  class OutputFrame;
  class Launches;
  std::optional<Coding> decoding_of(ConstBytes frame) const { return decoding_of({frame, {}}); }
  std::optional<Coding> decoding_of(const DecodeItem& item) const;
  Kernels kernels(std::size_t results) const { return Kernels(device_, results, overlaps()); }
  bool overlaps() const;
  bool encodes() const noexcept { return coding_.codec != nullptr; }
  Buffer frame_on_device(Kernels& kernels, ConstBytes frame) const;
  void launch_encoders(Kernels& kernels, std::span<const EncodeItem> items,
                       std::span<const Bytes> frames) const;
  void launch_decoders(Kernels& kernels, std::span<const DecodeItem> items,
                       std::span<const Buffer> frames) const;
  void add(Kernels& kernels, std::span<const ConstBytes> frames, const FrameHeader& header, Bytes out) const;
  std::size_t max_frame_bytes(const FrameHeader& header, std::uint32_t addends) const noexcept;

  // ---- The same on the host, on copies of the values
  SizeOrStatus encode_on_host(ConstSlice values, Bytes out) const noexcept;
  Status decode_on_host(const DecodeItem& item) const noexcept;
  SizeOrStatus accumulate_on_host(ConstBytes frame, ConstSlice values, Bytes out) const noexcept;

  std::shared_ptr<const Codec> host_;
  Coding coding_;
  DeviceValues& values_;
  Device& device_;
  mutable bool overlap_, forked_ = false;  // `forked_`: the second stream is prepared for this call
};

// Returns true if kernels of this coding encode values with references. They have no lags beside references.
bool has_reference_kernels(const Device& device, const Coding& coding);

// Returns the codec of a coding for values on a GPU; null if no kernels serve the coding. `host`: its codec
// on the host; `overlap`: see FrameCodec.
std::shared_ptr<const Codec> codec_on_device(std::shared_ptr<const Codec> host, const Coding& coding,
                                             DeviceValues& values, bool overlap = false);

}  // namespace taut::gpu
