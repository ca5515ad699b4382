// The exponents codec on GPUs, as a DeviceCodec: checks arguments and launches kernels on the stream. The
// kernels have the logic of the codec.
#include "compressor/gpu/cuda_items.hpp"
#include "compressor/gpu/cuda_services.hpp"
#include "compressor/gpu/exponents/calls.hpp"

namespace taut::gpu {
namespace {

using exponents::cuda::CallMemory;

constexpr CudaScratch::Purpose call_purpose{exponents::frame_id, 0},
    books_purpose{exponents::frame_id, cuda::max_items};

// Returns the status of action.operator()<T>(), where T is the type of the values, or the status of the
// exception that the action throws.
template <class Action>
int on_halves(int type, Action action) noexcept {
  return guarded([&] {
    if (type == static_cast<int>(DType::f16)) return action.template operator()<f16>();
    if (type == static_cast<int>(DType::bf16)) return action.template operator()<bf16>();
    return static_cast<int>(Status::invalid_type);
  });
}

// Kind of a call. `polled`: see DeviceCodec.
struct CallKind {
  bool encodes, polled = false;
};

// Returns the memory of item i of a call. Items that run together do not share memory.
CallMemory memory_of(const DeviceFrameItem& item, int i, CallKind kind, cudaStream_t stream) {
  const auto part = [i](CudaScratch::Purpose purpose) {
    return purpose.for_item(static_cast<unsigned>(i) % cuda::max_items);
  };
  std::byte* const own = scratch().reserve(stream, part(call_purpose), exponents::cuda::scratch_bytes(item.count));
  std::byte* const books =
      kind.encodes ? scratch().reserve(stream, part(books_purpose), exponents::cuda::books_bytes(item.count)) : nullptr;
  return {reinterpret_cast<exponents::cuda::Scratch*>(own), reinterpret_cast<exponents::cuda::Books*>(books),
          result_at(item.result, kind.polled)};
}

// Calls enqueue(launcher, item, memory) for each item; see launch_items.
template <class Enqueue>
int on_items(const DeviceFrameItem* items, int n, std::size_t value_bytes, CallKind kind, void* stream,
             Enqueue enqueue) {
  for (int i = 0; i < n; ++i) {
    if (items[i].count > exponents::max_count) return static_cast<int>(Status::invalid_count);
    if (!is_accessible(items[i], value_bytes)) return static_cast<int>(Status::invalid_argument);
    if (kind.encodes && items[i].bytes < frame_header_bytes + items[i].count * exponents::value_bytes)
      return static_cast<int>(Status::buffer_too_small);
  }
  const auto memory = [=](const DeviceFrameItem& item, int i) {
    return memory_of(item, i, kind, static_cast<cudaStream_t>(stream));
  };
  launch_items(items, n, stream, memory, enqueue);
  return 0;
}

template <class T, class Launcher>
void enqueue_encoder(Launcher& launcher, const DeviceFrameItem& item, const CallMemory& memory) {
  const FrameHeader header{.codec = exponents::frame_id, .type = dtype_of<T>, .count = item.count};
  exponents::cuda::encode<T>(launcher, static_cast<const std::uint16_t*>(item.values), header,
                             {static_cast<std::byte*>(item.frame), item.bytes}, memory);
}

template <class Target, class Launcher>
void enqueue_decoder(Launcher& launcher, const DeviceFrameItem& item, const CallMemory& memory) {
  exponents::cuda::decode<Target>(launcher,
                                  cuda::source_of(static_cast<const std::byte*>(item.frame), item.bytes),
                                  static_cast<typename Target::Value*>(item.values), item.count, memory);
}

int encode(const Coding&, const DeviceFrameItem* items, int n, int type, bool polled, void* stream) noexcept {
  return on_halves(type, [&]<class T>() {
    return on_items(
        items, n, exponents::value_bytes, {.encodes = true, .polled = polled}, stream,
        [](auto& launcher, const auto&... arguments) { enqueue_encoder<T>(launcher, arguments...); });
  });
}

template <class Target>
int decode_to(const DeviceFrameItem* items, int n, void* stream) {
  return on_items(
      items, n, sizeof(typename Target::Value), {.encodes = false}, stream,
      [](auto& launcher, const auto&... arguments) { enqueue_decoder<Target>(launcher, arguments...); });
}

int decode(const Coding&, const DeviceFrameItem* items, int n, int type, bool add, void* stream) noexcept {
  return on_halves(type, [&]<class T>() {
    return add ? decode_to<exponents::cuda::Add<T>>(items, n, stream)
               : decode_to<exponents::cuda::Replace<T>>(items, n, stream);
  });
}

int add_to_floats(const DeviceFrameItem* items, int n, int type, void* stream) noexcept {
  return on_halves(type,
                   [&]<class T>() { return decode_to<exponents::cuda::Add<T, float>>(items, n, stream); });
}

// Loads the kernels of all calls.
template <class T>
void load_kernels(const DeviceFrameItem& item, const CallMemory& memory) {
  load_kernels_of_items([&](auto& launcher) {
    enqueue_encoder<T>(launcher, item, memory);
    enqueue_decoder<exponents::cuda::Replace<T>>(launcher, item, memory);
    enqueue_decoder<exponents::cuda::Add<T>>(launcher, item, memory);
    enqueue_decoder<exponents::cuda::Add<T, float>>(launcher, item, memory);
  });
}

int reserve(const Coding&, size_t count, int type, void* stream) noexcept {
  if (count > exponents::max_count) return static_cast<int>(Status::invalid_count);
  return on_halves(type, [&]<class T>() {
    DeviceFrameItem item{nullptr, count, nullptr, 0, nullptr};
    for (int i = 0; i < static_cast<int>(cuda::max_items); ++i)
      memory_of(item, i, {.encodes = true}, static_cast<cudaStream_t>(stream));
    item.count = exponents::chunk_values;  // enough for a frame that is not stored
    load_kernels<T>(item, memory_of(item, 0, {.encodes = true}, static_cast<cudaStream_t>(stream)));
    return 0;
  });
}

}  // namespace

#if !defined(__HIP_DEVICE_COMPILE__)  // clang would copy the table to the GPU
namespace device_codecs {

extern constinit const DeviceCodec exponents{.frame_id = taut::exponents::frame_id,
                                             .reserve = reserve,
                                             .together = [](const Coding&) noexcept { return true; },
                                             .adds = [](const Coding&) noexcept { return true; },
                                             .encode = encode,
                                             .decode = decode,
                                             .add_to_floats = add_to_floats};

}  // namespace device_codecs
#endif
}  // namespace taut::gpu
