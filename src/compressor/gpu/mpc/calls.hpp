// Launches the kernels that encode or decode a frame, in order. Launcher: see
// compressor/gpu/planes/calls.hpp.
#pragma once

#include <algorithm>

#include "compressor/gpu/mpc/decode.hpp"
#include "compressor/gpu/mpc/grid_encode.hpp"

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

// Returns the bytes of the memory that a call on `count` words with lags or a grid needs besides its scratch
// memory: a FoundGrid, and residuals, grid codes or totals of columns.
template <class Word>
std::size_t extra_bytes(std::uint64_t count) {
  const std::size_t totals = std::size_t{columns_threads} * columns_blocks(count) * sizeof(InRegister<Word>);
  return sizeof(FoundGrid) + std::max<std::size_t>(count * sizeof(Word), totals);
}

// Values to be encoded. `header` gives type, count, the distance in words to the predicting word
// (parameters[0]), and the bound that `rounding` satisfies.
template <class Word>
struct EncodeCall {
  const Word* values;
  std::uint64_t count;
  FrameHeader header;
  Rounding rounding = {};
  Lags lags = {};              // in words, each below `count`
  std::byte* extra = nullptr;  // with lags or a grid: extra_bytes()
  bool seeks_grid = false;     // of values of floating-point type of 4 or 8 bytes, without rounding

  FoundGrid* found() const { return reinterpret_cast<FoundGrid*>(extra); }
  Word* residuals() const { return reinterpret_cast<Word*>(extra + sizeof(FoundGrid)); }
};

// Returns the job of a call's last kernel, which writes its result; an encoder sets further members.
template <class Word>
FinishJob<Word> finish_job(const CallMemory& memory) {
  FinishJob<Word> job{};
  job.scratch = memory.scratch;
  job.result = memory.result;
  job.blocks = 1;
  return job;
}

// Launches the prediction from lags. Returns the call on the residuals.
template <class Word, class Launcher>
EncodeCall<Word> launch_prediction(Launcher& launcher, EncodeCall<Word> call) {
  if (!call.lags.any()) return call;
  Word* const residuals = call.residuals();
  const std::uint32_t blocks = columns_blocks(call.count);
  launcher.template launch<ResidualsKernel<Word>>(
      blocks, {call.values, call.count, call.rounding, call.lags, residuals, blocks});
  call.values = residuals;
  call.rounding = {};
  return call;
}

// Launches the search of a grid, and the encoding of grid codes or, without a grid, of the values.
template <class Word, class Launcher>
void encode_on_grid(Launcher& launcher, const EncodeCall<Word>& call, const EncodeJob<Word>& without_grid) {
  const std::uint32_t blocks = columns_blocks(call.count);
  FoundGrid found{};  // without its grid, which FindGridKernel sets
  found.default_distance = without_grid.distance;
  found.capacity = without_grid.sink.capacity;
  if (call.count * sizeof(Word) >= min_sampled_bytes) {
    found.has_samples = 1;
    found.lags = call.lags;
    found.distances = call.lags.any() ? 1 : max_distances;
  }
  launcher.template launch<FindGridKernel<Word>>(1, {call.values, call.count, call.found(), found});
  if (found.has_samples != 0)
    launcher.template launch<SampleGridKernel<Word>>(
        SampleGridKernel<Word>::blocks(call.count, found.distances), {call.values, call.count, call.found()});
  launcher.template launch<GridCodesKernel<Word>>(
      blocks, {call.values, call.count, call.found(), call.residuals(), blocks});
  launcher.template launch<GridEncodeKernel<Word>>(without_grid.sink.chunks,
                                                   {without_grid, call.residuals(), call.found()});
}

// Encodes the values of `call`. `room` is large enough for the header and the values.
template <class Word, class Launcher>
void encode(Launcher& launcher, const EncodeCall<Word>& call, const FrameMemory& room,
            const CallMemory& memory) {
  constexpr unsigned max_blocks = 256;
  const std::uint32_t chunks = chunks_of_words<Word>(call.count), groups = groups_of(chunks);
  const Lags lags = call.seeks_grid ? Lags{} : call.lags;  // with a grid search, the kernels choose them
  const std::size_t bytes = call.count * sizeof(Word), index = index_bytes(chunks) + index_unit * lags.n;
  auto* const frame = reinterpret_cast<std::uint32_t*>(room.data);
  FinishJob<Word> job = finish_job<Word>(memory);
  job.frame = frame;
  job.values = call.values;
  job.count = call.count;
  job.rounding = call.rounding;
  job.lags = lags;
  job.stored = index > bytes;
  job.found = call.seeks_grid && !job.stored ? call.found() : nullptr;
  job.capacity = job.stored ? 0 : static_cast<std::uint32_t>((bytes - index) / index_unit);
  job.chunks = chunks;
  job.blocks = std::clamp(groups, 1u, max_blocks);
  write_header(call.header, std::as_writable_bytes(std::span(job.header)));
  if (!job.stored) {
    std::uint32_t* const ends = frame + header_words + lags.n;
    const Sink sink{.index = ends,
                    .records = ends + chunks + 1,
                    .capacity = job.capacity,
                    .slot_words = 0,
                    .chunks = groups,
                    .control = &memory.scratch->control,
                    .chunk_states = reinterpret_cast<ChunkState*>(memory.scratch + 1)};
    const auto job_of = [&](const EncodeCall<Word>& coded) {
      return EncodeJob<Word>{coded.values,   coded.count, coded.header.parameters[0],
                             coded.rounding, chunks,      sink};
    };
    if (call.seeks_grid) {
      if constexpr (sizeof(Word) >= sizeof(float)) encode_on_grid(launcher, call, job_of(call));
    } else {
      launcher.template launch<EncodeKernel<Word>>(groups, job_of(launch_prediction(launcher, call)));
    }
  }
  launcher.template launch<FinishKernel<Word>>(job.blocks, job);
}

// Returns true if frames of the type may have a grid.
template <class Word>
constexpr bool may_have_grid(DType type) {
  return info_of(type).family != Family::integer && sizeof(Word) >= sizeof(float);
}

// Launches the kernel that decodes the records. `undoes_lags`: the caller launches the kernels for lags next.
template <class Target, class Launcher>
void launch_decoder(Launcher& launcher, const Source& source, DType type, typename Target::Word* values,
                    std::uint64_t count, bool undoes_lags, const CallMemory& memory) {
  const std::uint32_t chunks = chunks_of_words<typename Target::Word>(count);
  constexpr std::uint32_t word_bytes = sizeof(typename Target::Word);
  const ExpectedFrame expected{count / components_of(type),
                               type,
                               static_cast<std::uint32_t>(size_of(type)),
                               chunks,
                               count,
                               undoes_lags,
                               may_have_grid<typename Target::Word>(type) ? word_bytes : 0};
  launcher.template launch<DecodeKernel<Target>>(std::max(groups_of(chunks), 1u),
                                                 {source, values, count, expected, memory.scratch});
}

// Decodes a frame without lags and grid: values <- frame, or values += frame, according to Target. `count` is
// the number of words. A number of `type` has one word, or two if it is complex.
template <class Target, class Launcher>
void decode(Launcher& launcher, const Source& source, DType type, typename Target::Word* values,
            std::uint64_t count, const CallMemory& memory) {
  launch_decoder<Target>(launcher, source, type, values, count, false, memory);
  launcher.template launch<FinishKernel<typename Target::Word>>(1, finish_job<typename Target::Word>(memory));
}

// Decodes a frame, which may have lags and a grid: values <- frame. `extra`: extra_bytes() of memory.
template <class Word, class Launcher>
void decode_lagged(Launcher& launcher, const Source& source, DType type, Word* values, std::uint64_t count,
                   std::byte* extra, const CallMemory& memory) {
  launch_decoder<Replace<Word>>(launcher, source, type, values, count, true, memory);
  const std::uint32_t blocks = columns_blocks(count);
  undo_lags<LagTotalsKernel<Word>, LagCarriesKernel<Word>, LagSumsKernel<Word>>(launcher, [&](unsigned lag) {
    auto* const totals = reinterpret_cast<InRegister<Word>*>(extra);
    return LagJob<Word>{values, count, totals, blocks, lag, source.frame, memory.scratch};
  });
  if constexpr (sizeof(Word) >= sizeof(float))
    launcher.template launch<GridKernel<Word>>(blocks, {values, count, blocks, source.frame, memory.scratch});
  launcher.template launch<FinishKernel<Word>>(1, finish_job<Word>(memory));
}

}  // namespace taut::mpc::cuda
