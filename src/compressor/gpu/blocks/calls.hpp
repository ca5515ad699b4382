// Launches the kernel of each call, with its memory. Launcher: see compressor/gpu/planes/calls.hpp.
#pragma once

#include <algorithm>

#include "compressor/gpu/blocks/decode.hpp"
#include "compressor/gpu/blocks/encode.hpp"

namespace taut::blocks::cuda {

struct CallMemory {
  ScratchHead* scratch;  // zero at first
  ResultPlace result;
};

// Encodes `header.count` values under `header.bound`, one of `rates`. The frame has room for payload_bytes
// behind its header.
template <class T, class Launcher>
void encode(Launcher& launcher, const T* values, const FrameHeader& header, std::byte* frame,
            const CallMemory& memory) {
  EncodeJob<T> job{};
  job.values = values;
  job.count = header.count;
  job.frame = reinterpret_cast<std::uint32_t*>(frame);
  job.scratch = memory.scratch;
  job.result = memory.result;
  job.bits = static_cast<std::uint32_t>(header.bound.value);
  job.grid = std::max(chunks_of(header.count), 1u);
  write_header(header, std::as_writable_bytes(std::span(job.header)));
  launcher.template launch<EncodeKernel<T>>(job.grid, job);
}

// Decodes a frame of `count` values: values <- frame, or values += frame, according to Target.
template <class Target, class Launcher>
void decode(Launcher& launcher, const Source& source, typename Target::Value* values, std::uint64_t count,
            const CallMemory& memory) {
  const std::uint32_t grid = std::max(chunks_of(count), 1u);
  launcher.template launch<DecodeKernel<Target>>(
      grid, {source, values, count, dtype_of<typename Target::Value>, grid, memory.scratch, memory.result});
}

}  // namespace taut::blocks::cuda
