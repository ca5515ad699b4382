// The calls of taut_cuda.h that undo lags of planes frames: arguments checked, kernels put on the stream. No logic of
// the codec.
#include "api/cuda_numbers.hpp"
#include "codecs/planes/cuda/lagged_calls.hpp"

namespace taut::api {
namespace {

using planes::cuda::IntegersRoom;

template <class T>
IntegersRoom integers_room(const Call<T>& call) {
  return {scratch().of(call.launcher.stream, CudaScratch::Use::integers, IntegersRoom::bytes(call.count)), call.count};
}

int decode_lagged(const void* frame, size_t bytes, void* values, size_t count, int type, bool add,
                  TAUT_Cuda_result* result, void* stream) noexcept {
  return on_numbers(type, count, [&]<class T>() {
    const Call<T> call(type, count, result, stream);
    if (!call.can_decode(frame, values)) return static_cast<int>(Status::invalid_argument);
    StreamLauncher launcher = call.launcher;
    planes::cuda::decode_lagged(launcher, planes::cuda::source_of(static_cast<const std::byte*>(frame), bytes),
                                call.type, static_cast<T*>(values), call.count, add, integers_room(call), call.place());
    return 0;
  });
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
