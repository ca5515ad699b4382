// The calls of taut_cuda.h on mpc frames: arguments checked, kernels put on the stream. No logic of the codec.
#include "api/cuda_call.hpp"
#include "codecs/mpc/cuda/calls.hpp"

namespace taut::api {
namespace {

// What all calls have in common.
struct Message {
  DType type;
  std::uint64_t words;
  cudaStream_t stream;
  TAUT_Cuda_result* result;

  template <class Word>
  mpc::cuda::CallPlace place() const {
    std::byte* const at = scratch().of(stream, CudaScratch::Use::mpc, mpc::cuda::scratch_bytes<Word>(words));
    return {reinterpret_cast<mpc::cuda::Scratch*>(at), result_at(result)};
  }
};

// Runs action.operator()<Word>(message); its status, or that of what it throws.
template <class Action>
int on_words(size_t count, int type, TAUT_Cuda_result* result, void* stream, Action action) noexcept {
  if (!is_type(type)) return static_cast<int>(Status::invalid_type);
  const DType dtype{static_cast<std::uint8_t>(type)};
  const std::size_t parts = components_of(dtype);
  if (count > mpc::max_count / parts) return static_cast<int>(Status::invalid_count);
  const Message message{dtype, count * parts, static_cast<cudaStream_t>(stream), result};
  return guarded([&] {
    switch (size_of(component_of(dtype))) {
      case 1: return action.template operator()<std::uint8_t>(message);
      case 2: return action.template operator()<std::uint16_t>(message);
      case 4: return action.template operator()<std::uint32_t>(message);
      default: return action.template operator()<std::uint64_t>(message);
    }
  });
}

template <class Word>
bool usable(const Message& message, const void* values, const void* frame) {
  return message.result != nullptr && frame != nullptr && aligned(frame, 16) && aligned(values, sizeof(Word)) &&
         (values != nullptr || message.words == 0);
}

}  // namespace

int reserve_lossless(size_t count, int type, void* stream) noexcept {
  return on_words(count, type, nullptr, stream, []<class Word>(const Message& message) {
    message.place<Word>();
    return 0;
  });
}

}  // namespace taut::api

using namespace taut;
using namespace taut::api;

extern "C" {

int TAUT_Encode_lossless_cuda(const void* values, size_t count, int type, int distance, void* frame, size_t capacity,
                              TAUT_Cuda_result* result, void* stream) {
  return on_words(count, type, result, stream, [&]<class Word>(const Message& message) {
    if (!usable<Word>(message, values, frame) || distance < 0 || distance > static_cast<int>(mpc::max_distance))
      return static_cast<int>(Status::invalid_argument);
    if (capacity < frame_header_bytes + message.words * sizeof(Word)) return static_cast<int>(Status::buffer_too_small);
    FrameHeader header{.codec = mpc::frame_id, .type = message.type, .count = count};
    header.parameters[0] = static_cast<std::uint8_t>(distance != 0 ? distance : components_of(message.type));
    StreamLauncher launcher{message.stream};
    mpc::cuda::encode<Word>(launcher, {static_cast<const Word*>(values), message.words, header},
                            {static_cast<std::byte*>(frame), capacity}, message.place<Word>());
    return 0;
  });
}

int TAUT_Decode_lossless_cuda(const void* frame, size_t bytes, void* values, size_t count, int type,
                              TAUT_Cuda_result* result, void* stream) {
  return on_words(count, type, result, stream, [&]<class Word>(const Message& message) {
    if (!usable<Word>(message, values, frame)) return static_cast<int>(Status::invalid_argument);
    StreamLauncher launcher{message.stream};
    mpc::cuda::decode<Word>(launcher, cuda::source_of(static_cast<const std::byte*>(frame), bytes), message.type,
                            static_cast<Word*>(values), message.words, message.place<Word>());
    return 0;
  });
}

}  // extern "C"
