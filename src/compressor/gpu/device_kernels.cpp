#include "compressor/gpu/device_kernels.hpp"

#include <cstring>

#include "compressor/codecs/mpc/prediction.hpp"
#include "compressor/codecs/zfp/shape.hpp"

namespace taut::api {
namespace {

// Returns the name of the codec that writes frames with such a header; empty if no codec does.
std::string_view codec_of(const FrameHeader& header) {
  const CodecInfo* const codec = find_codec(header.codec);
  return codec != nullptr && codec->serves(header.type, header.bound.kind) ? codec->name : "";
}

// `header`: that of a planes or an mpc frame.
bool has_lags(const FrameHeader& header) { return header.parameters[1] > 0; }

// Extents of a zfp field, as taut_cuda.h passes them.
struct FieldExtents {
  FieldExtents(const Dims& dims, std::size_t count) noexcept : shape(zfp::shape_of(dims, count)) {}

  const std::size_t* data() const noexcept { return shape.extent.data() + max_dims - shape.dims; }
  int size() const noexcept { return static_cast<int>(shape.dims); }

  zfp::Shape shape;
};

}  // namespace

std::optional<DeviceEncoder> DeviceEncoder::of(const Coding& coding) {
  if (coding.checksum) return {};
  const std::string_view codec = coding.codec->name;
  const Bound bound = coding.bound;
  if (codec == "planes") {
    const planes::Prediction prediction = planes::prediction_of(coding.predictor, coding.dims);
    const auto inner = static_cast<int>(prediction.inner);  // numbered as in taut_cuda.h
    return DeviceEncoder(
        Planes{{bound.value, bound.kind == Bound::Kind::snap, inner, coding.bits == PackedBits::exact},
               prediction.lags});
  }
  if (codec == "zfp" && bound.kind == Bound::Kind::rate && coding.bits == PackedBits::rounded)
    return DeviceEncoder(Rate{bound.value, coding.dims});
  if (codec != "mpc" || coding.predictor.automatic()) return {};
  const mpc::Prediction prediction = mpc::prediction_of(coding.predictor, coding.dims);
  return DeviceEncoder(LosslessCoding{static_cast<int>(prediction.distance), bound.exact() ? 0 : bound.value,
                                      coding.bits == PackedBits::exact, prediction.lags});
}

std::optional<DeviceEncoder> DeviceEncoder::of_frame(const FrameHeader& header, ConstBytes frame) {
  if (codec_of(header) != "zfp" || header.bound.kind != Bound::Kind::rate) return {};
  Dims dims{.n = header.parameters[0]};
  const ConstBytes payload = frame.subspan(frame_header_bytes);
  if (dims.n < 2) return DeviceEncoder(Rate{header.bound.value, {}});  // no extents in the payload
  if (dims.n > max_dims || payload.size() < dims.n * sizeof dims.of[0]) return {};
  std::memcpy(dims.of, payload.data(), dims.n * sizeof dims.of[0]);
  return DeviceEncoder(Rate{header.bound.value, dims});
}

int DeviceEncoder::operator()(const DeviceServices& device, ConstSlice values, Bytes frame,
                              TAUT_Cuda_result* result, void* stream) const {
  const auto type = static_cast<int>(values.type);
  if (const auto* const lossless = std::get_if<LosslessCoding>(&way_))
    return device.encode_lossless(values.data, values.count, type, lossless, frame.data(), frame.size(),
                                  result, stream);
  if (const auto* const rate = std::get_if<Rate>(&way_)) {
    const FieldExtents extents(rate->dims, values.count);
    return device.encode_rate(values.data, extents.data(), extents.size(), type, rate->bits, frame.data(),
                              frame.size(), result, stream);
  }
  const auto& [coding, lags] = std::get<Planes>(way_);
  if (!lags.any())
    return device.encode(values.data, values.count, type, &coding, frame.data(), frame.size(), result,
                         stream);
  return device.encode_lagged(values.data, values.count, type, &coding, lags.of, static_cast<int>(lags.n),
                              frame.data(), frame.size(), result, stream);
}

int DeviceEncoder::decode(const DeviceServices& device, ConstBytes frame, Slice values,
                          TAUT_Cuda_result* result, void* stream) const {
  const auto* const rate = std::get_if<Rate>(&way_);
  if (rate == nullptr) return TAUT_ERR_CUDA_NEEDS_HOST;
  const FieldExtents extents(rate->dims, values.count);
  return device.decode_rate(frame.data(), frame.size(), values.data, extents.data(), extents.size(),
                            static_cast<int>(values.type), result, stream);
}

decltype(DeviceServices::decode) decoder_of(const DeviceServices& device, const FrameHeader& header) {
  const std::string_view codec = codec_of(header);
  if (codec == "planes") return has_lags(header) ? device.decode_lagged : device.decode;
  if (codec != "mpc") return nullptr;
  return has_lags(header) ? device.decode_lossless_lagged : device.decode_lossless;
}

decltype(DeviceServices::decode) decoding_adder_of(const DeviceServices& device, const FrameHeader& header) {
  const std::string_view codec = codec_of(header);
  if (codec == "planes") return has_lags(header) ? device.decode_add_lagged : device.decode_add;
  return codec == "mpc" && !has_lags(header) ? device.decode_add_lossless : nullptr;
}

decltype(DeviceServices::add_frames) adder_of(const DeviceServices& device, const FrameHeader& header) {
  return codec_of(header) == "planes" ? device.add_frames : nullptr;
}

}  // namespace taut::api
