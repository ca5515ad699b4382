#include "compressor/gpu/device_kernels.hpp"

#include "compressor/frame/coding.hpp"

namespace taut::gpu {

bool has_kernels(const Coding& coding) noexcept {
  return coding.codec->device != nullptr && coding.codec->device->encodes(coding);
}

std::optional<Coding> decoding_of(const FrameHeader& header, ConstBytes payload, const Coding& known) {
  const CodecInfo* const codec = find_codec(header.codec);
  if (codec == nullptr || codec->device == nullptr || !codec->serves(header.type, header.bound.kind))
    return {};
  std::optional<Coding> coding = codec->device->decoding(header, payload, known);
  if (coding) coding->codec = codec;
  return coding;
}

const DeviceCodec& kernels_of(const DeviceServices& device, const Coding& coding) {
  const DeviceCodec* const kernels = device.codec(coding.codec->frame_id);
  if (kernels == nullptr)
    throw Error(Status::internal, std::string("libtaut_cuda has no kernels of codec ") + coding.codec->name);
  return *kernels;
}

int encode(const DeviceServices& device, const Coding& coding, ConstSlice values, Bytes frame,
           TAUT_Cuda_result* result, bool polled, void* stream) {
  const DeviceFrameItem item{const_cast<void*>(values.data), values.count, frame.data(), frame.size(),
                             result};
  return kernels_of(device, coding).encode(coding, &item, 1, static_cast<int>(values.type), polled, stream);
}

int decode(const DeviceServices& device, const Coding& coding, ConstBytes frame, Slice values,
           TAUT_Cuda_result* result, void* stream, bool add) {
  const DeviceFrameItem item{values.data, values.count, const_cast<std::byte*>(frame.data()), frame.size(),
                             result};
  return kernels_of(device, coding).decode(coding, &item, 1, static_cast<int>(values.type), add, stream);
}

}  // namespace taut::gpu
