// Implements the calls of taut_cuda.h on zfp frames: checks arguments and launches kernels on the stream.
// Contains no logic of the codec.
#include "compressor/gpu/cuda_call.hpp"
#include "compressor/gpu/zfp/calls.hpp"

namespace taut::api {
namespace {

// Arguments that encoding and decoding share.
struct FieldCall {
  zfp::cuda::Field field;
  std::size_t count;
  cudaStream_t stream;
  TAUT_Cuda_result* result;

  // Scratch memory, as large as any field of `count` values needs.
  zfp::cuda::CallPlace place() const {
    std::byte* const at =
        scratch().of(stream, CudaScratch::Use::zfp, zfp::cuda::scratch_bytes(zfp::most_boxes(count)));
    return {reinterpret_cast<zfp::cuda::Scratch*>(at), result_at(result)};
  }
};

// Runs action.operator()<T>(). Returns the action's status, or the status of the exception that the action
// throws.
template <class Action>
int on_floats(int type, Action action) noexcept {
  if (!is_type(type)) return static_cast<int>(Status::invalid_type);
  return guarded([&] {
    switch (DType{static_cast<std::uint8_t>(type)}) {
      case DType::f32: return action.template operator()<float>();
      case DType::f64: return action.template operator()<double>();
      default: return static_cast<int>(Status::invalid_type);
    }
  });
}

// Reads the extents into `dims`, and their product into `count`. Returns a status.
Status read_extents(const size_t* extents, int n, Dims& dims, std::size_t& count) {
  if (extents == nullptr || n < 1 || n > static_cast<int>(max_dims)) return Status::invalid_argument;
  count = 1;
  for (int k = 0; k < n; ++k) {
    if (__builtin_mul_overflow(count, extents[k], &count) || count > zfp::cuda::max_count)
      return Status::invalid_count;
    dims.of[k] = static_cast<std::uint32_t>(extents[k]);
  }
  dims.n = static_cast<unsigned>(n);
  return Status::ok;
}

// Runs action.operator()<T>(call). Returns the action's status, or the status of arguments that no call
// accepts.
template <class Action>
int on_field(const void* values, const void* frame, const size_t* extents, int n, int type,
             TAUT_Cuda_result* result, void* stream, Action action) noexcept {
  return on_floats(type, [&]<class T>() {
    Dims dims;
    std::size_t count = 0;
    if (const Status status = read_extents(extents, n, dims, count); status != Status::ok)
      return static_cast<int>(status);
    if (result == nullptr || !aligned(result, alignof(TAUT_Cuda_result)) || frame == nullptr || !aligned(frame, 16) || !aligned(values, sizeof(T)) ||
        (values == nullptr && count > 0))
      return static_cast<int>(Status::invalid_argument);
    const zfp::cuda::Field field = zfp::cuda::field_of(zfp::shape_of(dims, count));
    return action.template operator()<T>(FieldCall{field, count, static_cast<cudaStream_t>(stream), result});
  });
}

// Loads the kernels of all calls on T, in each number of dimensions. At this rate encoding uses all its kernels.
template <class T>
void load_kernels(const zfp::cuda::CallPlace& place) {
  auto* const memory = reinterpret_cast<std::byte*>(place.scratch);  // no kernel runs
  const FrameHeader header{.type = dtype_of<T>, .count = 1, .bound = {Bound::Kind::rate, 0.01}};
  const cuda::Source source = cuda::source_of(memory, 0);
  KernelLoader loader;
  for (unsigned n = 1; n <= max_dims; ++n) {
    const zfp::cuda::Field field = zfp::cuda::field_of(zfp::Shape{.dims = n});
    zfp::cuda::encode(loader, reinterpret_cast<const T*>(memory), field, header, memory, place);
    zfp::cuda::decode(loader, source, reinterpret_cast<T*>(memory), field, 1, place);
  }
}

}  // namespace

int reserve_rate(size_t count, int type, void* stream) noexcept {
  if (count > zfp::cuda::max_count) return 0;  // no call accepts so many values
  const int status = on_floats(type, [&]<class T>() {
    load_kernels<T>(FieldCall{{}, count, static_cast<cudaStream_t>(stream), nullptr}.place());
    return 0;
  });
  return status == static_cast<int>(Status::invalid_type) ? 0 : status;
}

}  // namespace taut::api

using namespace taut;
using namespace taut::api;

extern "C" {

int TAUT_Encode_rate_cuda(const void* values, const size_t* extents, int ndims, int type, double rate,
                          void* frame, size_t capacity, TAUT_Cuda_result* result, void* stream) {
  return on_field(values, frame, extents, ndims, type, result, stream, [&]<class T>(const FieldCall& call) {
    if (!(rate > 0 && rate <= 64)) return static_cast<int>(Status::invalid_argument);
    if (capacity < zfp::cuda::most_bytes<T>(call.field, rate))
      return static_cast<int>(Status::buffer_too_small);
    const FrameHeader header{.codec = zfp::cuda::frame_id,
                             .type = dtype_of<T>,
                             .count = call.count,
                             .bound = {Bound::Kind::rate, rate}};
    StreamLauncher launcher{call.stream};
    zfp::cuda::encode(launcher, static_cast<const T*>(values), call.field, header,
                      static_cast<std::byte*>(frame), call.place());
    return 0;
  });
}

int TAUT_Decode_rate_cuda(const void* frame, size_t bytes, void* values, const size_t* extents, int ndims,
                          int type, TAUT_Cuda_result* result, void* stream) {
  return on_field(values, frame, extents, ndims, type, result, stream, [&]<class T>(const FieldCall& call) {
    StreamLauncher launcher{call.stream};
    zfp::cuda::decode(launcher, cuda::source_of(static_cast<const std::byte*>(frame), bytes),
                      static_cast<T*>(values), call.field, call.count, call.place());
    return 0;
  });
}

}  // extern "C"
