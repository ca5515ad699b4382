// The mpc codec on GPUs, as a DeviceCodec: checks arguments and launches kernels on the stream. The kernels have
// the logic of the codec.
#include <cmath>

#include "compressor/codecs/mpc/prediction.hpp"
#include "compressor/gpu/cuda_call.hpp"
#include "compressor/gpu/cuda_services.hpp"
#include "compressor/gpu/mpc/calls.hpp"

namespace taut::gpu {
namespace {

// Arguments that all calls share: the type, number of words, stream and result.
struct Call {
  DType type;
  std::uint64_t words;
  cudaStream_t stream;
  TAUT_Cuda_result* result;
  bool polled = false;

  template <class Word>
  mpc::cuda::CallMemory memory() const {
    std::byte* const at =
        scratch().reserve(stream, CudaScratch::Purpose{mpc::frame_id, 0}, mpc::cuda::scratch_bytes<Word>(words));
    return {reinterpret_cast<mpc::cuda::Scratch*>(at), result_at(result, polled)};
  }
  // Returns the additional memory of calls with lags.
  template <class Word>
  std::byte* extra() const {
    return scratch().reserve(stream, CudaScratch::shared, mpc::cuda::extra_bytes<Word>(words));
  }
};

// Returns the status of action(call), or the status of the exception that the action throws.
template <class Action>
int on_words(size_t count, int type, TAUT_Cuda_result* result, void* stream, Action action) noexcept {
  if (!is_type(type)) return static_cast<int>(Status::invalid_type);
  const DType dtype{static_cast<std::uint8_t>(type)};
  const std::size_t parts = components_of(dtype);
  if (count > mpc::max_count / parts) return static_cast<int>(Status::invalid_count);
  return guarded([&] { return action(Call{dtype, count * parts, static_cast<cudaStream_t>(stream), result}); });
}

template <class Word>
bool usable(const Call& call, const DeviceFrameItem& item) {
  return call.result != nullptr && aligned(call.result, alignof(TAUT_Cuda_result)) && item.frame != nullptr &&
         aligned(item.frame, 16) && aligned(item.values, sizeof(Word)) && (item.values != nullptr || call.words == 0);
}

// ---- Encoding

// Returns Status::ok, or the reason why no kernel encodes values of the type under the coding.
Status check(const Coding& coding, DType type) {
  if (coding.bound.exact()) return Status::ok;
  if (coding.bound.kind != Bound::Kind::pointwise || !(coding.bound.value > 0) || !std::isfinite(coding.bound.value))
    return Status::invalid_argument;
  return info_of(type).family == Family::integer ? Status::invalid_type : Status::ok;
}

bool names_grid(const Coding& coding) noexcept {
  return coding.predictor.name == mpc::predictors[mpc::grid_predictor];
}

// Returns the prediction, with lags in words that reach some value. Nothing is sampled here: `auto` is the prediction
// that the host gives to short arrays.
mpc::Prediction prediction_for(const Call& call, const Coding& coding) {
  const auto parts = static_cast<std::uint32_t>(components_of(call.type));
  const bool is_usual = coding.predictor.automatic() || (names_grid(coding) && !coding.predictor.lags.any());
  if (is_usual) return {parts, {}};
  const auto prediction = mpc::prediction_of(coding.predictor, coding.dims).in_components(parts);
  return {prediction.inner, prediction.lags.within(call.words)};
}

template <class Word>
int encode_one(const Call& call, const Coding& coding, const DeviceFrameItem& item) {
  if (!usable<Word>(call, item)) return static_cast<int>(Status::invalid_argument);
  if (item.bytes < frame_header_bytes + call.words * sizeof(Word)) return static_cast<int>(Status::buffer_too_small);
  const mpc::Prediction prediction = prediction_for(call, coding);
  const Lags& lags = prediction.lags;
  FrameHeader header{.codec = mpc::frame_id,
                     .type = call.type,
                     .count = call.words / components_of(call.type),
                     .bound = coding.bound};
  const bool seeks_grid = names_grid(coding) && coding.bound.exact() && mpc::cuda::may_have_grid<Word>(call.type);
  header.parameters[0] = static_cast<std::uint8_t>(prediction.inner);
  header.parameters[1] = static_cast<std::uint8_t>(seeks_grid ? 0 : lags.n);
  const mpc::Rounding rounding =
      coding.bound.exact() ? mpc::Rounding{}
                           : mpc::Rounding::within(coding.bound.value, component_of(call.type), coding.bits);
  StreamLauncher launcher{call.stream};
  mpc::cuda::encode<Word>(launcher,
                          {static_cast<const Word*>(item.values), call.words, header, rounding, lags,
                           lags.any() || seeks_grid ? call.extra<Word>() : nullptr, seeks_grid},
                          {static_cast<std::byte*>(item.frame), item.bytes}, call.memory<Word>());
  return 0;
}

int encode(const Coding& coding, const DeviceFrameItem* items, int n, int type, bool polled, void* stream) noexcept {
  return one_by_one(items, n, [&](const DeviceFrameItem& item) {
    return on_words(item.count, type, item.result, stream, [&](Call call) {
      call.polled = polled;
      if (const Status status = check(coding, call.type); status != Status::ok) return static_cast<int>(status);
      return mpc::cuda::with_word(call.type, [&]<class Word>() { return encode_one<Word>(call, coding, item); });
    });
  });
}

// ---- Decoding

// Target: see compressor/gpu/mpc/decode.hpp.
template <class Target>
int decode_one(const Call& call, const DeviceFrameItem& item) {
  using Word = typename Target::Word;
  if (!usable<Word>(call, item)) return static_cast<int>(Status::invalid_argument);
  StreamLauncher launcher{call.stream};
  mpc::cuda::decode<Target>(launcher, cuda::source_of(static_cast<const std::byte*>(item.frame), item.bytes), call.type,
                            static_cast<Word*>(item.values), call.words, call.memory<Word>());
  return 0;
}

template <class Word>
int decode_lagged(const Call& call, const DeviceFrameItem& item) {
  if (!usable<Word>(call, item)) return static_cast<int>(Status::invalid_argument);
  StreamLauncher launcher{call.stream};
  mpc::cuda::decode_lagged(launcher, cuda::source_of(static_cast<const std::byte*>(item.frame), item.bytes), call.type,
                           static_cast<Word*>(item.values), call.words, call.extra<Word>(), call.memory<Word>());
  return 0;
}

// Returns true if frames of the coding have lags or a grid, which kernels after the first one undo.
bool has_lags_or_grid(const Coding& coding) noexcept {
  return coding.predictor.lags.any() || names_grid(coding);
}

bool adds(const Coding& coding) noexcept { return !has_lags_or_grid(coding); }

int decode(const Coding& coding, const DeviceFrameItem* items, int n, int type, bool add, void* stream) noexcept {
  if (add && !adds(coding)) return TAUT_ERR_CUDA_NEEDS_HOST;
  return one_by_one(items, n, [&](const DeviceFrameItem& item) {
    return on_words(item.count, type, item.result, stream, [&](const Call& call) {
      if (add)
        return mpc::cuda::with_addend(call.type, [&]<class T>() { return decode_one<mpc::cuda::Add<T>>(call, item); });
      return mpc::cuda::with_word(call.type, [&]<class Word>() {
        return has_lags_or_grid(coding) ? decode_lagged<Word>(call, item)
                                        : decode_one<mpc::cuda::Replace<Word>>(call, item);
      });
    });
  });
}

// ---- Reservation

// Loads the kernels of all calls on `type`. No kernel runs.
void load_kernels(DType type, const mpc::cuda::CallMemory& memory) {
  constexpr std::uint64_t words = 4096;  // enough for a frame that is not stored
  auto* const dummy = reinterpret_cast<std::byte*>(memory.scratch);
  const FrameHeader header{.codec = mpc::frame_id, .type = type, .count = words, .parameters = {1}};
  const cuda::Source source = cuda::source_of(dummy, 0);
  KernelLoader loader;
  mpc::cuda::with_word(type, [&]<class Word>() {
    auto* const values = reinterpret_cast<Word*>(dummy);
    mpc::cuda::encode<Word>(loader, {values, words, header}, {dummy, 0}, memory);
    mpc::cuda::encode<Word>(loader, {values, words, header, {}, Lags{{64}, 1}, dummy}, {dummy, 0}, memory);
    if constexpr (sizeof(Word) >= sizeof(float))
      mpc::cuda::encode<Word>(loader, {values, mpc::min_sampled_bytes, header, {}, {}, dummy, true}, {dummy, 0},
                              memory);
    mpc::cuda::decode<mpc::cuda::Replace<Word>>(loader, source, type, values, words, memory);
    mpc::cuda::decode_lagged(loader, source, type, values, words, dummy, memory);
  });
  mpc::cuda::with_addend(type, [&]<class T>() {
    using Target = mpc::cuda::Add<T>;
    mpc::cuda::decode<Target>(loader, source, type, reinterpret_cast<typename Target::Word*>(dummy), words, memory);
  });
}

int reserve(const Coding& coding, size_t count, int type, void* stream) noexcept {
  return on_words(count, type, nullptr, stream, [&](const Call& call) {
    return mpc::cuda::with_word(call.type, [&]<class Word>() {
      if (has_lags_or_grid(coding)) call.extra<Word>();
      load_kernels(call.type, call.memory<Word>());
      return 0;
    });
  });
}

}  // namespace

#if !defined(__HIP_DEVICE_COMPILE__)  // clang would copy the table to the GPU
namespace device_codecs {

extern constinit const DeviceCodec mpc{
    .frame_id = taut::mpc::frame_id, .reserve = reserve, .adds = adds, .encode = encode, .decode = decode};

}  // namespace device_codecs
#endif
}  // namespace taut::gpu
