// Codec for values on a GPU, and frames in pinned host memory or on the GPU.
#pragma once

#include "gpu/device_kernels.hpp"
#include "gpu/device_values.hpp"

namespace taut::gpu {

// Codes as another codec does on the host, with the same frames. Kernels do the work on values that are on
// the GPU; encoders and sums write into the frame in host memory, or on the GPU (DeviceFrames). The host does
// the work, on copies, where no kernel serves a frame. Each member returns when its result is there. sample()
// reads values on the host.
class FrameCodec final : public Codec, private FrameArithmetic {
 public:
  // `host`, a codec for the same coding and bound, and `values` must outlive this object. Without an encoder
  // the host encodes.
  FrameCodec(std::shared_ptr<const Codec> host, const std::optional<api::DeviceEncoder>& encoder,
             DeviceValues& values) noexcept
      : host_(std::move(host)), encoder_(encoder), values_(values), device_(values.device()) {}

  const Contract& contract() const noexcept override { return host_->contract(); }
  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends) const noexcept override {
    return host_->max_bytes(type, count, addends);
  }
  Sized encode(ConstSlice values, Bytes out) const noexcept override;
  Status decode(ConstBytes in, Slice values) const noexcept override;
  Status reduce(ConstBytes in, Slice values, Reduction op) const noexcept override;
  Sample sample(ConstSlice values, Bytes scratch) const noexcept override {
    return host_->sample(values, scratch);
  }
  const FrameArithmetic* arithmetic() const noexcept override {
    return host_->arithmetic() != nullptr ? this : nullptr;
  }

 private:
  using Outcome = std::optional<Sized>;  // empty: the host has to do the work

  Sized sum(std::span<const ConstBytes> frames, Bytes out) const noexcept override;
  Sized accumulate(ConstBytes frame, ConstSlice values, Bytes out) const noexcept override;

  Outcome encode_there(ConstSlice values, Bytes out) const;
  Outcome decode_there(ConstBytes in, Slice values, bool add) const;
  Outcome add_there(std::span<const ConstBytes> frames, const FrameHeader& header, std::uint32_t addends,
                    Bytes out) const;
  Outcome sum_there(std::span<const ConstBytes> frames, Bytes out) const;
  Outcome accumulate_there(ConstBytes frame, ConstSlice values, Bytes out) const;
  class Room;
  template <class Launch>
  Outcome write_frame(Bytes out, std::size_t most, const Launch& launch) const;
  std::size_t most_bytes(const FrameHeader& header, std::uint32_t addends) const noexcept;
  Buffer frame_there(ConstBytes frame) const;

  std::shared_ptr<const Codec> host_;
  std::optional<api::DeviceEncoder> encoder_;
  DeviceValues& values_;
  Device& device_;
};

// Returns the codec of a candidate for values on a GPU; null if no kernels serve the candidate. `host`: its
// codec on the host.
std::shared_ptr<const Codec> codec_on_device(std::shared_ptr<const Codec> host, const Candidate& candidate,
                                             const Coding& coding, Bound bound, DeviceValues& values);

}  // namespace taut::gpu
