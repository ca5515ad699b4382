// Launches the kernels of calls on frames with references, as calls.hpp does.
#pragma once

#include "compressor/gpu/planes/calls.hpp"
#include "compressor/gpu/planes/decode_referenced.hpp"
#include "compressor/gpu/planes/encode_referenced.hpp"

namespace taut::planes::cuda {

// References of a call: arrays, and the numbers that identify them.
template <class T>
struct CallReferences {
  ReferenceArrays<T> arrays;
  StateNumbers states;
};

// Encodes to a frame, the same as on the CPU: with the references and `predictor` or, if a chunk cannot have
// references or the frame would not fit, without any and with the predictor of the call. `frame` is exactly
// as long as the codec's max_bytes. Requires a reference, a value, and a step other than 0.
template <class T, class Launcher>
void encode_referenced(Launcher& launcher, const EncodeCall<T>& call, Predictor predictor,
                       const CallReferences<T>& references, const FrameMemory& frame,
                       const CallMemory& memory) {
  const StateNumbers& states = references.states;
  FrameSeal seal = seal_of(call, memory);
  seal.frame = reinterpret_cast<std::uint32_t*>(frame.data);
  seal.blocks = seal.chunks + closing_blocks(seal.chunks);
  const EncodeJob<T> plain = encode_job(call, sink_of(frame, call.count, memory), seal);
  ReferencedEncodeJob<T> job{plain, references.arrays, states.n};
  job.encode.sink = sink_of(frame, call.count, memory, state_words * states.n);
  job.encode.z.predictor = predictor;
  with_packed_bits(call.z, [&]<PackedBits Bits>() {
    // If the first kernel asks for it, the others encode again without references. The last one ends the
    // call.
    launcher.template launch<ReferencedEncodeKernel<T, Bits>>(plain.sink.chunks, job);
    launcher.template launch<BeginAgainKernel>(1, {plain.sink.control});
    launcher.template launch<ReferencedEndKernel<T, Bits>>(seal.blocks, {plain, {states, predictor}});
  });
}

template <class T>
struct ReferencedDecodeEndKernel : EndKernel<ReferencedExactKernel<T>> {};

// Decodes as decode() does, also frames that name some of the references.
template <class T, class Launcher>
void decode_referenced(Launcher& launcher, const Source& source, DType type, T* values, std::uint64_t count,
                       bool add, const CallReferences<T>& references, const CallMemory& memory) {
  const ExpectedReferences expected{{count, type, LagsUse::refused}, references.states};
  const ReferencedDecodeJob<T> job{decode_job(source, values, expected, add, memory), references.arrays};
  launcher.template launch<ReferencedDecodeKernel<T>>(opening_blocks(job.chunks), job);
  end_call<ReferencedDecodeEndKernel<T>>(launcher, job, job.blocks, seal_of(count, memory));
}

}  // namespace taut::planes::cuda
