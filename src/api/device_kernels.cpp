#include "api/device_kernels.hpp"

#include <algorithm>

namespace taut::api {
namespace {

// The place of a candidate's predictor among those that kernels know; -1: it is none of them.
template <std::size_t N>
int place_of(const Candidate& candidate, std::string_view codec, const std::string_view (&predictors)[N]) {
  const auto* const found = std::ranges::find(predictors, candidate.predictor);
  const bool known = candidate.codec->name == codec && found != std::end(predictors);
  return known ? static_cast<int>(found - predictors) : -1;
}

// The codec that makes frames with such a header; empty: none does.
std::string_view codec_of(const FrameHeader& header) {
  const CodecInfo* const codec = find_codec(header.codec);
  return codec != nullptr && codec->serves(header.type, header.bound.kind) ? codec->name : "";
}

}  // namespace

std::optional<DeviceEncoder> DeviceEncoder::of(const Candidate& candidate, Bound bound) {
  constexpr std::string_view predictors[] = {"none", "delta", "pairs", "second"};  // taut_cuda.h
  constexpr std::string_view distances[] = {"d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8"};
  if (const int predictor = place_of(candidate, "planes", predictors); predictor >= 0)
    return DeviceEncoder(TAUT_Cuda_coding{bound.value, bound.kind == Bound::Kind::snap, predictor});
  const int distance = 1 + place_of(candidate, "mpc", distances);
  if (distance > 0) return DeviceEncoder(Lossless{distance, bound.exact() ? 0 : bound.value});
  return {};
}

int DeviceEncoder::operator()(const DeviceServices& device, ConstSlice values, Bytes frame,
                              TAUT_Cuda_result* result) const {
  const auto type = static_cast<int>(values.type);
  if (const auto* const lossless = std::get_if<Lossless>(&way_))
    return device.encode_lossless(values.data, values.count, type, lossless->distance, lossless->relative,
                                  frame.data(), frame.size(), result, nullptr);
  return device.encode(values.data, values.count, type, &std::get<TAUT_Cuda_coding>(way_), frame.data(),
                       frame.size(), result, nullptr);
}

decltype(DeviceServices::decode) decoder_of(const DeviceServices& device, const FrameHeader& header) {
  const std::string_view codec = codec_of(header);
  return codec == "planes" ? device.decode : codec == "mpc" ? device.decode_lossless : nullptr;
}

decltype(DeviceServices::add_frames) adder_of(const DeviceServices& device, const FrameHeader& header) {
  return codec_of(header) == "planes" ? device.add_frames : nullptr;
}

}  // namespace taut::api
