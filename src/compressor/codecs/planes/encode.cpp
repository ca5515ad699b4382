#include <atomic>

#include "compressor/codecs/planes/typed_codec.hpp"

namespace taut::planes {

template <class T>
std::size_t TypedCodec<T>::encode_likely(Form form, unsigned width_class, const T* values, std::size_t count,
                                         FrameHeader header, Bytes out) const {
  if (z_.step == 0) return write_stored(header, std::as_bytes(std::span(values, count)), out);
  FrameWriter frame(out, count, {z_.predictor, {}});
  std::atomic<bool> any_coded = false;
  const auto encode = [&](Range chunks, Records& writer) {
    Form before = form;
    unsigned likely_class = width_class;
    bool coded = false;
    for (std::size_t i = chunks.first; i < chunks.first + chunks.count; ++i) {
      const std::size_t n = std::min(chunk_values, count - i * chunk_values);
      before = encode_chunk(values + i * chunk_values, n, before, likely_class, writer);
      coded |= before != Form::layer;
    }
    if (coded) any_coded = true;
    return Status::ok;
  };
  // `out` has room for all records.
  frame.write(useful_threads(threads_, chunks_of(count)), encode, most_record_bytes);
  return any_coded ? frame.finish(header) : frame.finish_stored(header);
}

template <class T>
auto TypedCodec<T>::encode_chunk(const T* values, std::size_t n, Form before, unsigned& width_class,
                                 Records& writer) const -> Form {
  if (before == Form::layer && general_.encode_certain_layer(values, n, z_, writer)) return Form::layer;
  T padded[chunk_values];
  const T* const whole = whole_groups(values, n, z_.predictor, padded);
  const std::size_t groups = groups_of(n);
  PlanesOut planes(writer.room() + RecordHeader{}.bytes(), width_class);
  std::uint8_t flags = 0;
  Form form = Form::simple;
  const bool packed = may_hold_packed(values, n);
  const bool likely_small = !packed && (before == Form::simple || general_.may_be_small(values, n, z_));
  const bool small = likely_small && kernels_.of<T>().encode(whole, groups, z_, planes);
  const bool likely_unchecked =
      !small && !packed && general_.may_be_unchecked(values, n, z_, before == Form::unchecked);
  if (likely_unchecked && kernels_.of<T>().encode_large(whole, groups, z_, planes)) {
    flags = large;
    form = Form::unchecked;
  } else if (!small) {
    alignas(64) std::int32_t q[chunk_values];
    Marks marks;
    const Quantised found = general_.quantise(whole, n, z_, q, marks);
    if (!found.complete) {
      const std::uint8_t size = found.small ? 0 : large;
      return general_.encode(values, n, q, marks, size, z_, writer) ? Form::general : Form::layer;
    }
    // A small chunk keeps its planes whatever their size, because the fused sums never produce its separate
    // planes. Large integers of halves may take more bytes than the values.
    if (is_half<T>)
      return general_.encode(values, n, q, marks, large, z_, writer) ? Form::general : Form::layer;
    kernels_.ints.pack(q, groups, {z_.predictor, {}}, planes);
    flags = large;
    form = Form::general;
  }
  commit_planes(planes, flags, n, writer);
  width_class = planes.width_class;
  return form;
}

template <class T>
bool TypedCodec<T>::commit_planes(PlanesOut& planes, std::uint8_t flags, std::size_t n,
                                  Records& writer) const noexcept {
  drop_padding(planes, blocks_of(n));
  if (planes.bytes == 0 && planes.base == 0 && flags == 0) return writer.commit(0);
  const RecordHeader header{static_cast<std::uint8_t>(flags | writer.forms()),
                            static_cast<std::uint16_t>(planes.bytes), planes.base};
  WidthSummary summary;
  if (planes.bytes > 0) summary = kernels_.widths.summarize(planes.widths);
  planes.width_class = summary.greatest <= 8 ? 8 : summary.greatest <= 16 ? 16 : 32;
  return writer.commit(
      finish_planes(writer.room(), header, planes.widths, summary, blocks_of(n), kernels_.widths));
}

#define INSTANTIATE(T) template class TypedCodec<T>;
TAUT_PLANES_TYPES(INSTANTIATE)

}  // namespace taut::planes
