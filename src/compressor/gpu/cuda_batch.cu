// Implements the services that encode or decode several planes frames together: checks arguments and launches
// each kernel once for up to most_items frames.
#include "compressor/gpu/cuda_numbers.hpp"
#include "compressor/gpu/cuda_services.hpp"
#include "compressor/gpu/simt/batch.hpp"

namespace taut::api {
namespace {

using planes::cuda::CallPlace;
using planes::cuda::FrameRoom;

// Returns the scratch memory and result of item i.
template <class T>
CallPlace place_of(const Call<T>& call, int i) {
  const CudaScratch::Use use = StreamScratch::use_of_item(static_cast<std::size_t>(i));
  std::byte* const at = scratch().of(call.launcher.stream, use, planes::cuda::scratch_bytes(call.count));
  return {reinterpret_cast<planes::cuda::Scratch*>(at), result_at(call.result)};
}

template <class T>
Status check(const DeviceFrameItem& item, const Call<T>& call) {
  if (item.count > planes::max_count / components_of(call.type)) return Status::invalid_count;
  return call.can_use(item.frame, item.values) ? Status::ok : Status::invalid_argument;
}

// Calls enqueue.operator()<T>(batch launcher, call, item, place) for each item. Returns the first status other than 0
// of check_also.operator()<T>(call, item), or of items that no call accepts.
template <class CheckAlso, class Enqueue>
int on_items(const DeviceFrameItem* items, int n, int type, void* stream, CheckAlso check_also, Enqueue enqueue) noexcept {
  if (n < 0 || (items == nullptr && n > 0)) return static_cast<int>(Status::invalid_argument);
  return on_numbers(type, 0, [&]<class T>() {
    const auto call_of = [&](int i) { return Call<T>(type, items[i].count, items[i].result, stream); };
    for (int i = 0; i < n; ++i) {
      if (const Status status = check(items[i], call_of(i)); status != Status::ok) return static_cast<int>(status);
      if (const Status status = check_also(call_of(i), items[i]); status != Status::ok) return static_cast<int>(status);
    }
    // The stream has all scratch memory before the first launch, so that a capture is refused as a whole.
    for (int i = 0; i < n; ++i) place_of(call_of(i), i);
    StreamLauncher launcher{static_cast<cudaStream_t>(stream)};
    cuda::BatchLauncher batch(launcher);
    for (int i = 0; i < n; ++i) {
      batch.begin_item();
      enqueue(batch, call_of(i), items[i], place_of(call_of(i), i));
      if ((i + 1) % static_cast<int>(cuda::most_items) == 0) batch.launch_all();
    }
    batch.launch_all();
    return 0;
  });
}

// Loads the kernels of all batches of T.
template <class T>
void load_kernels(const Call<T>& call) {
  const CallPlace place = place_of(call, 0);
  auto* const memory = reinterpret_cast<std::byte*>(place.scratch);  // no kernel runs
  KernelLoader loader;
  cuda::BatchLauncher batch(loader);
  batch.begin_item();
  for (const int exact_bits : {0, 1})
    planes::cuda::encode(batch, encoding(call, memory, {1, 0, 0, exact_bits}), FrameRoom{memory, 0}, place);
  planes::cuda::decode(batch, planes::cuda::source_of(memory, 0), call.type, reinterpret_cast<T*>(memory), call.count,
                       false, place);
  batch.launch_all();
}

}  // namespace

int reserve_batches(size_t count, int type, void* stream) noexcept {
  return on_numbers(type, count, [&]<class T>() {
    for (int i = 0; i < static_cast<int>(cuda::most_items); ++i) place_of(Call<T>(type, count, nullptr, stream), i);
    load_kernels(Call<T>(type, 1, nullptr, stream));
    return 0;
  });
}

int encode_many(const DeviceFrameItem* items, int n, int type, const TAUT_Cuda_coding* coding, void* stream) noexcept {
  if (!usable(coding)) return static_cast<int>(Status::invalid_argument);
  const auto has_room = []<class T>(const Call<T>& call, const DeviceFrameItem& item) {
    const bool fits = item.bytes >= planes::max_frame_bytes(sizeof(T), call.count, 1);
    return fits ? Status::ok : Status::buffer_too_small;
  };
  return on_items(items, n, type, stream, has_room,
                  [&]<class T>(auto& batch, const Call<T>& call, const DeviceFrameItem& item, const CallPlace& place) {
                    planes::cuda::encode(batch, encoding(call, item.values, *coding),
                                         FrameRoom{static_cast<std::byte*>(item.frame), item.bytes}, place);
                  });
}

int decode_many(const DeviceFrameItem* items, int n, int type, int add, void* stream) noexcept {
  const auto nothing = []<class T>(const Call<T>&, const DeviceFrameItem&) { return Status::ok; };
  return on_items(items, n, type, stream, nothing,
                  [&]<class T>(auto& batch, const Call<T>& call, const DeviceFrameItem& item, const CallPlace& place) {
                    planes::cuda::decode(batch, planes::cuda::source_of(static_cast<const std::byte*>(item.frame), item.bytes),
                                         call.type, static_cast<T*>(item.values), call.count, add != 0, place);
                  });
}

}  // namespace taut::api
