// Kernels of the mpc codec for GPUs: checks arguments and launches kernels on the stream. Contains no logic of the
// codec.
#include <cmath>

#include "compressor/codecs/mpc/prediction.hpp"
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
    std::byte* const at =
        scratch().of(stream, CudaScratch::Use{mpc::frame_id, 0}, mpc::cuda::scratch_bytes<Word>(words));
    return {reinterpret_cast<mpc::cuda::Scratch*>(at), result_at(result)};
  }
  // Returns the additional memory of calls with lags.
  template <class Word>
  std::byte* lagged() const {
    return scratch().of(stream, CudaScratch::shared, mpc::cuda::lagged_bytes<Word>(words));
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
bool usable(const Message& message, const DeviceFrameItem& item) {
  return message.result != nullptr && aligned(message.result, alignof(TAUT_Cuda_result)) && item.frame != nullptr &&
         aligned(item.frame, 16) && aligned(item.values, sizeof(Word)) && (item.values != nullptr || message.words == 0);
}

// ---- Encoding

// Returns the status of a coding under which no kernel encodes values of the type.
Status check(const Coding& coding, DType type) {
  if (coding.bound.exact()) return Status::ok;
  if (coding.bound.kind != Bound::Kind::pointwise || !(coding.bound.value > 0) || !std::isfinite(coding.bound.value))
    return Status::invalid_argument;
  return info_of(type).family == Family::integer ? Status::invalid_type : Status::ok;
}

// Returns the prediction, with lags in words that reach some value. Nothing is sampled here: `auto` is the prediction
// that the host gives to short arrays.
mpc::Prediction prediction_for(const Message& message, const Coding& coding) {
  const auto parts = static_cast<std::uint32_t>(components_of(message.type));
  if (coding.predictor.automatic()) return {parts, {}};
  const auto [distance, lags] = mpc::prediction_of(coding.predictor, coding.dims);
  Lags of_words = lags.within(message.words / parts);
  for (std::uint32_t& lag : of_words.of) lag *= parts;
  return {distance, of_words};
}

template <class Word>
int encode_one(const Message& message, const Coding& coding, const DeviceFrameItem& item) {
  if (!usable<Word>(message, item)) return static_cast<int>(Status::invalid_argument);
  if (item.bytes < frame_header_bytes + message.words * sizeof(Word)) return static_cast<int>(Status::buffer_too_small);
  const auto [distance, lags] = prediction_for(message, coding);
  FrameHeader header{.codec = mpc::frame_id,
                     .type = message.type,
                     .count = message.words / components_of(message.type),
                     .bound = coding.bound};
  header.parameters[0] = static_cast<std::uint8_t>(distance);
  header.parameters[1] = static_cast<std::uint8_t>(lags.n);
  const mpc::Rounding rounding =
      coding.bound.exact() ? mpc::Rounding{}
                           : mpc::Rounding::within(coding.bound.value, component_of(message.type), coding.bits);
  StreamLauncher launcher{message.stream};
  mpc::cuda::encode<Word>(launcher,
                          {static_cast<const Word*>(item.values), message.words, header, rounding, lags,
                           lags.any() ? message.lagged<Word>() : nullptr},
                          {static_cast<std::byte*>(item.frame), item.bytes}, message.place<Word>());
  return 0;
}

int encode(const Coding& coding, const DeviceFrameItem* items, int n, int type, bool, void* stream) noexcept {
  return one_by_one(items, n, [&](const DeviceFrameItem& item) {
    return on_message(item.count, type, item.result, stream, [&](const Message& message) {
      if (const Status status = check(coding, message.type); status != Status::ok) return static_cast<int>(status);
      return mpc::cuda::with_word(message.type, [&]<class Word>() { return encode_one<Word>(message, coding, item); });
    });
  });
}

// ---- Decoding

// Target: see compressor/gpu/mpc/target.hpp.
template <class Target>
int decode_one(const Message& message, const DeviceFrameItem& item) {
  using Word = typename Target::Word;
  if (!usable<Word>(message, item)) return static_cast<int>(Status::invalid_argument);
  StreamLauncher launcher{message.stream};
  mpc::cuda::decode<Target>(launcher, cuda::source_of(static_cast<const std::byte*>(item.frame), item.bytes), message.type,
                            static_cast<Word*>(item.values), message.words, message.place<Word>());
  return 0;
}

template <class Word>
int decode_lagged(const Message& message, const DeviceFrameItem& item) {
  if (!usable<Word>(message, item)) return static_cast<int>(Status::invalid_argument);
  StreamLauncher launcher{message.stream};
  mpc::cuda::decode_lagged(launcher, cuda::source_of(static_cast<const std::byte*>(item.frame), item.bytes), message.type,
                           static_cast<Word*>(item.values), message.words, message.lagged<Word>(), message.place<Word>());
  return 0;
}

bool adds(const Coding& coding) noexcept { return !coding.predictor.lags.any(); }

int decode(const Coding& coding, const DeviceFrameItem* items, int n, int type, bool add, void* stream) noexcept {
  const bool lagged = coding.predictor.lags.any();
  if (add && !adds(coding)) return TAUT_ERR_CUDA_NEEDS_HOST;
  return one_by_one(items, n, [&](const DeviceFrameItem& item) {
    return on_message(item.count, type, item.result, stream, [&](const Message& message) {
      if (add)
        return mpc::cuda::with_addend(message.type, [&]<class T>() { return decode_one<mpc::cuda::Add<T>>(message, item); });
      return mpc::cuda::with_word(message.type, [&]<class Word>() {
        return lagged ? decode_lagged<Word>(message, item) : decode_one<mpc::cuda::Replace<Word>>(message, item);
      });
    });
  });
}

// ---- Reservation

// Loads the kernels of all calls on `type`. No kernel runs.
void load_kernels(DType type, const mpc::cuda::CallPlace& place) {
  constexpr std::uint64_t words = 4096;  // enough for a frame that is not stored
  auto* const memory = reinterpret_cast<std::byte*>(place.scratch);
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

int reserve(const Coding& coding, size_t count, int type, void* stream) noexcept {
  return on_message(count, type, nullptr, stream, [&](const Message& message) {
    return mpc::cuda::with_word(message.type, [&]<class Word>() {
      if (coding.predictor.lags.any()) message.lagged<Word>();
      load_kernels(message.type, message.place<Word>());
      return 0;
    });
  });
}

}  // namespace

namespace device_codecs {

extern constinit const DeviceCodec mpc{
    .frame_id = taut::mpc::frame_id, .reserve = reserve, .adds = adds, .encode = encode, .decode = decode};

}  // namespace device_codecs
}  // namespace taut::api
