// The zfp kernels, run on the shim, for each type of values once.
#include "gpu/kernels/rate_codec.hpp"

namespace taut {

template <class T>
std::vector<std::byte> RateGpuCodec<T>::encode(const std::vector<T>& x, double rate, const Dims& dims) {
  const std::size_t bytes = x.size() * sizeof(T);
  const zfp::cuda::Field field = field_of(dims, x.size());
  const Room room(zfp::cuda::max_frame_bytes<T>(field, rate)), values(bytes);
  if (bytes > 0) std::memcpy(values.data(), x.data(), bytes);
  zfp::cuda::encode(launcher_, reinterpret_cast<const T*>(values.data()), field,
                    {.codec = zfp::cuda::frame_id,
                     .type = dtype_of<T>,
                     .count = x.size(),
                     .bound = {Bound::Kind::rate, rate}},
                    room.data(), place(field));
  return {room.data(), room.data() + result_.bytes};
}

template <class T>
std::uint32_t RateGpuCodec<T>::decode(const std::vector<std::byte>& frame, std::vector<T>& x,
                                      const Dims& dims) {
  const std::size_t bytes = x.size() * sizeof(T);
  const Room room(frame.size()), values(bytes);
  if (!frame.empty()) std::memcpy(room.data(), frame.data(), frame.size());
  const zfp::cuda::Field field = field_of(dims, x.size());
  zfp::cuda::decode(launcher_, cuda::source_of(room.data(), room.size()), reinterpret_cast<T*>(values.data()),
                    field, x.size(), place(field));
  if (bytes > 0) std::memcpy(x.data(), values.data(), bytes);
  return result_.status;
}

template <class T>
zfp::cuda::CallMemory RateGpuCodec<T>::place(const zfp::cuda::Field& field) {
  const std::size_t bytes = zfp::cuda::scratch_bytes(field.tiles);
  if (!scratch_ || scratch_->size() < bytes) {
    scratch_ = std::make_unique<Room>(bytes, 0);
    reinterpret_cast<zfp::cuda::Scratch*>(scratch_->data())->crc = cuda::header_crc_table();
  }
  result_ = {0xDEAD, 0xDEAD, 0};
  return {reinterpret_cast<zfp::cuda::Scratch*>(scratch_->data()), &result_};
}

template class RateGpuCodec<float>;
template class RateGpuCodec<double>;

}  // namespace taut
