// Launches the kernels of each call, in order, with their memory. A Launcher puts kernels on a stream
// (cuda_call.hpp), or runs them on the shim of the tests:
//
//   template <class Kernel> void launch(unsigned blocks, const typename Kernel::Job& job);
#pragma once

#include <algorithm>

#include "compressor/gpu/planes/decode.hpp"
#include "compressor/gpu/planes/encode.hpp"
#include "compressor/gpu/planes/sum_exact.hpp"

namespace taut::planes::cuda {

// Returns the size of the scratch memory for a call on `count` values.
inline std::size_t scratch_bytes(std::uint64_t count) {
  return sizeof(Scratch) + sizeof(ChunkState) * chunks_of(count);
}

// Scratch memory with a slot for each chunk's record, so that no chunk waits for another.
struct Slots {
  std::uint32_t* words;  // number of words of each record
  std::uint32_t* slots;
  std::uint32_t slot_words;  // size of a slot
};

struct CallMemory {
  Scratch* scratch;
  ResultPlace result;
  bool polled = true;  // see FrameSeal

  ChunkState* chunk_states() const { return reinterpret_cast<ChunkState*>(scratch + 1); }
};

// Returns the sink of a frame. `words_before`: words of lags or state numbers before the index.
inline Sink sink_of(const FrameMemory& room, std::uint64_t count, const CallMemory& memory,
                    unsigned words_before = 0) {
  const auto chunks = static_cast<std::uint32_t>(chunks_of(count));
  auto* const words = reinterpret_cast<std::uint32_t*>(room.data);
  const std::size_t before = header_words + words_before + chunks + 1, all = room.bytes / 4;
  return {
      .index = words + header_words + words_before,
      .records = words + before,
      .capacity = static_cast<std::uint32_t>(std::min<std::size_t>(all - std::min(all, before), UINT32_MAX)),
      .slot_words = 0,
      .chunks = chunks,
      .control = &memory.scratch->control,
      .chunk_states = memory.chunk_states()};
}

// Returns the sink of slots.
inline Sink sink_of(const Slots& slots, std::uint64_t count, const CallMemory& memory) {
  return {.index = slots.words,
          .records = slots.slots,
          .capacity = 0,
          .slot_words = slots.slot_words,
          .chunks = static_cast<std::uint32_t>(chunks_of(count)),
          .control = &memory.scratch->control,
          .chunk_states = nullptr};
}

inline constexpr unsigned max_exact_blocks = 256;

// Number of blocks of a kernel that opens frames. A frame without chunks is opened, too.
inline std::uint32_t opening_blocks(std::uint32_t chunks) { return std::max(chunks, 1u); }

// Number of blocks of a kernel for the chunks that another one leaves.
inline std::uint32_t exact_blocks_for(std::uint32_t chunks) {
  return std::clamp(chunks, 1u, max_exact_blocks);
}

// Values to be encoded. `header` gives count, bound and step; its type is T or complex numbers of T.
template <class T>
struct EncodeCall {
  const T* values;
  std::uint64_t count;  // number of T
  Quantiser<T> z;       // converts the values to integers
  FrameHeader header;
};

// Calls action.operator()<Bits>(). Bits: `exact` if packed integers must keep their bits.
template <class T, class Action>
void with_packed_bits(const Quantiser<T>& z, Action action) {
  if constexpr (NumberRange<T>::has_limits)
    if (z.exact_bits) return action.template operator()<PackedBits::exact>();
  action.template operator()<PackedBits::rounded>();
}

// Returns the seal (header and end, FrameSeal) of a call that writes no header, with one block.
inline FrameSeal seal_of(std::uint64_t count, const CallMemory& memory) {
  FrameSeal seal{};
  seal.scratch = memory.scratch;
  seal.result = memory.result;
  seal.polled = memory.polled;
  seal.chunks = static_cast<std::uint32_t>(chunks_of(count));
  seal.blocks = 1;
  return seal;
}

// Returns the seal of an encoding.
template <class T>
FrameSeal seal_of(const EncodeCall<T>& call, const CallMemory& memory) {
  FrameSeal seal = seal_of(call.count, memory);
  FrameHeader header = call.header;
  header.parameters[0] = static_cast<std::uint8_t>(call.z.predictor);
  write_header(header, std::as_writable_bytes(std::span(seal.header)));
  return seal;
}

template <class T>
EncodeJob<T> encode_job(const EncodeCall<T>& call, const Sink& sink, const FrameSeal& seal) {
  return {call.values, call.count, call.z, sink, nullptr, LargeRange<T>::make(call.z), seal};
}

template <class T, class Launcher>
void launch_encoder(Launcher& launcher, const EncodeJob<T>& job) {
  with_packed_bits(job.z, [&]<PackedBits Bits>() {
    launcher.template launch<EncodeKernel<T, Bits>>(job.seal.blocks, job);
  });
}

// Encodes to a frame (Canonical in sink.hpp). `room` holds at least the codec's max_bytes.
template <class T, class Launcher>
void encode(Launcher& launcher, const EncodeCall<T>& call, const FrameMemory& room,
            const CallMemory& memory) {
  Sink sink = sink_of(room, call.count, memory);
  FrameSeal seal = seal_of(call, memory);
  seal.frame = reinterpret_cast<std::uint32_t*>(room.data);
  if (call.z.step != 0) {
    seal.blocks = sink.chunks + closing_blocks(sink.chunks);
  } else {  // the frame is stored: there are no chunks to encode
    seal.blocks = storing_blocks(sink.chunks);
    sink.chunks = 0;
  }
  launch_encoder(launcher, encode_job(call, sink, seal));
}

template <class T>
struct DecodeEndKernel : EndKernel<DecodeExactKernel<T>> {};
template <class T>
struct SumEndKernel : EndKernel<SumExactKernel<T>> {};

// Launches the last kernel of a call. Kernel: an EndKernel.
template <class Kernel, class Exact, class Launcher>
void end_call(Launcher& launcher, const Exact& exact, std::uint32_t blocks, FrameSeal seal) {
  seal.blocks = blocks;
  launcher.template launch<Kernel>(blocks, {exact, seal});
}

template <class T, class Expected>
DecodeJob<T, Expected> decode_job(const Source& source, T* values, const Expected& expected, bool add,
                                  const CallMemory& memory) {
  const auto chunks = static_cast<std::uint32_t>(chunks_of(expected.values));
  return {.source = source,
          .values = values,
          .expected = expected,
          .chunks = chunks,
          .add = add,
          .scratch = memory.scratch,
          .deferred = memory.chunk_states(),
          .blocks = exact_blocks_for(chunks)};
}

// Decodes a frame: values <- frame, or values += frame. `type` is T or complex numbers of T; `count` is the
// number of T.
template <class T, class Launcher>
void decode(Launcher& launcher, const Source& source, DType type, T* values, std::uint64_t count, bool add,
            const CallMemory& memory) {
  const ExpectedFrame expected{count, type, LagsUse::refused};
  const DecodeJob<T> job = decode_job(source, values, expected, add, memory);
  launcher.template launch<DecodeKernel<T>>(opening_blocks(job.chunks), job);
  end_call<DecodeEndKernel<T>>(launcher, job, job.blocks, seal_of(count, memory));
}

using taut::cuda::source_of;
inline Source source_of(const Slots& slots) {
  return {nullptr, 0, slots.words, slots.slots, slots.slot_words};
}

// Operands of a sum. Slots among the sources hold one addend each, with the step and predictor of `z`, and
// come after all frames.
template <class T>
struct SumCall {
  std::span<const Source> sources;  // at most max_sources
  DType type;
  std::uint64_t count;                     // number of T
  Quantiser<T> z;                          // step and predictor of the slots
  FrameHeader header = {};                 // header of the slots; used if the first source is not a frame
  bool slots_use_first_predictor = false;  // slots have the first source's predictor instead
};

template <class T>
SumInput sum_input(const SumCall<T>& call, const FrameMemory& room) {
  SumInput input{};
  std::ranges::copy(call.sources, input.sources);
  input.count = static_cast<unsigned>(call.sources.size());
  input.expected = {call.count, call.type, LagsUse::kept};
  input.room = room.bytes;
  input.slots_step = static_cast<double>(call.z.step);
  input.slots_predictor = call.z.predictor;
  input.slots_use_first_predictor = call.slots_use_first_predictor;
  write_header(call.header, std::as_writable_bytes(std::span(input.slots_header)));
  return input;
}

// Computes room <- the sum of all sources. Reports buffer_too_small if the sum does not fit.
template <class T, class Launcher>
void sum(Launcher& launcher, const SumCall<T>& call, const FrameMemory& room, const CallMemory& memory) {
  const Sink sink = sink_of(room, call.count, memory);
  const SumJob<T> sum{.input = sum_input(call, room),
                      .sink = sink,
                      .scratch = memory.scratch,
                      .deferred = memory.chunk_states(),
                      .blocks = exact_blocks_for(sink.chunks)};
  FrameSeal seal = seal_of(call.count, memory);
  seal.frame = reinterpret_cast<std::uint32_t*>(room.data);
  seal.is_sum = true;
  launcher.template launch<SumKernel<T>>(opening_blocks(sink.chunks), sum);
  end_call<SumEndKernel<T>>(launcher, sum, sum.blocks, seal);
}

// Number of words of a slot that is large enough for every chunk of T.
template <class T>
constexpr std::uint32_t whole_slot_words() {
  return layer_words<T>(chunk_values) + words_beyond_layer<T>;
}

// Computes room <- frame + values. The values are encoded with the frame's predictor to `slots`, of
// whole_slot_words each.
template <class T, class Launcher>
void accumulate(Launcher& launcher, const Source& frame, const EncodeCall<T>& values, const Slots& slots,
                const FrameMemory& room, const CallMemory& memory) {
  const Source sources[] = {frame, source_of(slots)};
  const SumCall<T> call{sources, values.header.type, values.count, values.z, values.header, true};
  if (values.count > 0) {
    EncodeJob<T> job = encode_job(values, sink_of(slots, values.count, memory), {});
    const bool has_header = frame.bytes >= frame_header_bytes;  // otherwise the sum is refused
    job.predictor_frame = has_header ? frame.frame : nullptr;
    job.seal.blocks = job.sink.chunks;  // the sum ends the call
    launch_encoder(launcher, job);
  }
  sum(launcher, call, room, memory);
}

}  // namespace taut::planes::cuda
