// The blocks codec on GPUs, as a DeviceCodec: checks arguments and launches kernels on the stream. The kernels
// have the logic of the codec.
#include <algorithm>

#include "compressor/gpu/blocks/calls.hpp"
#include "compressor/gpu/cuda_items.hpp"
#include "compressor/gpu/cuda_services.hpp"

namespace taut::gpu {
namespace {

using blocks::cuda::CallMemory;

constexpr CudaScratch::Purpose call_purpose{blocks::frame_id, 0};

// Returns the status of action.operator()<T>(), where T is the type of the values, or the status of the
// exception that the action throws.
template <class Action>
int on_values(int type, Action action) noexcept {
  return guarded([&] {
    if (type == static_cast<int>(DType::f32)) return action.template operator()<float>();
    if (type == static_cast<int>(DType::f16)) return action.template operator()<f16>();
    if (type == static_cast<int>(DType::bf16)) return action.template operator()<bf16>();
    return static_cast<int>(Status::invalid_type);
  });
}

// Returns the memory of item i of a call. Items that run together do not share memory.
CallMemory memory_of(const DeviceFrameItem& item, int i, bool polled, void* stream) {
  const auto part = call_purpose.for_item(static_cast<unsigned>(i) % cuda::max_items);
  std::byte* const own =
      scratch().reserve(static_cast<cudaStream_t>(stream), part, sizeof(cuda::ScratchHead));
  return {reinterpret_cast<cuda::ScratchHead*>(own), result_at(item.result, polled)};
}

// Calls enqueue(launcher, item, memory) for each item; see launch_items. `bits`: those of a code, or 0 to
// decode. `polled`: see DeviceCodec.
template <class T, class Enqueue>
int on_items(const DeviceFrameItem* items, int n, unsigned bits, bool polled, void* stream, Enqueue enqueue) {
  for (int i = 0; i < n; ++i) {
    if (items[i].count > blocks::max_count) return static_cast<int>(Status::invalid_count);
    if (!is_accessible(items[i], sizeof(T))) return static_cast<int>(Status::invalid_argument);
    if (bits != 0 && items[i].bytes < frame_header_bytes + blocks::payload_bytes(items[i].count, bits))
      return static_cast<int>(Status::buffer_too_small);
  }
  const auto memory = [=](const DeviceFrameItem& item, int i) { return memory_of(item, i, polled, stream); };
  launch_items(items, n, stream, memory, enqueue);
  return 0;
}

template <class T, class Launcher>
void enqueue_encoder(Launcher& launcher, const Bound& bound, const DeviceFrameItem& item,
                     const CallMemory& memory) {
  const FrameHeader header{
      .codec = blocks::frame_id, .type = dtype_of<T>, .count = item.count, .bound = bound};
  blocks::cuda::encode(launcher, static_cast<const T*>(item.values), header,
                       static_cast<std::byte*>(item.frame), memory);
}

template <class Target, class Launcher>
void enqueue_decoder(Launcher& launcher, const DeviceFrameItem& item, const CallMemory& memory) {
  blocks::cuda::decode<Target>(launcher,
                               cuda::source_of(static_cast<const std::byte*>(item.frame), item.bytes),
                               static_cast<typename Target::Value*>(item.values), item.count, memory);
}

int encode(const Coding& coding, const DeviceFrameItem* items, int n, int type, bool polled, void* stream) noexcept {
  const Bound bound = coding.bound;
  const bool usable = bound.kind == Bound::Kind::rate &&
                      std::ranges::any_of(blocks::rates, [&](unsigned bits) { return bound.value == bits; });
  if (!usable) return static_cast<int>(Status::invalid_argument);
  return on_values(type, [&]<class T>() {
    return on_items<T>(
        items, n, static_cast<unsigned>(bound.value), polled, stream,
        [&](auto& launcher, const auto&... arguments) { enqueue_encoder<T>(launcher, bound, arguments...); });
  });
}

template <class Target>
int decode_to(const DeviceFrameItem* items, int n, void* stream) {
  return on_items<typename Target::Value>(
      items, n, 0, false, stream,
      [](auto& launcher, const auto&... arguments) { enqueue_decoder<Target>(launcher, arguments...); });
}

int decode(const Coding&, const DeviceFrameItem* items, int n, int type, bool add, void* stream) noexcept {
  return on_values(type, [&]<class T>() {
    return add ? decode_to<blocks::cuda::Add<T>>(items, n, stream)
               : decode_to<blocks::cuda::Replace<T>>(items, n, stream);
  });
}

// Loads the kernels of all calls.
template <class T>
void load_kernels(const DeviceFrameItem& item, const CallMemory& memory) {
  load_kernels_of_items([&](auto& launcher) {
    enqueue_encoder<T>(launcher, {Bound::Kind::rate, 8}, item, memory);
    enqueue_decoder<blocks::cuda::Replace<T>>(launcher, item, memory);
    enqueue_decoder<blocks::cuda::Add<T>>(launcher, item, memory);
  });
}

int reserve(const Coding&, size_t count, int type, void* stream) noexcept {
  if (count > blocks::max_count) return static_cast<int>(Status::invalid_count);
  return on_values(type, [&]<class T>() {
    const DeviceFrameItem item{nullptr, count, nullptr, 0, nullptr};
    for (int i = 0; i < static_cast<int>(cuda::max_items); ++i) memory_of(item, i, false, stream);
    load_kernels<T>(item, memory_of(item, 0, false, stream));
    return 0;
  });
}

}  // namespace

#if !defined(__HIP_DEVICE_COMPILE__)  // clang would copy the table to the GPU
namespace device_codecs {

extern constinit const DeviceCodec blocks{.frame_id = taut::blocks::frame_id,
                                          .reserve = reserve,
                                          .together = [](const Coding&) noexcept { return true; },
                                          .adds = [](const Coding&) noexcept { return true; },
                                          .encode = encode,
                                          .decode = decode};

}  // namespace device_codecs
#endif
}  // namespace taut::gpu
