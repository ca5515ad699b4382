// Common parts of the calls of taut_cuda.h on planes frames.
#pragma once

#include <cmath>

#include "compressor/codecs/planes/typed_codec.hpp"
#include "compressor/gpu/cuda_call.hpp"
#include "compressor/gpu/planes/calls.hpp"

namespace taut::api {

// Runs action.operator()<T>(), where T is the type of a component of `type`. Returns the action's status, or
// the status of the exception that the action throws.
template <class Action>
int on_numbers(int type, std::size_t count, Action action) noexcept {
  if (!is_type(type)) return static_cast<int>(Status::invalid_type);
  const DType dtype{static_cast<std::uint8_t>(type)};
  if (count > planes::max_count / components_of(dtype)) return static_cast<int>(Status::invalid_count);
  return guarded([&] {
    switch (component_of(dtype)) {
      case DType::f32: return action.template operator()<float>();
      case DType::f64: return action.template operator()<double>();
      case DType::f16: return action.template operator()<f16>();
      case DType::bf16: return action.template operator()<bf16>();
      default: return static_cast<int>(Status::invalid_type);
    }
  });
}

inline bool is_frame(const void* frame) { return frame != nullptr && aligned(frame, 16); }

// True if memory holds slots of a size that kernels accept, and their words.
inline bool are_slots(const std::uint32_t* words, const void* slots, std::size_t slot_bytes) {
  return words != nullptr && slots != nullptr && aligned(words, 4) && aligned(slots, 4) &&
         slot_bytes % 4 == 0 && slot_bytes > 0 && slot_bytes <= 1 << 20;
}

// Arguments that all calls share, and the scratch memory of a call.
template <class T>
struct Call {
  DType type;
  std::size_t count;  // number of T
  StreamLauncher launcher;
  TAUT_Cuda_result* result;

  Call(int of, std::size_t values, TAUT_Cuda_result* to, void* stream)
      : type{static_cast<std::uint8_t>(of)},
        count(values * components_of(type)),
        launcher{static_cast<cudaStream_t>(stream)},
        result(to) {}

  planes::cuda::CallPlace place() const {
    std::byte* const at =
        scratch().of(launcher.stream, CudaScratch::Use::planes, planes::cuda::scratch_bytes(count));
    return {reinterpret_cast<planes::cuda::Scratch*>(at), result_at(result)};
  }
  // Slots in scratch memory. Every slot is large enough for any chunk.
  planes::cuda::Slots slots() const {
    constexpr std::uint32_t slot_words = planes::cuda::whole_slot_words<T>();
    const std::size_t chunks = planes::chunks_of(count);
    std::byte* const at =
        scratch().of(launcher.stream, CudaScratch::Use::slots, 4 * chunks * (1 + slot_words));
    auto* const words = reinterpret_cast<std::uint32_t*>(at);
    return {words, words + chunks, slot_words};
  }
  // Return true if kernels can access the memory. A kernel that accessed other memory would end the context.
  bool has_values(const void* values) const {
    return (values != nullptr || count == 0) && aligned(values, sizeof(T));
  }
  bool has_result() const { return result != nullptr && aligned(result, alignof(TAUT_Cuda_result)); }
  bool can_use(const void* frame, const void* values) const {
    return has_result() && has_values(values) && is_frame(frame);
  }
  bool holds_index(std::size_t capacity) const {
    return capacity >= frame_header_bytes + 4 * (planes::chunks_of(count) + 1);
  }
};

inline bool usable(const TAUT_Cuda_coding* coding) {
  return coding != nullptr && coding->bound > 0 && std::isfinite(coding->bound) && coding->predictor >= 0 &&
         coding->predictor <= 3 && (coding->exact_bits == 0 || coding->exact_bits == 1);
}

template <class T>
planes::cuda::EncodeCall<T> encoding(const Call<T>& call, const void* values,
                                     const TAUT_Cuda_coding& coding) {
  const Bound bound{coding.snap != 0 ? Bound::Kind::snap : Bound::Kind::absolute, coding.bound};
  const auto bits = coding.exact_bits != 0 ? PackedBits::exact : PackedBits::rounded;
  const auto z = planes::Quantiser<T>::make(bound, static_cast<planes::Predictor>(coding.predictor), bits);
  const FrameHeader header{.codec = planes::frame_id,
                           .type = call.type,
                           .count = call.count / components_of(call.type),
                           .bound = bound,
                           .step = static_cast<double>(z.step)};
  return {static_cast<const T*>(values), call.count, z, header};
}

}  // namespace taut::api
