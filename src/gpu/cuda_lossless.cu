// Implements the calls of taut_cuda.h on mpc frames: checks arguments and launches kernels on the stream.
// Contains no logic of the codec.
#include <cmath>

#include "gpu/cuda_call.hpp"
#include "gpu/cuda_services.hpp"
#include "gpu/mpc/calls.hpp"

namespace taut::api {
namespace {

// Arguments that all calls share: the type, number of words, stream and result.
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

// Returns the status of action(message), or the status of the exception that the action throws.
template <class Action>
int on_message(size_t count, int type, TAUT_Cuda_result* result, void* stream, Action action) noexcept {
  if (!is_type(type)) return static_cast<int>(Status::invalid_type);
  const DType dtype{static_cast<std::uint8_t>(type)};
  const std::size_t parts = components_of(dtype);
  if (count > mpc::max_count / parts) return static_cast<int>(Status::invalid_count);
  return guarded([&] { return action(Message{dtype, count * parts, static_cast<cudaStream_t>(stream), result}); });
}

template <class Word>
bool usable(const Message& message, const void* values, const void* frame) {
  return message.result != nullptr && aligned(message.result, alignof(TAUT_Cuda_result)) && frame != nullptr && aligned(frame, 16) && aligned(values, sizeof(Word)) &&
         (values != nullptr || message.words == 0);
}

FrameHeader header_of(const Message& message, int distance, double relative) {
  const std::size_t parts = components_of(message.type);
  FrameHeader header{.codec = mpc::frame_id, .type = message.type, .count = message.words / parts};
  if (relative > 0) header.bound = {Bound::Kind::pointwise, relative};
  header.parameters[0] = static_cast<std::uint8_t>(distance != 0 ? distance : parts);
  return header;
}

template <class Word>
int encode(const Message& message, const void* values, const FrameHeader& header, PackedBits bits,
           const cuda::FrameRoom& room) {
  if (!usable<Word>(message, values, room.at)) return static_cast<int>(Status::invalid_argument);
  if (room.bytes < frame_header_bytes + message.words * sizeof(Word)) return static_cast<int>(Status::buffer_too_small);
  StreamLauncher launcher{message.stream};
  const mpc::Rounding rounding =
      header.bound.exact() ? mpc::Rounding{} : mpc::Rounding::within(header.bound.value, component_of(message.type), bits);
  mpc::cuda::encode<Word>(launcher, {static_cast<const Word*>(values), message.words, header, rounding}, room,
                          message.place<Word>());
  return 0;
}

// Common part of the decoding calls. Target: see gpu/mpc/target.hpp.
template <class Target>
int decode(const Message& message, const void* frame, size_t bytes, void* values) {
  using Word = typename Target::Word;
  if (!usable<Word>(message, values, frame)) return static_cast<int>(Status::invalid_argument);
  StreamLauncher launcher{message.stream};
  mpc::cuda::decode<Target>(launcher, cuda::source_of(static_cast<const std::byte*>(frame), bytes), message.type,
                            static_cast<Word*>(values), message.words, message.place<Word>());
  return 0;
}

// Loads the kernels of all calls on `type`.
void load_kernels(DType type, const mpc::cuda::CallPlace& place) {
  constexpr std::uint64_t words = 4096;  // enough for a frame that is not stored
  auto* const memory = reinterpret_cast<std::byte*>(place.scratch);  // no kernel runs
  const FrameHeader header{.codec = mpc::frame_id, .type = type, .count = words, .parameters = {1}};
  const cuda::Source source = cuda::source_of(memory, 0);
  KernelLoader loader;
  mpc::cuda::with_word(type, [&]<class Word>() {
    auto* const values = reinterpret_cast<Word*>(memory);
    mpc::cuda::encode<Word>(loader, {values, words, header}, {memory, 0}, place);
    mpc::cuda::decode<mpc::cuda::Replace<Word>>(loader, source, type, values, words, place);
  });
  mpc::cuda::with_addend(type, [&]<class T>() {
    using Target = mpc::cuda::Add<T>;
    mpc::cuda::decode<Target>(loader, source, type, reinterpret_cast<typename Target::Word*>(memory), words, place);
  });
}

}  // namespace

int encode_lossless(const void* values, std::size_t count, int type, int distance, double relative, int exact_bits,
                    void* frame, std::size_t capacity, TAUT_Cuda_result* result, void* stream) noexcept {
  return on_message(count, type, result, stream, [&](const Message& message) {
    if (distance < 0 || distance > static_cast<int>(mpc::max_distance) || !(relative >= 0) || !std::isfinite(relative))
      return static_cast<int>(Status::invalid_argument);
    if (relative > 0 && info_of(message.type).family == Family::integer) return static_cast<int>(Status::invalid_type);
    const FrameHeader header = header_of(message, distance, relative);
    const PackedBits bits = exact_bits != 0 ? PackedBits::exact : PackedBits::rounded;
    const cuda::FrameRoom room{static_cast<std::byte*>(frame), capacity};
    return mpc::cuda::with_word(message.type, [&]<class Word>() { return encode<Word>(message, values, header, bits, room); });
  });
}

int reserve_lossless(size_t count, int type, void* stream) noexcept {
  return on_message(count, type, nullptr, stream, [](const Message& message) {
    return mpc::cuda::with_word(message.type, [&]<class Word>() {
      load_kernels(message.type, message.place<Word>());
      return 0;
    });
  });
}

}  // namespace taut::api

using namespace taut;
using namespace taut::api;

extern "C" {

int TAUT_Encode_lossless_cuda(const void* values, size_t count, int type, int distance, double relative, void* frame,
                              size_t capacity, TAUT_Cuda_result* result, void* stream) {
  return encode_lossless(values, count, type, distance, relative, 0, frame, capacity, result, stream);
}

int TAUT_Decode_lossless_cuda(const void* frame, size_t bytes, void* values, size_t count, int type,
                              TAUT_Cuda_result* result, void* stream) {
  return on_message(count, type, result, stream, [&](const Message& message) {
    return mpc::cuda::with_word(message.type, [&]<class Word>() {
      return decode<mpc::cuda::Replace<Word>>(message, frame, bytes, values);
    });
  });
}

int TAUT_Decode_add_lossless_cuda(const void* frame, size_t bytes, void* values, size_t count, int type,
                                  TAUT_Cuda_result* result, void* stream) {
  return on_message(count, type, result, stream, [&](const Message& message) {
    return mpc::cuda::with_addend(message.type, [&]<class T>() {
      return decode<mpc::cuda::Add<T>>(message, frame, bytes, values);
    });
  });
}

}  // extern "C"
