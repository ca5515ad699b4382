// Row of the zfp codec, at a fixed rate, in the registry of codecs with GPU kernels (DeviceCodec). The functions here
// check arguments and launch kernels; the kernels are in encode.hpp and decode.hpp.
#include "compressor/gpu/cuda_items.hpp"
#include "compressor/gpu/cuda_services.hpp"
#include "compressor/gpu/zfp/calls.hpp"

namespace taut::gpu {
namespace {

// Arguments that encoding and decoding share.
struct FieldCall {
  zfp::cuda::Field field;
  std::size_t count;
  cudaStream_t stream;
  TAUT_Cuda_result* result;
  bool polled = false;  // see DeviceCodec

  // Scratch memory, as large as any field of `count` values needs.
  zfp::cuda::CallMemory memory() const {
    std::byte* const at = scratch().reserve(stream, CudaScratch::Purpose{zfp::cuda::frame_id, 0},
                                       zfp::cuda::scratch_bytes(zfp::max_tiles(count)));
    return {reinterpret_cast<zfp::cuda::Scratch*>(at), result_at(result, polled)};
  }
};

// Runs action.operator()<T>(). Returns the action's status, or the status of the exception that the action throws.
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

// Runs action.operator()<T>(call, item) for each item. Each item is a field: the coding's extents from the fastest one
// on, as long as they divide the item's count; the rest of the count is the slowest extent. Returns the action's
// status, or invalid_count or invalid_argument.
template <class Action>
int on_fields(const Coding& coding, const DeviceFrameItem* items, int n, int type, void* stream, Action action) noexcept {
  return one_by_one(items, n, [&](const DeviceFrameItem& item) {
    return on_floats(type, [&]<class T>() {
      if (item.count > zfp::cuda::max_count) return static_cast<int>(Status::invalid_count);
      if (!is_accessible(item, sizeof(T))) return static_cast<int>(Status::invalid_argument);
      const zfp::cuda::Field field = zfp::cuda::field_of(zfp::shape_of(coding.dims, item.count));
      return action.template operator()<T>(FieldCall{field, item.count, static_cast<cudaStream_t>(stream), item.result},
                                           item);
    });
  });
}

int encode(const Coding& coding, const DeviceFrameItem* items, int n, int type, bool polled, void* stream) noexcept {
  const double rate = coding.bound.value;
  if (coding.bound.kind != Bound::Kind::rate || !(rate > 0 && rate <= 64)) return static_cast<int>(Status::invalid_argument);
  return on_fields(coding, items, n, type, stream, [&]<class T>(FieldCall call, const DeviceFrameItem& item) {
    call.polled = polled;
    if (item.bytes < zfp::cuda::max_frame_bytes<T>(call.field, rate)) return static_cast<int>(Status::buffer_too_small);
    const FrameHeader header{
        .codec = zfp::cuda::frame_id, .type = dtype_of<T>, .count = call.count, .bound = coding.bound};
    StreamLauncher launcher{call.stream};
    zfp::cuda::encode(launcher, static_cast<const T*>(item.values), call.field, header,
                      static_cast<std::byte*>(item.frame), call.memory());
    return 0;
  });
}

int decode(const Coding& coding, const DeviceFrameItem* items, int n, int type, bool add, void* stream) noexcept {
  if (add) return TAUT_ERR_CUDA_NEEDS_HOST;
  return on_fields(coding, items, n, type, stream, [&]<class T>(const FieldCall& call, const DeviceFrameItem& item) {
    StreamLauncher launcher{call.stream};
    zfp::cuda::decode(launcher, cuda::source_of(static_cast<const std::byte*>(item.frame), item.bytes),
                      static_cast<T*>(item.values), call.field, call.count, call.memory());
    return 0;
  });
}

// Loads the kernels of all calls on T, in each number of dimensions. The rate of 0.01 is so low (below
// min_fixed_rate) that the sizes of records depend on the values and encode() launches every kernel.
template <class T>
void load_kernels(const zfp::cuda::CallMemory& memory) {
  auto* const dummy = reinterpret_cast<std::byte*>(memory.scratch);  // no kernel runs
  const FrameHeader header{.type = dtype_of<T>, .count = 1, .bound = {Bound::Kind::rate, 0.01}};
  const cuda::Source source = cuda::source_of(dummy, 0);
  KernelLoader loader;
  for (unsigned n = 1; n <= max_dims; ++n) {
    const zfp::cuda::Field field = zfp::cuda::field_of(zfp::Shape{.dims = n});
    zfp::cuda::encode(loader, reinterpret_cast<const T*>(dummy), field, header, dummy, memory);
    zfp::cuda::decode(loader, source, reinterpret_cast<T*>(dummy), field, 1, memory);
  }
}

int reserve(const Coding&, size_t count, int type, void* stream) noexcept {
  if (count > zfp::cuda::max_count) return static_cast<int>(Status::invalid_count);
  return on_floats(type, [&]<class T>() {
    load_kernels<T>(FieldCall{{}, count, static_cast<cudaStream_t>(stream), nullptr}.memory());
    return 0;
  });
}

}  // namespace

#if !defined(__HIP_DEVICE_COMPILE__)  // clang would copy the table to the GPU
namespace device_codecs {

extern constinit const DeviceCodec zfp{
    .frame_id = taut::zfp::cuda::frame_id, .reserve = reserve, .encode = encode, .decode = decode};

}  // namespace device_codecs
#endif
}  // namespace taut::gpu
