// Launches the kernels of each call, in order, with their memory. Launcher: see
// compressor/gpu/planes/calls.hpp.
#pragma once

#include <algorithm>

#include "compressor/gpu/exponents/decode.hpp"
#include "compressor/gpu/exponents/encode.hpp"

namespace taut::exponents::cuda {

// Memory of a call on `count` values. The scratch memory is zero at first; the books may hold anything.
struct CallMemory {
  Scratch* scratch;
  Books* books;  // only for encoding
  ResultPlace result;
};
inline std::size_t scratch_bytes(std::uint64_t count) {
  return sizeof(Scratch) + sizeof(ChunkState) * chunks_of(count);
}
inline std::size_t books_bytes(std::uint64_t count) {
  return sizeof(Books) * books_of(static_cast<std::uint32_t>(chunks_of(count)));
}

inline FinishJob finish_job(const CallMemory& memory) {
  FinishJob job{};
  job.scratch = memory.scratch;
  job.result = memory.result;
  job.blocks = 1;
  return job;
}

// Encodes `header.count` values of type T. `room` is large enough for the header and the values.
template <class T, class Launcher>
void encode(Launcher& launcher, const std::uint16_t* values, const FrameHeader& header,
            const FrameMemory& room, const CallMemory& memory) {
  constexpr unsigned max_blocks = 256;
  const std::uint64_t count = header.count;
  const auto chunks = static_cast<std::uint32_t>(chunks_of(count));
  const std::size_t bytes = count * value_bytes, index = index_unit * index_words(chunks);
  auto* const frame = reinterpret_cast<std::uint32_t*>(room.data);
  FinishJob job = finish_job(memory);
  job.frame = frame;
  job.values = values;
  job.count = count;
  job.stored = index > bytes;
  job.capacity = job.stored ? 0 : static_cast<std::uint32_t>((bytes - index) / index_unit);
  job.chunks = chunks;
  job.blocks = std::clamp(chunks, 1u, max_blocks);
  write_header(header, std::as_writable_bytes(std::span(job.header)));
  if (!job.stored) {
    std::uint32_t* const ends = frame + header_words;
    const Sink sink{.index = ends,
                    .records = ends + index_words(chunks),
                    .capacity = job.capacity,
                    .slot_words = 0,
                    .chunks = chunks,
                    .control = &memory.scratch->control,
                    .chunk_states = reinterpret_cast<ChunkState*>(memory.scratch + 1)};
    launcher.template launch<BooksKernel<T>>(books_of(chunks), {values, count, memory.books});
    launcher.template launch<EncodeKernel<T>>(chunks, {values, count, memory.books, sink});
  }
  launcher.template launch<FinishKernel>(job.blocks, job);
}

// Decodes a frame of `count` values: values <- frame, or values += frame, according to Target.
template <class Target, class Launcher>
void decode(Launcher& launcher, const Source& source, typename Target::Value* values, std::uint64_t count,
            const CallMemory& memory) {
  const auto chunks = static_cast<std::uint32_t>(chunks_of(count));
  const ExpectedFrame expected{count, dtype_of<typename Target::Frame>, chunks};
  launcher.template launch<DecodeKernel<Target>>(std::max(chunks, 1u),
                                                 {source, values, expected, memory.scratch});
  launcher.template launch<FinishKernel>(1, finish_job(memory));
}

}  // namespace taut::exponents::cuda
