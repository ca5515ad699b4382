// Selects the calls of libtaut_cuda that serve a codec.
#pragma once

#include <variant>

#include "compressor/codecs/planes/prediction.hpp"
#include "compressor/frame/candidates.hpp"
#include "compressor/gpu/device_services.hpp"

namespace taut::api {

// Encodes values in device memory to a frame in device memory, as a candidate does on the host.
class DeviceEncoder {
 public:
  // Returns the encoder for a coding that names its codec, or nothing if no kernels exist for it. The same on
  // all ranks.
  static std::optional<DeviceEncoder> of(const Coding& coding);

  // Returns the encoder whose decode() reads a frame, if the header alone does not tell how (decoder_of): zfp
  // at a rate. Returns nothing for other frames.
  static std::optional<DeviceEncoder> of_frame(const FrameHeader& header, ConstBytes frame);

  // Launches the kernels, which write their outcome to `result`. Returns a status of taut_cuda.h.
  int operator()(const DeviceServices& device, ConstSlice values, Bytes frame, TAUT_Cuda_result* result,
                 void* stream) const;

  // Decodes frames that this encoder makes, into device memory, if the header alone does not tell how
  // (decoder_of): zfp frames of the encoder's extents. Returns TAUT_ERR_CUDA_NEEDS_HOST for other codecs.
  int decode(const DeviceServices& device, ConstBytes frame, Slice values, TAUT_Cuda_result* result,
             void* stream) const;

  // Returns the coding if DeviceServices::encode_many serves it; otherwise null.
  const TAUT_Cuda_coding* batched_coding() const noexcept {
    const auto* const planes = std::get_if<Planes>(&way_);
    return planes != nullptr && !planes->lags.any() ? &planes->coding : nullptr;
  }
  // Returns the coding of planes frames; null for other codecs.
  const TAUT_Cuda_coding* planes_coding() const noexcept {
    const auto* const planes = std::get_if<Planes>(&way_);
    return planes != nullptr ? &planes->coding : nullptr;
  }

 private:
  struct Planes {
    TAUT_Cuda_coding coding;
    planes::Lags lags;
  };
  struct Rate {
    double bits;  // for each value
    Dims dims;
  };
  using Way = std::variant<Planes, LosslessCoding, Rate>;

  explicit DeviceEncoder(Way way) : way_(way) {}

  Way way_;
};

// Return the call that decodes frames with this header, adds their values to others, or adds such frames;
// null if there is no such call.
decltype(DeviceServices::decode) decoder_of(const DeviceServices& device, const FrameHeader& header);
decltype(DeviceServices::decode) decoding_adder_of(const DeviceServices& device, const FrameHeader& header);
decltype(DeviceServices::add_frames) adder_of(const DeviceServices& device, const FrameHeader& header);

}  // namespace taut::api
