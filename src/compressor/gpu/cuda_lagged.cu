// Implements the calls of taut_cuda.h that encode and decode planes frames with lags: checks arguments and
// launches kernels on the stream. Contains no logic of the codec.
#include <algorithm>

#include "compressor/gpu/cuda_numbers.hpp"
#include "compressor/gpu/planes/lagged_calls.hpp"

namespace taut::api {
namespace {

using planes::cuda::IntegersRoom;

template <class T>
IntegersRoom integers_room(const Call<T>& call) {
  return {scratch().of(call.launcher.stream, CudaScratch::Use::integers, IntegersRoom::bytes(call.count)), call.count};
}

// Reads `n` lags of the caller into `to`. Returns false if an encoder does not accept them.
bool read_lags(const uint32_t* lags, int n, std::size_t components, planes::Lags& to) {
  if (n < 0 || n > static_cast<int>(max_lags) || (lags == nullptr && n > 0)) return false;
  for (; to.n < static_cast<unsigned>(n); ++to.n) {
    if (lags[to.n] < least_lag || lags[to.n] >= planes::max_count) return false;
    to.of[to.n] = lags[to.n] * static_cast<std::uint32_t>(components);
  }
  std::sort(to.of, to.of + to.n);
  return true;
}

int decode_lagged(const void* frame, size_t bytes, void* values, size_t count, int type, bool add,
                  TAUT_Cuda_result* result, void* stream) noexcept {
  return on_numbers(type, count, [&]<class T>() {
    const Call<T> call(type, count, result, stream);
    if (!call.can_use(frame, values)) return static_cast<int>(Status::invalid_argument);
    StreamLauncher launcher = call.launcher;
    planes::cuda::decode_lagged(launcher, planes::cuda::source_of(static_cast<const std::byte*>(frame), bytes),
                                call.type, static_cast<T*>(values), call.count, add, integers_room(call), call.place());
    return 0;
  });
}

// Loads the kernels of all calls on `type`.
template <class T>
void load_kernels(int type, void* stream) {
  const Call<T> call(type, 1, nullptr, stream);
  const planes::cuda::CallPlace place = call.place();
  const IntegersRoom room = integers_room(call);
  auto* const memory = reinterpret_cast<std::byte*>(place.scratch);  // no kernel runs
  const planes::cuda::Source source = planes::cuda::source_of(memory, 0);
  KernelLoader loader;
  for (const int exact_bits : {0, 1})
    planes::cuda::encode_lagged(loader, encoding(call, memory, {1, 0, 0, exact_bits}), planes::Lags{},
                                planes::cuda::FrameRoom{memory, 0}, room, place);
  planes::cuda::decode_lagged(loader, source, call.type, reinterpret_cast<T*>(memory), call.count, false, room, place);
}

}  // namespace
}  // namespace taut::api

using namespace taut;
using namespace taut::api;

extern "C" {

int TAUT_Cuda_reserve_lagged(size_t count, int type, void* stream) {
  return on_numbers(type, count, [&]<class T>() {
    const Call<T> call(type, count, nullptr, stream);
    call.place();
    integers_room(call);
    load_kernels<T>(type, stream);
    return reserve_lossless_lagged(count, type, stream);
  });
}

int TAUT_Encode_lagged_cuda(const void* values, size_t count, int type, const TAUT_Cuda_coding* coding,
                            const uint32_t* lags, int n, void* frame, size_t capacity, TAUT_Cuda_result* result,
                            void* stream) {
  return on_numbers(type, count, [&]<class T>() {
    const Call<T> call(type, count, result, stream);
    planes::Lags read;
    if (!call.can_use(frame, values) || !usable(coding) || !read_lags(lags, n, components_of(call.type), read))
      return static_cast<int>(Status::invalid_argument);
    const planes::Lags reaching = read.within(call.count);
    const auto values_of_call = encoding(call, values, *coding);
    if (!reaching.any() || values_of_call.z.step == 0)
      return TAUT_Encode_cuda(values, count, type, coding, frame, capacity, result, stream);
    const std::size_t most = planes::max_frame_bytes(sizeof(T), call.count, 1);
    if (capacity < most) return static_cast<int>(Status::buffer_too_small);
    StreamLauncher launcher = call.launcher;
    planes::cuda::encode_lagged(launcher, values_of_call, reaching,
                                planes::cuda::FrameRoom{static_cast<std::byte*>(frame), most}, integers_room(call),
                                call.place());
    return 0;
  });
}

int TAUT_Decode_lagged_cuda(const void* frame, size_t bytes, void* values, size_t count, int type,
                            TAUT_Cuda_result* result, void* stream) {
  return decode_lagged(frame, bytes, values, count, type, false, result, stream);
}

int TAUT_Decode_add_lagged_cuda(const void* frame, size_t bytes, void* values, size_t count, int type,
                                TAUT_Cuda_result* result, void* stream) {
  return decode_lagged(frame, bytes, values, count, type, true, result, stream);
}

}  // extern "C"
