// StagingCodec runs a codec of the host on frames in GPU memory.
#pragma once

#include <memory>

#include "communication/gpu/device_frames.hpp"
#include "compressor/frame/coding.hpp"

namespace taut::gpu {

// Downloads the frames that the codec of the host reads, and uploads the frames that it writes. Values are on
// the host, as are the references of a frame that is decoded. Encoded frames have none.
class StagingCodec final : public Codec, private FrameArithmetic {
 public:
  // `frames` must outlive this object.
  StagingCodec(std::shared_ptr<const Codec> codec, DeviceFrames& frames) noexcept
      : codec_(std::move(codec)), frames_(frames) {}

  const Contract& contract() const noexcept override { return codec_->contract(); }
  std::size_t max_bytes(DType type, std::size_t count, std::uint32_t addends) const noexcept override {
    return codec_->max_bytes(type, count, addends);
  }
  SizeOrStatus encode(ConstSlice values, References, Bytes out) const noexcept override;
  Status decode(ConstBytes in, References references, Slice values) const noexcept override;
  Status reduce(ConstBytes in, References, Slice values, Reduction op) const noexcept override;
  Sample sample(ConstSlice values, Bytes scratch) const noexcept override {
    return codec_->sample(values, scratch);
  }
  const FrameArithmetic* arithmetic() const noexcept override {
    return codec_->arithmetic() != nullptr ? this : nullptr;
  }

 private:
  SizeOrStatus sum(std::span<const ConstBytes> frames, Bytes out) const noexcept override;
  SizeOrStatus accumulate(ConstBytes frame, ConstSlice values, References, Bytes out) const noexcept override;
  SizeOrStatus upload(SizeOrStatus encoded, Bytes out) const noexcept;

  std::shared_ptr<const Codec> codec_;
  DeviceFrames& frames_;
};

}  // namespace taut::gpu
