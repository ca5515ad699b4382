// Implements the calls of taut_cuda.h on mpc frames: checks arguments and launches kernels on the stream.
// Contains no logic of the codec.
#include <cmath>

#include "compressor/gpu/cuda_call.hpp"
#include "compressor/gpu/cuda_services.hpp"
#include "compressor/gpu/mpc/calls.hpp"

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
  // Returns the additional memory of calls with lags.
  template <class Word>
  std::byte* lagged() const {
    return scratch().of(stream, CudaScratch::Use::integers, mpc::cuda::lagged_bytes<Word>(words));
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

FrameHeader header_of(const Message& message, const LosslessCoding& coding, const Lags& lags) {
  const std::size_t parts = components_of(message.type);
  FrameHeader header{.codec = mpc::frame_id, .type = message.type, .count = message.words / parts};
  if (coding.relative > 0) header.bound = {Bound::Kind::pointwise, coding.relative};
  header.parameters[0] = static_cast<std::uint8_t>(coding.distance);
  header.parameters[1] = static_cast<std::uint8_t>(lags.n);
  return header;
}

// Converts lags from values to words, and leaves out lags that reach no value.
Lags lags_of_words(const Message& message, const Lags& lags) {
  const std::size_t parts = components_of(message.type);
  Lags of_words = lags.within(message.words / parts);
  for (std::uint32_t& lag : of_words.of) lag *= static_cast<std::uint32_t>(parts);
  return of_words;
}

template <class Word>
int encode(const Message& message, const void* values, const LosslessCoding& coding, const cuda::FrameRoom& room) {
  if (!usable<Word>(message, values, room.at)) return static_cast<int>(Status::invalid_argument);
  if (room.bytes < frame_header_bytes + message.words * sizeof(Word)) return static_cast<int>(Status::buffer_too_small);
  StreamLauncher launcher{message.stream};
  const Lags lags = lags_of_words(message, coding.lags);
  const FrameHeader header = header_of(message, coding, lags);
  const PackedBits bits = coding.exact_bits ? PackedBits::exact : PackedBits::rounded;
  const mpc::Rounding rounding =
      header.bound.exact() ? mpc::Rounding{} : mpc::Rounding::within(header.bound.value, component_of(message.type), bits);
  mpc::cuda::encode<Word>(launcher,
                          {static_cast<const Word*>(values), message.words, header, rounding, lags,
                           lags.any() ? message.lagged<Word>() : nullptr},
                          room, message.place<Word>());
  return 0;
}

// Common part of the decoding calls. Target: see compressor/gpu/mpc/target.hpp.
template <class Target>
int decode(const Message& message, const void* frame, size_t bytes, void* values) {
  using Word = typename Target::Word;
  if (!usable<Word>(message, values, frame)) return static_cast<int>(Status::invalid_argument);
  StreamLauncher launcher{message.stream};
  mpc::cuda::decode<Target>(launcher, cuda::source_of(static_cast<const std::byte*>(frame), bytes), message.type,
                            static_cast<Word*>(values), message.words, message.place<Word>());
  return 0;
}

template <class Word>
int decode_lagged(const Message& message, const void* frame, size_t bytes, void* values) {
  if (!usable<Word>(message, values, frame)) return static_cast<int>(Status::invalid_argument);
  StreamLauncher launcher{message.stream};
  mpc::cuda::decode_lagged(launcher, cuda::source_of(static_cast<const std::byte*>(frame), bytes), message.type,
                           static_cast<Word*>(values), message.words, message.lagged<Word>(), message.place<Word>());
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
    mpc::cuda::encode<Word>(loader, {values, words, header, {}, Lags{{64}, 1}, memory}, {memory, 0}, place);
    mpc::cuda::decode<mpc::cuda::Replace<Word>>(loader, source, type, values, words, place);
    mpc::cuda::decode_lagged(loader, source, type, values, words, memory, place);
  });
  mpc::cuda::with_addend(type, [&]<class T>() {
    using Target = mpc::cuda::Add<T>;
    mpc::cuda::decode<Target>(loader, source, type, reinterpret_cast<typename Target::Word*>(memory), words, place);
  });
}

}  // namespace

int encode_lossless(const void* values, std::size_t count, int type, const LosslessCoding* coding, void* frame,
                    std::size_t capacity, TAUT_Cuda_result* result, void* stream) noexcept {
  return on_message(count, type, result, stream, [&](const Message& message) {
    if (coding->distance < 0 || coding->distance > static_cast<int>(mpc::max_distance) || !(coding->relative >= 0) ||
        !std::isfinite(coding->relative))
      return static_cast<int>(Status::invalid_argument);
    if (coding->relative > 0 && info_of(message.type).family == Family::integer) return static_cast<int>(Status::invalid_type);
    const cuda::FrameRoom room{static_cast<std::byte*>(frame), capacity};
    return mpc::cuda::with_word(message.type, [&]<class Word>() { return encode<Word>(message, values, *coding, room); });
  });
}

int decode_lossless_lagged(const void* frame, size_t bytes, void* values, size_t count, int type, TAUT_Cuda_result* result,
                           void* stream) noexcept {
  return on_message(count, type, result, stream, [&](const Message& message) {
    return mpc::cuda::with_word(message.type, [&]<class Word>() { return decode_lagged<Word>(message, frame, bytes, values); });
  });
}

int reserve_lossless_lagged(size_t count, int type, void* stream) noexcept {
  return on_message(count, type, nullptr, stream, [](const Message& message) {
    return mpc::cuda::with_word(message.type, [&]<class Word>() {
      message.lagged<Word>();
      return 0;
    });
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
  const int usual = is_type(type) ? static_cast<int>(components_of(DType{static_cast<std::uint8_t>(type)})) : 1;
  const LosslessCoding coding{distance != 0 ? distance : usual, relative, false, {}};
  return encode_lossless(values, count, type, &coding, frame, capacity, result, stream);
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
