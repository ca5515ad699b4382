// The mpc kernels, run on the shim, for each type of values once.
#include "gpu/kernels/lossless_codec.hpp"

namespace taut {

template <class T>
std::vector<std::byte> LosslessGpuCodec<T>::encode(const std::vector<T>& x, unsigned distance,
                                                   double relative, const Lags& lags) {
  FrameHeader header{.codec = mpc::frame_id, .type = type, .count = x.size()};
  header.parameters[0] = static_cast<std::uint8_t>(distance);
  mpc::Rounding rounding;
  if (relative > 0) {
    header.bound = {Bound::Kind::pointwise, relative};
    rounding = mpc::Rounding::within(relative, component_of(type));
  }
  header.parameters[1] = static_cast<std::uint8_t>(lags.within(x.size()).n);
  return encode(x, header, rounding, lags, false);
}

template <class T>
std::vector<std::byte> LosslessGpuCodec<T>::encode_on_grid(const std::vector<T>& x, const Lags& lags) {
  FrameHeader header{.codec = mpc::frame_id, .type = type, .count = x.size()};
  header.parameters[0] = lags.any() ? 1 : parts;
  return encode(x, header, {}, lags, true);
}

template <class T>
std::vector<std::byte> LosslessGpuCodec<T>::encode(const std::vector<T>& x, FrameHeader header,
                                                   const mpc::Rounding& rounding, const Lags& lags,
                                                   bool seeks_grid) {
  const std::size_t bytes = x.size() * sizeof(T), words = x.size() * parts;
  const Room room(frame_header_bytes + bytes), values(bytes);  // any access beyond their ends is detected
  if (bytes > 0) std::memcpy(values.data(), x.data(), bytes);
  Lags reaching = lags.within(x.size());
  for (std::uint32_t& lag : reaching.lag) lag *= parts;
  const Room lagged(mpc::cuda::extra_bytes<Word>(words));
  mpc::cuda::encode<Word>(launcher_,
                          {reinterpret_cast<const Word*>(values.data()), words, header, rounding, reaching,
                           lagged.data(), seeks_grid},
                          {room.data(), room.size()}, place(words));
  return {room.data(), room.data() + result_.bytes};
}

template <class T>
std::uint32_t LosslessGpuCodec<T>::decode(const std::vector<std::byte>& frame, std::vector<T>& x) {
  return decode_to<mpc::cuda::Replace<Word>>(frame, x);
}

template <class T>
std::uint32_t LosslessGpuCodec<T>::decode_add(const std::vector<std::byte>& frame, std::vector<T>& x) {
  return decode_to<mpc::cuda::Add<Number>>(frame, x);
}

template <class T>
std::uint32_t LosslessGpuCodec<T>::decode_lagged(const std::vector<std::byte>& frame, std::vector<T>& x) {
  const std::size_t words = x.size() * parts;
  const Room lagged(mpc::cuda::extra_bytes<Word>(words));
  return on_room(frame, x, [&](const cuda::Source& source, Word* values) {
    mpc::cuda::decode_lagged(launcher_, source, type, values, words, lagged.data(), place(words));
  });
}

template <class T>
template <class Target>
std::uint32_t LosslessGpuCodec<T>::decode_to(const std::vector<std::byte>& frame, std::vector<T>& x) {
  const std::size_t words = x.size() * parts;
  return on_room(frame, x, [&](const cuda::Source& source, Word* values) {
    mpc::cuda::decode<Target>(launcher_, source, type, values, words, place(words));
  });
}

template <class T>
template <class Decode>
std::uint32_t LosslessGpuCodec<T>::on_room(const std::vector<std::byte>& frame, std::vector<T>& x,
                                           const Decode& decode) {
  const std::size_t bytes = x.size() * sizeof(T);
  const Room room(frame.size()), values(bytes);
  if (!frame.empty()) std::memcpy(room.data(), frame.data(), frame.size());
  if (bytes > 0) std::memcpy(values.data(), x.data(), bytes);
  decode(cuda::source_of(room.data(), room.size()), reinterpret_cast<Word*>(values.data()));
  if (bytes > 0) std::memcpy(static_cast<void*>(x.data()), values.data(), bytes);
  return result_.status;
}

template <class T>
mpc::cuda::CallMemory LosslessGpuCodec<T>::place(std::size_t words) {
  const std::size_t bytes = mpc::cuda::scratch_bytes<Word>(words);
  if (!scratch_ || scratch_->size() < bytes) {
    scratch_ = std::make_unique<Room>(bytes, 0);
    reinterpret_cast<mpc::cuda::Scratch*>(scratch_->data())->crc = cuda::header_crc_table();
  }
  result_ = {0xDEAD, 0xDEAD, 0};
  return {reinterpret_cast<mpc::cuda::Scratch*>(scratch_->data()), &result_};
}

template class LosslessGpuCodec<float>;
template class LosslessGpuCodec<double>;
template class LosslessGpuCodec<f16>;
template class LosslessGpuCodec<bf16>;
template class LosslessGpuCodec<std::complex<float>>;
template class LosslessGpuCodec<std::complex<double>>;
template class LosslessGpuCodec<std::int8_t>;
template class LosslessGpuCodec<std::uint8_t>;
template class LosslessGpuCodec<std::int16_t>;
template class LosslessGpuCodec<std::uint32_t>;
template class LosslessGpuCodec<std::int64_t>;

}  // namespace taut
