// The planes codec on GPUs, as a DeviceCodec: checks arguments and launches kernels on the stream. The kernels
// have the logic of the codec.
#include <cmath>
#include <optional>

#include "compressor/codecs/planes/prediction.hpp"
#include "compressor/codecs/planes/typed_codec.hpp"
#include "compressor/gpu/cuda_call.hpp"
#include "compressor/gpu/cuda_services.hpp"
#include "compressor/gpu/planes/calls.hpp"
#include "compressor/gpu/planes/lagged_calls.hpp"
#include "compressor/gpu/planes/referenced_calls.hpp"
#include "compressor/gpu/simt/batch.hpp"

namespace taut::gpu {
namespace {

using planes::cuda::CallMemory;
using planes::cuda::FrameMemory;
using planes::cuda::IntegersMemory;
using planes::cuda::Slots;
using planes::cuda::Source;

constexpr CudaScratch::Purpose call_purpose{planes::frame_id, 0}, slots_purpose{planes::frame_id, 1},
    batch_purpose{planes::frame_id, 2};

// ---- Arguments

// Runs action.operator()<T>(), where T is the type of a component of `type`. Returns the action's status, or the
// status of the exception that the action throws.
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

bool is_frame(const void* frame) { return frame != nullptr && aligned(frame, 16); }

// Arguments that all calls share, and the scratch memory of a call.
template <class T>
struct Call {
  DType type;
  std::size_t count;  // number of T
  StreamLauncher launcher;
  TAUT_Cuda_result* result;
  bool polled;  // the host reads result and frame as soon as `done` is 1 (DeviceCodec)

  Call(int of, std::size_t values, TAUT_Cuda_result* to, void* stream, bool host_polls = false)
      : type{static_cast<std::uint8_t>(of)},
        count(values * components_of(type)),
        launcher{static_cast<cudaStream_t>(stream)},
        result(to),
        polled(host_polls) {}

  CallMemory memory(CudaScratch::Purpose purpose = call_purpose) const {
    std::byte* const at = scratch().reserve(launcher.stream, purpose, planes::cuda::scratch_bytes(count));
    return {reinterpret_cast<planes::cuda::Scratch*>(at), result_at(result, polled), polled};
  }
  // Returns the scratch memory and result of item i of a batch. Items that run together do not share memory.
  CallMemory item_memory(int i) const {
    return memory(batch_purpose.for_item(static_cast<unsigned>(i) % cuda::max_items));
  }
  IntegersMemory integers() const {
    return {scratch().reserve(launcher.stream, CudaScratch::shared, IntegersMemory::bytes(count)), count};
  }
  // Slots in scratch memory. Every slot is large enough for any chunk.
  Slots slots() const {
    constexpr std::uint32_t slot_words = planes::cuda::whole_slot_words<T>();
    const std::size_t chunks = planes::chunks_of(count);
    std::byte* const at = scratch().reserve(launcher.stream, slots_purpose, 4 * chunks * (1 + slot_words));
    auto* const words = reinterpret_cast<std::uint32_t*>(at);
    return {words, words + chunks, slot_words};
  }
  // Return true if kernels can access the memory. A kernel that accessed other memory would end the context.
  bool has_values(const void* values) const { return (values != nullptr || count == 0) && aligned(values, sizeof(T)); }
  bool has_result() const { return result != nullptr && aligned(result, alignof(TAUT_Cuda_result)); }
  bool can_use(const void* frame, const void* values) const {
    return has_result() && has_values(values) && is_frame(frame);
  }
  bool holds_index(std::size_t capacity) const {
    return capacity >= frame_header_bytes + 4 * (planes::chunks_of(count) + 1);
  }
};

bool usable(const Coding& coding) {
  const bool served = coding.bound.kind == Bound::Kind::absolute || coding.bound.kind == Bound::Kind::snap;
  return served && coding.bound.value > 0 && std::isfinite(coding.bound.value);
}

// Returns the prediction, with lags in components that reach some value. Nothing is sampled here: `auto` is the
// prediction that the host gives to short arrays.
template <class T>
planes::Prediction prediction_for(const Call<T>& call, const Coding& coding) {
  const auto components = static_cast<std::uint32_t>(components_of(call.type));
  if (coding.predictor.automatic()) return {components > 1 ? planes::Predictor::pairs : planes::Predictor::delta, {}};
  const auto prediction = planes::prediction_of(coding.predictor, coding.dims).in_components(components);
  return {prediction.inner, prediction.lags.within(call.count)};
}

template <class T>
planes::cuda::EncodeCall<T> encoding(const Call<T>& call, const void* values, const Coding& coding,
                                     planes::Predictor predictor) {
  const auto z = planes::Quantiser<T>::make(coding.bound, predictor, coding.bits);
  const FrameHeader header{.codec = planes::frame_id,
                           .type = call.type,
                           .count = call.count / components_of(call.type),
                           .bound = coding.bound,
                           .step = static_cast<double>(z.step)};
  return {static_cast<const T*>(values), call.count, z, header};
}

Source source_of(const DeviceFrameItem& item) {
  return planes::cuda::source_of(static_cast<const std::byte*>(item.frame), item.bytes);
}

// ---- Single frames

template <class T>
int encode_one(const Call<T>& call, const Coding& coding, const DeviceFrameItem& item) {
  if (!call.can_use(item.frame, item.values) || !usable(coding)) return static_cast<int>(Status::invalid_argument);
  const std::size_t most = planes::max_frame_bytes(sizeof(T), call.count, 1);
  if (item.bytes < most) return static_cast<int>(Status::buffer_too_small);
  StreamLauncher launcher = call.launcher;
  const planes::Prediction prediction = prediction_for(call, coding);
  const auto values = encoding(call, item.values, coding, prediction.inner);
  auto* const frame = static_cast<std::byte*>(item.frame);
  if (prediction.lags.any() && values.z.step != 0) {
    planes::cuda::encode_lagged(launcher, values, prediction.lags, FrameMemory{frame, most}, call.integers(), call.memory());
  } else {
    planes::cuda::encode(launcher, values, FrameMemory{frame, item.bytes}, call.memory());
  }
  return 0;
}

template <class T>
int decode_one(const Call<T>& call, const Coding& coding, const DeviceFrameItem& item, bool add) {
  if (!call.can_use(item.frame, item.values)) return static_cast<int>(Status::invalid_argument);
  StreamLauncher launcher = call.launcher;
  auto* const values = static_cast<T*>(item.values);
  if (coding.predictor.lags.any())
    planes::cuda::decode_lagged(launcher, source_of(item), call.type, values, call.count, add, call.integers(), call.memory());
  else
    planes::cuda::decode(launcher, source_of(item), call.type, values, call.count, add, call.memory());
  return 0;
}

// ---- Frames with references

// Returns nothing if kernels cannot access the arrays.
template <class T>
std::optional<planes::cuda::CallReferences<T>> references_of(const Call<T>& call, DeviceReferences given) {
  planes::cuda::CallReferences<T> all{};
  for (const TAUT_Cuda_reference& reference : given) {
    if (!call.has_values(reference.values)) return {};
    (all.states.n == 0 ? all.arrays.newest : all.arrays.before) = static_cast<const T*>(reference.values);
    all.states.number[all.states.n++] = reference.state;
  }
  return all;
}

int encode_with_references(const Coding& coding, const DeviceFrameItem& item, DeviceReferences given, int type,
                           bool polled, void* stream) noexcept {
  return on_numbers(type, item.count, [&]<class T>() {
    const Call<T> call(type, item.count, item.result, stream, polled);
    const auto references = references_of(call, given);
    if (!references) return static_cast<int>(Status::invalid_argument);
    const bool plain = given.empty() || coding.predictor.lags.any() || call.count == 0;
    const std::size_t most = planes::max_frame_bytes(sizeof(T), call.count, 1);
    if (plain || !call.can_use(item.frame, item.values) || !usable(coding) || item.bytes < most)
      return encode_one(call, coding, item);
    const planes::Predictor own = prediction_for(call, coding).inner;
    const auto values = encoding(call, item.values, coding, own);
    if (values.z.step == 0) return encode_one(call, coding, item);
    StreamLauncher launcher = call.launcher;
    planes::cuda::encode_referenced(launcher, values, coding.predictor.automatic() ? planes::Predictor::none : own,
                                    *references, FrameMemory{static_cast<std::byte*>(item.frame), most}, call.memory());
    return 0;
  });
}

int decode_with_references(const Coding& coding, const DeviceFrameItem& item, DeviceReferences given, int type,
                           void* stream) noexcept {
  return on_numbers(type, item.count, [&]<class T>() {
    const Call<T> call(type, item.count, item.result, stream);
    const auto references = references_of(call, given);
    if (!references || !call.can_use(item.frame, item.values)) return static_cast<int>(Status::invalid_argument);
    if (coding.predictor.lags.any()) return decode_one(call, coding, item, false);
    StreamLauncher launcher = call.launcher;
    planes::cuda::decode_referenced(launcher, source_of(item), call.type, static_cast<T*>(item.values), call.count, false,
                                    *references, call.memory());
    return 0;
  });
}

// ---- Several frames together: each kernel is launched once for up to max_items frames

template <class T>
Status check(const DeviceFrameItem& item, const Call<T>& call) {
  if (item.count > planes::max_count / components_of(call.type)) return Status::invalid_count;
  return call.can_use(item.frame, item.values) ? Status::ok : Status::invalid_argument;
}

// Calls enqueue(batch launcher, call, item, memory) for each item. Returns the first status other than 0 of
// check_also(call, item), or of items that no call accepts. `polled`: see DeviceCodec.
template <class CheckAlso, class Enqueue>
int on_items(const DeviceFrameItem* items, int n, int type, bool polled, void* stream, CheckAlso check_also,
             Enqueue enqueue) noexcept {
  return on_numbers(type, 0, [&]<class T>() {
    const auto call_of = [&](int i) { return Call<T>(type, items[i].count, items[i].result, stream, polled); };
    for (int i = 0; i < n; ++i) {
      if (const Status status = check(items[i], call_of(i)); status != Status::ok) return static_cast<int>(status);
      if (const Status status = check_also(call_of(i), items[i]); status != Status::ok) return static_cast<int>(status);
    }
    // The stream has all scratch memory before the first launch, so that a capture is refused as a whole.
    for (int i = 0; i < n; ++i) call_of(i).item_memory(i);
    StreamLauncher launcher{static_cast<cudaStream_t>(stream)};
    cuda::BatchLauncher batch(launcher);
    for (int i = 0; i < n; ++i) {
      batch.begin_item();
      enqueue(batch, call_of(i), items[i], call_of(i).item_memory(i));
      if ((i + 1) % static_cast<int>(cuda::max_items) == 0) batch.launch_all();
    }
    batch.launch_all();
    return 0;
  });
}

bool together(const Coding& coding) noexcept { return !coding.predictor.lags.any(); }

int encode(const Coding& coding, const DeviceFrameItem* items, int n, int type, bool polled, void* stream) noexcept {
  if (!usable(coding)) return static_cast<int>(Status::invalid_argument);
  if (n == 1 || !together(coding))
    return one_by_one(items, n, [&](const DeviceFrameItem& item) {
      return on_numbers(type, item.count, [&]<class T>() {
        return encode_one<T>({type, item.count, item.result, stream, polled}, coding, item);
      });
    });
  const auto has_room = []<class T>(const Call<T>& call, const DeviceFrameItem& item) {
    const bool fits = item.bytes >= planes::max_frame_bytes(sizeof(T), call.count, 1);
    return fits ? Status::ok : Status::buffer_too_small;
  };
  return on_items(items, n, type, polled, stream, has_room,
                  [&]<class T>(auto& batch, const Call<T>& call, const DeviceFrameItem& item, const CallMemory& memory) {
                    const auto values = encoding(call, item.values, coding, prediction_for(call, coding).inner);
                    planes::cuda::encode(batch, values, FrameMemory{static_cast<std::byte*>(item.frame), item.bytes}, memory);
                  });
}

int decode(const Coding& coding, const DeviceFrameItem* items, int n, int type, bool add, void* stream) noexcept {
  if (n == 1 || !together(coding))
    return one_by_one(items, n, [&](const DeviceFrameItem& item) {
      return on_numbers(type, item.count, [&]<class T>() {
        return decode_one<T>({type, item.count, item.result, stream}, coding, item, add);
      });
    });
  const auto nothing = []<class T>(const Call<T>&, const DeviceFrameItem&) { return Status::ok; };
  return on_items(items, n, type, false, stream, nothing,
                  [&]<class T>(auto& batch, const Call<T>& call, const DeviceFrameItem& item, const CallMemory& memory) {
                    planes::cuda::decode(batch, source_of(item), call.type, static_cast<T*>(item.values), call.count, add,
                                         memory);
                  });
}

// ---- Sums

int sum(const void* const* frames, const size_t* bytes, int n, size_t count, int type, void* to, size_t capacity,
        TAUT_Cuda_result* result, bool polled, void* stream) noexcept {
  return on_numbers(type, count, [&]<class T>() {
    const Call<T> call(type, count, result, stream, polled);
    const bool counted = frames != nullptr && bytes != nullptr && n >= 1 && n <= static_cast<int>(planes::cuda::max_sources);
    if (!counted || !call.has_result() || !is_frame(to)) return static_cast<int>(Status::invalid_argument);
    Source sources[planes::cuda::max_sources];
    for (int k = 0; k < n; ++k) {
      if (!is_frame(frames[k])) return static_cast<int>(Status::invalid_argument);
      sources[k] = planes::cuda::source_of(static_cast<const std::byte*>(frames[k]), bytes[k]);
    }
    if (!call.holds_index(capacity)) return static_cast<int>(Status::buffer_too_small);
    StreamLauncher launcher = call.launcher;
    planes::cuda::sum<T>(launcher, {{sources, static_cast<std::size_t>(n)}, call.type, call.count, {}},
                         {static_cast<std::byte*>(to), capacity}, call.memory());
    return 0;
  });
}

int accumulate(const Coding& coding, const DeviceFrameItem& item, int type, void* to, size_t capacity, bool polled,
               void* stream) noexcept {
  return on_numbers(type, item.count, [&]<class T>() {
    const Call<T> call(type, item.count, item.result, stream, polled);
    if (!call.can_use(item.frame, item.values) || !is_frame(to) || !usable(coding))
      return static_cast<int>(Status::invalid_argument);
    if (!call.holds_index(capacity)) return static_cast<int>(Status::buffer_too_small);
    const auto own = encoding(call, item.values, coding, prediction_for(call, coding).inner);
    if (own.z.step == 0) return int{TAUT_ERR_CUDA_NEEDS_HOST};
    StreamLauncher launcher = call.launcher;
    planes::cuda::accumulate(launcher, source_of(item), own, call.slots(),
                             FrameMemory{static_cast<std::byte*>(to), capacity}, call.memory());
    return 0;
  });
}

// ---- Reservation

// Loads the kernels of all calls on T but `accumulate`. No kernel runs.
template <class T>
void load_kernels(const Call<T>& call, bool lagged) {
  const CallMemory memory = call.memory();
  auto* const dummy = reinterpret_cast<std::byte*>(memory.scratch);
  auto* const values = reinterpret_cast<T*>(dummy);
  const FrameMemory room{dummy, 0};
  const Source sources[] = {planes::cuda::source_of(dummy, 0)};
  KernelLoader loader;
  cuda::BatchLauncher batch(loader);
  batch.begin_item();
  for (const PackedBits bits : {PackedBits::rounded, PackedBits::exact}) {
    const auto encoded = encoding(call, dummy, {.bound = 1, .bits = bits}, planes::Predictor::none);
    planes::cuda::encode(loader, encoded, room, memory);
    planes::cuda::encode(batch, encoded, room, memory);
    if (lagged) planes::cuda::encode_lagged(loader, encoded, planes::Lags{}, room, call.integers(), memory);
    if (!lagged) planes::cuda::encode_referenced(loader, encoded, planes::Predictor::none, {}, room, memory);
  }
  planes::cuda::decode(loader, sources[0], call.type, values, call.count, false, memory);
  planes::cuda::decode(batch, sources[0], call.type, values, call.count, false, memory);
  if (lagged)
    planes::cuda::decode_lagged(loader, sources[0], call.type, values, call.count, false, call.integers(), memory);
  if (!lagged) planes::cuda::decode_referenced(loader, sources[0], call.type, values, call.count, false, {}, memory);
  planes::cuda::sum<T>(loader, {sources, call.type, call.count, {}}, room, memory);
  batch.launch_all();
}

int reserve(const Coding& coding, size_t count, int type, void* stream) noexcept {
  return on_numbers(type, count, [&]<class T>() {
    const Call<T> call(type, count, nullptr, stream);
    const bool lagged = !together(coding);
    call.memory();
    if (lagged) call.integers();
    for (int i = 0; i < static_cast<int>(cuda::max_items) && !lagged; ++i) call.item_memory(i);
    load_kernels(Call<T>(type, 1, nullptr, stream), lagged);
    return 0;
  });
}

}  // namespace

#if !defined(__HIP_DEVICE_COMPILE__)  // clang would copy the table to the GPU
namespace device_codecs {

extern constinit const DeviceCodec planes{
    .frame_id = taut::planes::frame_id,
    .reserve = reserve,
    .together = together,
    .adds = [](const Coding&) noexcept { return true; },
    .encode = encode,
    .decode = decode,
    .encode_with_references = encode_with_references,
    .decode_with_references = decode_with_references,
    .sum = sum,
    .accumulate = accumulate,
};

}  // namespace device_codecs
#endif
}  // namespace taut::gpu
