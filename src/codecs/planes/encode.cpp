#include "codecs/planes/typed_codec.hpp"

namespace taut::planes {

template <class T>
std::size_t TypedCodec<T>::encode(const T* values, std::size_t count, FrameHeader header, Bytes out) const {
  const ConstBytes raw = std::as_bytes(std::span(values, count));
  if (z_.step == 0) return write_stored(header, raw, out);
  FrameWriter writer(out, count);
  unsigned width_class = 8;
  bool any_coded = false;
  for (std::size_t first = 0; first < count; first += chunk_values) {
    const std::size_t n = std::min(chunk_values, count - first);
    any_coded |= encode_chunk(values + first, n, width_class, writer) == Form::coded;
  }
  // Nothing but layers: the stored form says the same in fewer bytes.
  return any_coded ? writer.finish(header) : write_stored(header, raw, out);
}

template <class T>
auto TypedCodec<T>::encode_chunk(const T* values, std::size_t n, unsigned& width_class,
                                 FrameWriter& writer) const -> Form {
  T padded[chunk_values];
  const T* const whole = whole_groups(values, n, z_.predictor, padded);
  const std::size_t groups = groups_of(n);
  PlanesOut planes(writer.room() + RecordHeader{}.bytes(), width_class);
  std::uint8_t flags = 0;
  if (!kernels_.of<T>().encode(whole, groups, z_, planes)) {
    alignas(64) std::int32_t q[chunk_values];
    if (!kernels_.of<T>().quantise_large(whole, groups, z_, q)) return encode_general(values, n, writer);
    kernels_.ints.pack(q, groups, z_.predictor, planes);
    flags = large;
  }
  commit_planes(planes, flags, n, writer);
  width_class = planes.width_class;
  return Form::coded;
}

// Escapes, or 64-bit integers; a layer when that takes no more bytes.
template <class T>
auto TypedCodec<T>::encode_general(const T* values, std::size_t n, FrameWriter& writer) const -> Form {
  const std::size_t layer_bytes = RecordHeader{}.bytes() + 4 + n * sizeof(T);
  GeneralChunk<T> chunk(n);
  chunk.quantise(values, z_);
  if (const std::size_t bytes = chunk.write(1, z_.predictor, kernels_, writer.at(), layer_bytes - 1);
      bytes != 0) {
    writer.advance(bytes);
    return Form::coded;
  }
  GeneralChunk<T> exact(n);
  exact.add_layer(reinterpret_cast<const std::byte*>(values));
  writer.advance(exact.write(1, z_.predictor, kernels_, writer.at(), layer_bytes));
  return Form::layer;
}

template <class T>
bool TypedCodec<T>::commit_planes(PlanesOut& planes, std::uint8_t flags, std::size_t n,
                                  FrameWriter& writer) const noexcept {
  if (planes.bytes == 0 && planes.base == 0) return writer.commit(0);
  const RecordHeader header{flags, static_cast<std::uint16_t>(planes.bytes), planes.base};
  WidthFacts facts;
  if (planes.bytes > 0) facts = kernels_.widths.inspect(planes.widths);
  planes.width_class = facts.greatest <= 8 ? 8 : facts.greatest <= 16 ? 16 : 32;
  return writer.commit(
      finish_planes(writer.room(), header, planes.widths, facts, blocks_of(n), kernels_.widths));
}

template class TypedCodec<float>;
template class TypedCodec<double>;

}  // namespace taut::planes
