// Launches the kernels of each call, in order, with their memory. Launcher: see
// compressor/gpu/planes/calls.hpp.
#pragma once

#include <algorithm>

#include "compressor/gpu/mpc/decode.hpp"
#include "compressor/gpu/mpc/encode.hpp"
#include "compressor/gpu/mpc/grid.hpp"
#include "compressor/gpu/mpc/lags.hpp"

namespace taut::mpc::cuda {

// Calls action.operator()<Word>() for the words of `type`.
template <class Action>
decltype(auto) with_word(DType type, Action action) {
  switch (size_of(component_of(type))) {
    case 1: return action.template operator()<std::uint8_t>();
    case 2: return action.template operator()<std::uint16_t>();
    case 4: return action.template operator()<std::uint32_t>();
    default: return action.template operator()<std::uint64_t>();
  }
}

// Calls action.operator()<T>(), where T is the type by which numbers of `type` are added: see Add.
template <class Action>
decltype(auto) with_addend(DType type, Action action) {
  switch (component_of(type)) {
    case DType::f32: return action.template operator()<float>();
    case DType::f64: return action.template operator()<double>();
    case DType::f16: return action.template operator()<f16>();
    case DType::bf16: return action.template operator()<bf16>();
    default: return with_word(type, action);
  }
}

// Returns the number of chunks of `count` words.
template <class Word>
std::uint32_t chunks_of_words(std::uint64_t count) {
  return static_cast<std::uint32_t>(chunks_of(count * sizeof(Word)));
}

// Returns the size of the scratch memory for a call on `count` words.
template <class Word>
std::size_t scratch_bytes(std::uint64_t count) {
  return sizeof(Scratch) + sizeof(ChunkState) * groups_of(chunks_of_words<Word>(count));
}

struct CallMemory {
  Scratch* scratch;
  ResultPlace result;
};

// Returns the size of the additional memory for a call on `count` words with lags: residuals, or totals of
// columns.
template <class Word>
std::size_t lagged_bytes(std::uint64_t count) {
  const std::size_t totals = std::size_t{columns_threads} * columns_blocks(count) * sizeof(InRegister<Word>);
  return std::max<std::size_t>(count * sizeof(Word), totals);
}

// Values to be encoded. `header` gives type, count, distance, and the bound that `rounding` satisfies.
template <class Word>
struct EncodeCall {
  const Word* values;
  std::uint64_t count;
  FrameHeader header;
  Rounding rounding = {};
  Lags lags = {};               // in words, each below `count`
  std::byte* lagged = nullptr;  // with lags: lagged_bytes()
};

template <class Word>
FinishJob<Word> finish_job(const CallMemory& memory) {
  FinishJob<Word> job{};
  job.scratch = memory.scratch;
  job.result = memory.result;
  job.blocks = 1;
  return job;
}

// Returns the call on the residuals that remain after prediction from the lags.
template <class Word, class Launcher>
EncodeCall<Word> without_lags(Launcher& launcher, EncodeCall<Word> call) {
  if (!call.lags.any()) return call;
  auto* const residuals = reinterpret_cast<Word*>(call.lagged);
  const std::uint32_t blocks = columns_blocks(call.count);
  launcher.template launch<ResidualsKernel<Word>>(
      blocks, {call.values, call.count, call.rounding, call.lags, residuals, blocks});
  call.values = residuals;
  call.rounding = {};
  return call;
}

// Encodes the values of `call`. `room` is large enough for the header and the values.
template <class Word, class Launcher>
void encode(Launcher& launcher, const EncodeCall<Word>& call, const FrameMemory& room,
            const CallMemory& memory) {
  constexpr unsigned most_blocks = 256;
  const std::uint32_t chunks = chunks_of_words<Word>(call.count), groups = groups_of(chunks);
  const std::size_t bytes = call.count * sizeof(Word), index = index_bytes(chunks) + index_unit * call.lags.n;
  auto* const frame = reinterpret_cast<std::uint32_t*>(room.data);
  FinishJob<Word> job = finish_job<Word>(memory);
  job.frame = frame;
  job.values = call.values;
  job.count = call.count;
  job.rounding = call.rounding;
  job.lags = call.lags;
  job.stored = index > bytes;
  job.capacity = job.stored ? 0 : static_cast<std::uint32_t>((bytes - index) / index_unit);
  job.chunks = chunks;
  job.blocks = std::clamp(groups, 1u, most_blocks);
  write_header(call.header, std::as_writable_bytes(std::span(job.header)));
  if (!job.stored) {
    std::uint32_t* const ends = frame + header_words + call.lags.n;
    const Sink sink{.index = ends,
                    .records = ends + chunks + 1,
                    .capacity = job.capacity,
                    .slot_words = 0,
                    .chunks = groups,
                    .control = &memory.scratch->control,
                    .chunk_states = reinterpret_cast<ChunkState*>(memory.scratch + 1)};
    const EncodeCall<Word> coded = without_lags(launcher, call);
    launcher.template launch<EncodeKernel<Word>>(
        groups, {coded.values, coded.count, coded.header.parameters[0], coded.rounding, chunks, sink});
  }
  launcher.template launch<FinishKernel<Word>>(job.blocks, job);
}

template <class Target, class Launcher>
void launch_decoder(Launcher& launcher, const Source& source, DType type, typename Target::Word* values,
                    std::uint64_t count, bool lagged, const CallMemory& memory) {
  const std::uint32_t chunks = chunks_of_words<typename Target::Word>(count);
  constexpr std::uint32_t word_bytes = sizeof(typename Target::Word);
  const bool may_have_grid = info_of(type).family != Family::integer && word_bytes >= sizeof(float);
  const Opening opening{
      count / components_of(type),   type, static_cast<std::uint32_t>(size_of(type)), chunks, count, lagged,
      may_have_grid ? word_bytes : 0};
  launcher.template launch<DecodeKernel<Target>>(std::max(groups_of(chunks), 1u),
                                                 {source, values, count, opening, memory.scratch});
}

// Decodes a frame without lags and grid: values <- frame, or values += frame, according to Target. `count` is
// the number of words. A number of `type` has one word, or two if it is complex.
template <class Target, class Launcher>
void decode(Launcher& launcher, const Source& source, DType type, typename Target::Word* values,
            std::uint64_t count, const CallMemory& memory) {
  launch_decoder<Target>(launcher, source, type, values, count, false, memory);
  launcher.template launch<FinishKernel<typename Target::Word>>(1, finish_job<typename Target::Word>(memory));
}

// Decodes a frame, which may have lags and a grid: values <- frame. `lagged`: lagged_bytes() of memory.
template <class Word, class Launcher>
void decode_lagged(Launcher& launcher, const Source& source, DType type, Word* values, std::uint64_t count,
                   std::byte* lagged, const CallMemory& memory) {
  launch_decoder<Replace<Word>>(launcher, source, type, values, count, true, memory);
  const std::uint32_t blocks = columns_blocks(count);
  for (unsigned lag = 0; lag < max_lags; ++lag) {
    const LagJob<Word> job{values,        count, reinterpret_cast<InRegister<Word>*>(lagged),
                           blocks,        lag,   source.frame,
                           memory.scratch};
    launcher.template launch<LagTotalsKernel<Word>>(blocks, job);
    launcher.template launch<LagCarriesKernel<Word>>(blocks, job);
    launcher.template launch<LagSumsKernel<Word>>(blocks, job);
  }
  if constexpr (sizeof(Word) >= sizeof(float))
    launcher.template launch<GridKernel<Word>>(blocks, {values, count, blocks, source.frame, memory.scratch});
  launcher.template launch<FinishKernel<Word>>(1, finish_job<Word>(memory));
}

}  // namespace taut::mpc::cuda
