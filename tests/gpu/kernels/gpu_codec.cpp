// The planes kernels, run on the shim, for each type of values once.
#include "gpu/kernels/gpu_codec.hpp"

#include "compressor/base/float_environment.hpp"

namespace taut {

template <class T>
std::vector<std::byte> GpuCodec<T>::encode(const std::vector<T>& x) {
  use(x.size());
  const Room room(planes::max_frame_bytes(sizeof(T), x.size(), 1));
  planes::cuda::encode<T>(launcher_, call(x), {room.data(), room.size()}, place());
  return {room.data(), room.data() + result_.bytes};
}

template <class T>
std::vector<std::byte> GpuCodec<T>::encode_lagged(const std::vector<T>& x, const planes::Lags& wanted) {
  const planes::Lags lags = wanted.within(x.size());
  if (!lags.any() || z_.step == 0) return encode(x);
  use(x.size());
  const Room room(planes::max_frame_bytes(sizeof(T), x.size(), 1)),
      integers(planes::cuda::IntegersMemory::bytes(x.size()));
  planes::cuda::encode_lagged<T>(launcher_, call(x), lags, {room.data(), room.size()},
                                 {integers.data(), x.size()}, place());
  return {room.data(), room.data() + result_.bytes};
}

template <class T>
std::uint32_t GpuCodec<T>::decode(const std::vector<std::byte>& frame, std::vector<T>& x, bool add) {
  use(x.size());
  const Room room = room_of(frame);
  planes::cuda::decode<T>(launcher_, planes::cuda::source_of(room.data(), room.size()), dtype_of<T>, x.data(),
                          x.size(), add, place());
  return result_.status;
}

template <class T>
std::uint32_t GpuCodec<T>::decode_lagged(const std::vector<std::byte>& frame, std::vector<T>& x, bool add) {
  use(x.size());
  const Room room = room_of(frame), integers(planes::cuda::IntegersMemory::bytes(x.size()));
  planes::cuda::decode_lagged<T>(launcher_, planes::cuda::source_of(room.data(), room.size()), dtype_of<T>,
                                 x.data(), x.size(), add, {integers.data(), x.size()}, place());
  return result_.status;
}

template <class T>
std::vector<std::byte> GpuCodec<T>::encode_referenced(const std::vector<T>& x, References references) {
  if (references.empty() || x.empty() || z_.step == 0) return encode(x);
  use(x.size());
  const Room room(planes::max_frame_bytes(sizeof(T), x.size(), 1));
  planes::cuda::encode_referenced<T>(launcher_, call(x), z_.predictor, call(references),
                                     {room.data(), room.size()}, place());
  return {room.data(), room.data() + result_.bytes};
}

template <class T>
std::uint32_t GpuCodec<T>::decode_referenced(const std::vector<std::byte>& frame, std::vector<T>& x,
                                             References references, bool add) {
  use(x.size());
  const Room room = room_of(frame);
  planes::cuda::decode_referenced<T>(launcher_, planes::cuda::source_of(room.data(), room.size()),
                                     dtype_of<T>, x.data(), x.size(), add, call(references), place());
  return result_.status;
}

template <class T>
std::vector<std::byte> GpuCodec<T>::sum(const std::vector<std::vector<std::byte>>& frames, std::size_t n,
                                        std::size_t capacity) {
  use(n);
  std::vector<Room> rooms;
  std::vector<planes::cuda::Source> sources;
  for (const auto& frame : frames) {
    rooms.emplace_back(frame.size());
    std::memcpy(rooms.back().data(), frame.data(), frame.size());
    sources.push_back(planes::cuda::source_of(rooms.back().data(), frame.size()));
  }
  const Room room(capacity);
  planes::cuda::sum<T>(launcher_, {sources, dtype_of<T>, n, z_}, {room.data(), room.size()}, place());
  return taken(room);
}

template <class T>
std::vector<std::byte> GpuCodec<T>::accumulate(const std::vector<std::byte>& frame, const std::vector<T>& x,
                                               std::size_t capacity) {
  use(x.size());
  const Room in(frame.size()), room(capacity);
  std::memcpy(in.data(), frame.data(), frame.size());
  constexpr std::uint32_t words = planes::cuda::whole_slot_words<T>();
  const std::size_t chunks = planes::chunks_of(x.size());
  const Room sizes(4 * chunks), slots(4 * chunks * words);
  planes::cuda::accumulate<T>(
      launcher_, planes::cuda::source_of(in.data(), in.size()), call(x),
      {reinterpret_cast<std::uint32_t*>(sizes.data()), reinterpret_cast<std::uint32_t*>(slots.data()), words},
      {room.data(), room.size()}, place());
  return taken(room);
}

template <class T>
typename GpuCodec<T>::Slotted GpuCodec<T>::encode_to_slots(const std::vector<T>& x,
                                                           std::uint32_t slot_words) {
  use(x.size());
  const std::size_t chunks = planes::chunks_of(x.size());
  Slotted out{std::vector<std::uint32_t>(chunks), std::vector<std::uint32_t>(chunks * slot_words),
              slot_words};
  const auto values = call(x);
  planes::cuda::FrameSeal seal = seal_of(values, place());
  seal.blocks = std::max(seal.chunks, 1u);
  const planes::cuda::Slots slots{out.words.data(), out.slots.data(), slot_words};
  launch_encoder(launcher_, encode_job(values, sink_of(slots, x.size(), place()), seal));
  return out;
}

template <class T>
std::vector<std::byte> GpuCodec<T>::sum_of_slots(Slotted slots, std::size_t n, std::size_t capacity) {
  use(n);
  const planes::cuda::Source source =
      planes::cuda::source_of({slots.words.data(), slots.slots.data(), slots.slot_words});
  const Room room(capacity);
  planes::cuda::sum<T>(launcher_, {{&source, 1}, dtype_of<T>, n, z_, header(n)}, {room.data(), room.size()},
                       place());
  return taken(room);
}

template <class T>
void GpuCodec<T>::after_launches(std::uint32_t launches, std::size_t count) {
  scratch_.reset();
  use(count);
  reinterpret_cast<planes::cuda::Scratch*>(scratch_->data())->control.epoch = launches;
}

template <class T>
Room GpuCodec<T>::room_of(const std::vector<std::byte>& frame) {
  Room room(frame.size());
  if (!frame.empty()) std::memcpy(room.data(), frame.data(), frame.size());
  return room;
}

template <class T>
planes::cuda::EncodeCall<T> GpuCodec<T>::call(const std::vector<T>& x) const {
  return {x.data(), x.size(), z_, header(x.size())};
}

template <class T>
planes::cuda::CallReferences<T> GpuCodec<T>::call(References references) {
  const auto array = [&](std::size_t k) {
    return k < references.size() ? static_cast<const T*>(references[k].values.data) : nullptr;
  };
  return {{array(0), array(1)}, state_numbers_of(references)};
}

template <class T>
FrameHeader GpuCodec<T>::header(std::size_t n) const {
  return {.codec = planes::frame_id,
          .type = dtype_of<T>,
          .count = n,
          .bound = bound_,
          .step = static_cast<double>(z_.step)};
}

template <class T>
void GpuCodec<T>::use(std::size_t count) {
  if (scratch_ && scratch_->size() >= planes::cuda::scratch_bytes(count)) return;
  scratch_ = std::make_unique<Room>(planes::cuda::scratch_bytes(count), 0);
  reinterpret_cast<planes::cuda::Scratch*>(scratch_->data())->crc = planes::cuda::header_crc_table();
}

template <class T>
planes::cuda::CallMemory GpuCodec<T>::place() {
  result_ = {0xDEAD, 0xDEAD, 0};
  return {reinterpret_cast<planes::cuda::Scratch*>(scratch_->data()), &result_};
}

template class GpuCodec<float>;
template class GpuCodec<double>;
template class GpuCodec<f16>;
template class GpuCodec<bf16>;

}  // namespace taut
