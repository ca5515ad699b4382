// Which calls of libtaut_cuda do the work of which codecs.
#pragma once

#include <variant>

#include "codecs/planes/prediction.hpp"
#include "gpu/device_services.hpp"
#include "policy/plan/coding.hpp"

namespace taut::api {

// Encodes values of the device's memory to a frame there, as a candidate does on the host.
class DeviceEncoder {
 public:
  // Nothing: there are no kernels for this.
  static std::optional<DeviceEncoder> of(const Candidate& candidate, const Coding& coding, Bound bound);

  // A status of taut_cuda.h; what the kernels come to stands in `result`.
  int operator()(const DeviceServices& device, ConstSlice values, Bytes frame,
                 TAUT_Cuda_result* result) const;

 private:
  struct Planes {
    TAUT_Cuda_coding coding;
    planes::Lags lags;
  };
  struct Lossless {
    int distance;
    double relative;  // to which mantissas are rounded; 0: they are not
  };
  using Way = std::variant<Planes, Lossless>;

  explicit DeviceEncoder(Way way) : way_(way) {}

  Way way_;
};

// The calls that decode frames with this header, and add them; null: there is none.
decltype(DeviceServices::decode) decoder_of(const DeviceServices& device, const FrameHeader& header);
decltype(DeviceServices::add_frames) adder_of(const DeviceServices& device, const FrameHeader& header);

}  // namespace taut::api
