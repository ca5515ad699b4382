// Launches the kernels of each call, in order, with their memory. Launcher: see gpu/planes/calls.hpp.
#pragma once

#include <algorithm>

#include "gpu/mpc/decode.hpp"
#include "gpu/mpc/encode.hpp"

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
  return sizeof(Scratch) + sizeof(ChunkWords) * groups_of(chunks_of_words<Word>(count));
}

struct CallPlace {
  Scratch* scratch;
  CallResult* result;
};

// Values to be encoded. `header` gives type, count, distance, and the bound that `rounding` satisfies.
template <class Word>
struct EncodeCall {
  const Word* values;
  std::uint64_t count;
  FrameHeader header;
  Rounding rounding = {};
};

// Encodes the values of `call`. `room` is large enough for the header and the values.
template <class Word, class Launcher>
void encode(Launcher& launcher, const EncodeCall<Word>& call, const FrameRoom& room, const CallPlace& place) {
  const std::uint32_t chunks = chunks_of_words<Word>(call.count), groups = groups_of(chunks);
  const std::size_t bytes = call.count * sizeof(Word), index = index_bytes(chunks);
  const bool stored = index > bytes;
  auto* const frame = reinterpret_cast<std::uint32_t*>(room.at);
  FrameSeal seal{.frame = frame,
                 .capacity = stored ? 0 : static_cast<std::uint32_t>((bytes - index) / index_unit),
                 .chunks = chunks,
                 .blocks = stored ? storing_blocks(groups) : groups + closing_blocks(groups),
                 .scratch = place.scratch,
                 .result = place.result,
                 .header = {}};
  write_header(call.header, std::as_writable_bytes(std::span(seal.header)));
  const Sink sink{.index = frame + header_words,
                  .records = frame + header_words + chunks + 1,
                  .capacity = seal.capacity,
                  .slot_words = 0,
                  .chunks = stored ? 0 : groups,
                  .control = &place.scratch->control,
                  .of_chunks = reinterpret_cast<ChunkWords*>(place.scratch + 1)};
  launcher.template launch<EncodeKernel<Word>>(
      seal.blocks, {call.values, call.count, call.header.parameters[0], call.rounding, sink, seal});
}

// Decodes a frame: values <- frame, or values += frame, according to Target. `count` is the number of words.
// A number of `type` has one word, or two if it is complex.
template <class Target, class Launcher>
void decode(Launcher& launcher, const Source& source, DType type, typename Target::Word* values,
            std::uint64_t count, const CallPlace& place) {
  using Word = typename Target::Word;
  const std::uint32_t chunks = chunks_of_words<Word>(count);
  const Opening opening{count / components_of(type), type, static_cast<std::uint32_t>(size_of(type)), chunks};
  const std::uint32_t blocks = std::max(groups_of(chunks), 1u);
  launcher.template launch<DecodeKernel<Target>>(
      blocks, {source, values, count, opening, place.scratch, blocks, place.result});
}

}  // namespace taut::mpc::cuda
