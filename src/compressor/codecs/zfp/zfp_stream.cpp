#include "compressor/codecs/zfp/zfp_stream.hpp"

#include <cmath>
#include <cstring>

namespace taut::zfp {
namespace {

// Describes a tile to zfp, which uses one type for the field that it reads and the field that it writes.
template <class T>
zfp_field field_of(const View<T>& tile) noexcept {
  const auto& [w, z, y, x] = tile.shape.extent;
  const auto stride = [&](unsigned k) { return static_cast<std::ptrdiff_t>(tile.stride[k]); };
  const unsigned dims = tile.shape.dims;
  zfp_field field{};
  field.type = sizeof(T) == 4 ? zfp_type_float : zfp_type_double;
  field.data = const_cast<std::remove_const_t<T>*>(tile.data);
  field.nx = x, field.sx = stride(3);
  if (dims > 1) field.ny = y, field.sy = stride(2);
  if (dims > 2) field.nz = z, field.sz = stride(1);
  if (dims > 3) field.nw = w, field.sw = stride(0);
  return field;
}

}  // namespace

StreamParameters accuracy(double bound) noexcept {
  int exponent;
  std::frexp(bound, &exponent);
  return {ZFP_MIN_BITS, ZFP_MAX_BITS, exponent - 1};  // 2^(exponent-1) <= bound
}

template <class T>
std::size_t ZfpStream::compress(const View<const T>& tile) noexcept {
  const zfp_field field = field_of(tile);
  zfp_stream_rewind(zfp_.get());
  return zfp_compress(zfp_.get(), &field);
}

template <class T>
bool ZfpStream::decompress(ConstBytes stream, const View<T>& tile) noexcept {
  if (stream.size() + stream_tail > memory_.size()) return false;
  std::memcpy(memory_.data(), stream.data(), stream.size());
  std::memset(memory_.data() + stream.size(), 0, stream_tail);
  return decompress(tile);
}

template <class T>
bool ZfpStream::decompress(const View<T>& tile) noexcept {
  zfp_field field = field_of(tile);
  zfp_stream_rewind(zfp_.get());
  return zfp_decompress(zfp_.get(), &field) != 0;
}

template std::size_t ZfpStream::compress(const View<const float>&) noexcept;
template std::size_t ZfpStream::compress(const View<const double>&) noexcept;
template bool ZfpStream::decompress(ConstBytes, const View<float>&) noexcept;
template bool ZfpStream::decompress(ConstBytes, const View<double>&) noexcept;
template bool ZfpStream::decompress(const View<float>&) noexcept;
template bool ZfpStream::decompress(const View<double>&) noexcept;

}  // namespace taut::zfp
