// Implements the calls of taut_cuda.h on planes frames, and the calls that serve all codecs: checks arguments
// and launches kernels on the stream. Contains no logic of the codec.
#include "compressor/gpu/cuda_numbers.hpp"
#include "compressor/gpu/cuda_services.hpp"

namespace taut::api {
namespace {

using namespace planes;
using planes::cuda::FrameRoom;
using planes::cuda::Slots;
using planes::cuda::Source;

int decode(const void* frame, size_t bytes, void* values, size_t count, int type, bool add, TAUT_Cuda_result* result,
           void* stream) noexcept {
  return on_numbers(type, count, [&]<class T>() {
    const Call<T> call(type, count, result, stream);
    if (!call.can_use(frame, values)) return static_cast<int>(Status::invalid_argument);
    StreamLauncher launcher = call.launcher;
    planes::cuda::decode(launcher, planes::cuda::source_of(static_cast<const std::byte*>(frame), bytes), call.type,
                         static_cast<T*>(values), call.count, add, call.place());
    return 0;
  });
}

template <class T>
int add(const Call<T>& call, std::span<const Source> sources, const planes::cuda::EncodeCall<T>& slots, void* sum,
        size_t capacity) {
  if (!call.has_result() || !is_frame(sum)) return static_cast<int>(Status::invalid_argument);
  if (!call.holds_index(capacity)) return static_cast<int>(Status::buffer_too_small);
  StreamLauncher launcher = call.launcher;
  planes::cuda::sum<T>(launcher, {sources, call.type, call.count, slots.z, slots.header},
                       {static_cast<std::byte*>(sum), capacity}, call.place());
  return 0;
}

// `polled`: see FrameSeal.
int encode(const void* values, size_t count, int type, const TAUT_Cuda_coding* coding, void* frame, size_t capacity,
           TAUT_Cuda_result* result, void* stream, bool polled) noexcept {
  return on_numbers(type, count, [&]<class T>() {
    const Call<T> call(type, count, result, stream);
    if (!call.can_use(frame, values) || !usable(coding)) return static_cast<int>(Status::invalid_argument);
    if (capacity < planes::max_frame_bytes(sizeof(T), call.count, 1)) return static_cast<int>(Status::buffer_too_small);
    StreamLauncher launcher = call.launcher;
    planes::cuda::CallPlace place = call.place();
    place.polled = polled;
    planes::cuda::encode(launcher, encoding(call, values, *coding),
                         FrameRoom{static_cast<std::byte*>(frame), capacity}, place);
    return 0;
  });
}

// Loads the kernels of all calls on `type`.
template <class T>
void load_kernels(int type, void* stream) {
  const Call<T> call(type, 1, nullptr, stream);
  const planes::cuda::CallPlace place = call.place();
  auto* const memory = reinterpret_cast<std::byte*>(place.scratch);  // no kernel runs
  const FrameRoom room{memory, 0};
  const Source sources[] = {planes::cuda::source_of(memory, 0)};
  KernelLoader loader;
  for (const int exact_bits : {0, 1})
    planes::cuda::encode(loader, encoding(call, memory, {1, 0, 0, exact_bits}), room, place);
  planes::cuda::decode(loader, sources[0], call.type, reinterpret_cast<T*>(memory), call.count, false, place);
  planes::cuda::sum<T>(loader, {sources, call.type, call.count, {}}, room, place);
}

}  // namespace

int encode_polled(const void* values, size_t count, int type, const TAUT_Cuda_coding* coding, void* frame,
                  size_t capacity, TAUT_Cuda_result* result, void* stream) noexcept {
  return encode(values, count, type, coding, frame, capacity, result, stream, true);
}

}  // namespace taut::api

using namespace taut;
using namespace taut::api;

extern "C" {

int TAUT_Cuda_available(const char** why) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  const bool any = error == cudaSuccess && devices > 0;
  if (why != nullptr)
    *why = any ? last_error() : error != cudaSuccess ? cudaGetErrorString(error) : "there is no CUDA device";
  return any;
}

int TAUT_Cuda_reserve(size_t count, int type, void* stream) {
  if (const int status = reserve_lossless(count, type, stream); status != 0) return status;
  if (const int status = reserve_rate(count, type, stream); status != 0) return status;
  if (const int status = reserve_values(type, stream); status != 0) return status;
  const int status = on_numbers(type, count, [&]<class T>() {
    const Call<T> call(type, count, nullptr, stream);
    call.place();
    load_kernels<T>(type, stream);
    return reserve_batches(count, type, stream);
  });
  return status == static_cast<int>(Status::invalid_type) ? 0 : status;  // planes has no kernels for integers
}

int TAUT_Cuda_reserve_accumulate(size_t count, int type, void* stream) {
  return on_numbers(type, count, [&]<class T>() {
    const Call<T> call(type, count, nullptr, stream);
    call.place();
    call.slots();
    return 0;
  });
}

int TAUT_Cuda_release(void) {
  return guarded([] {
    run_release_hooks();  // these give events back
    release_streams();
    scratch().release();
    return 0;
  });
}

int TAUT_Encode_cuda(const void* values, size_t count, int type, const TAUT_Cuda_coding* coding, void* frame,
                     size_t capacity, TAUT_Cuda_result* result, void* stream) {
  return encode(values, count, type, coding, frame, capacity, result, stream, false);
}

int TAUT_Encode_slots_cuda(const void* values, size_t count, int type, const TAUT_Cuda_coding* coding, uint32_t* words,
                           void* slots, size_t slot_bytes, TAUT_Cuda_result* result, void* stream) {
  return on_numbers(type, count, [&]<class T>() {
    const Call<T> call(type, count, result, stream);
    if (!call.has_result() || !call.has_values(values) || !usable(coding) || !are_slots(words, slots, slot_bytes))
      return static_cast<int>(Status::invalid_argument);
    const auto values_of_call = encoding(call, values, *coding);
    if (values_of_call.z.step == 0) return int{TAUT_ERR_CUDA_NEEDS_HOST};  // needs a stored frame
    StreamLauncher launcher = call.launcher;
    planes::cuda::encode(launcher, values_of_call,
                         Slots{words, static_cast<std::uint32_t*>(slots), static_cast<std::uint32_t>(slot_bytes / 4)},
                         call.place());
    return 0;
  });
}

int TAUT_Decode_cuda(const void* frame, size_t bytes, void* values, size_t count, int type, TAUT_Cuda_result* result,
                     void* stream) {
  return decode(frame, bytes, values, count, type, false, result, stream);
}

int TAUT_Decode_add_cuda(const void* frame, size_t bytes, void* values, size_t count, int type,
                         TAUT_Cuda_result* result, void* stream) {
  return decode(frame, bytes, values, count, type, true, result, stream);
}

int TAUT_Frame_add_cuda(const void* const* frames, const size_t* bytes, int n, size_t count, int type, void* sum,
                        size_t capacity, TAUT_Cuda_result* result, void* stream) {
  return on_numbers(type, count, [&]<class T>() {
    if (frames == nullptr || bytes == nullptr || n < 1 || n > static_cast<int>(planes::cuda::max_sources))
      return static_cast<int>(Status::invalid_argument);
    Source sources[planes::cuda::max_sources];
    for (int k = 0; k < n; ++k) {
      if (!is_frame(frames[k])) return static_cast<int>(Status::invalid_argument);
      sources[k] = planes::cuda::source_of(static_cast<const std::byte*>(frames[k]), bytes[k]);
    }
    return add<T>({type, count, result, stream}, {sources, static_cast<std::size_t>(n)}, {}, sum, capacity);
  });
}

int TAUT_Slots_add_cuda(const uint32_t* const* words, const void* const* slots, size_t slot_bytes, int n, size_t count,
                        int type, const TAUT_Cuda_coding* coding, void* sum, size_t capacity, TAUT_Cuda_result* result,
                        void* stream) {
  return on_numbers(type, count, [&]<class T>() {
    if (words == nullptr || slots == nullptr || !usable(coding) || n < 1 || n > static_cast<int>(planes::cuda::max_sources))
      return static_cast<int>(Status::invalid_argument);
    Source sources[planes::cuda::max_sources];
    for (int k = 0; k < n; ++k) {
      if (!are_slots(words[k], slots[k], slot_bytes)) return static_cast<int>(Status::invalid_argument);
      sources[k] = {nullptr, 0, words[k], static_cast<const std::uint32_t*>(slots[k]),
                    static_cast<std::uint32_t>(slot_bytes / 4)};
    }
    const Call<T> call(type, count, result, stream);
    return add<T>(call, {sources, static_cast<std::size_t>(n)}, encoding(call, nullptr, *coding), sum, capacity);
  });
}

int TAUT_Frame_accumulate_cuda(const void* frame, size_t bytes, const void* values, size_t count, int type,
                               const TAUT_Cuda_coding* coding, void* sum, size_t capacity, TAUT_Cuda_result* result,
                               void* stream) {
  return on_numbers(type, count, [&]<class T>() {
    const Call<T> call(type, count, result, stream);
    if (!call.can_use(frame, values) || !is_frame(sum) || !usable(coding)) return static_cast<int>(Status::invalid_argument);
    if (!call.holds_index(capacity)) return static_cast<int>(Status::buffer_too_small);
    const auto own = encoding(call, values, *coding);
    if (own.z.step == 0) return int{TAUT_ERR_CUDA_NEEDS_HOST};
    StreamLauncher launcher = call.launcher;
    planes::cuda::accumulate(launcher, planes::cuda::source_of(static_cast<const std::byte*>(frame), bytes), own,
                             call.slots(), FrameRoom{static_cast<std::byte*>(sum), capacity}, call.place());
    return 0;
  });
}

}  // extern "C"
