// Chooses the kernels of libtaut_cuda for a coding, or for a frame, and runs them on one frame.
#pragma once

#include "compressor/gpu/device_services.hpp"

namespace taut::gpu {

// Returns true if kernels encode under a coding that names its codec. The same on all ranks.
bool has_kernels(const Coding& coding) noexcept;

// Returns the coding by which kernels decode a frame with this header; nothing if the host has to do that.
// `payload` and `known`: see CodecOnDevices::decoding.
std::optional<Coding> decoding_of(const FrameHeader& header, ConstBytes payload = {},
                                  const Coding& known = {});

// Returns the kernels of a coding that has_kernels() or decoding_of() serves.
const DeviceCodec& kernels_of(const DeviceServices& device, const Coding& coding);

// Encode or decode one frame with the kernels of a coding. Return a status of taut_cuda.h. `polled`: see
// DeviceCodec.
int encode(const DeviceServices& device, const Coding& coding, ConstSlice values, Bytes frame,
           TAUT_Cuda_result* result, bool polled, void* stream);
int decode(const DeviceServices& device, const Coding& coding, ConstBytes frame, Slice values,
           TAUT_Cuda_result* result, void* stream, bool add = false);

}  // namespace taut::gpu
