// Encoding of frames without lags and references.
#include <atomic>

#include "compressor/codecs/planes/typed_codec.hpp"

namespace taut::planes {

template <class T>
std::size_t TypedCodec<T>::encode_without_residuals(CodingPath path, unsigned width_class, const T* values,
                                                    std::size_t count, FrameHeader header, Bytes out) const {
  if (quantiser_.step == 0) return write_stored(header, std::as_bytes(std::span(values, count)), out);
  FrameWriter frame(out, count, {quantiser_.predictor, {}});
  std::atomic<bool> any_coded = false;
  const auto encode = [&](Range chunks, PlaneRecordWriter& writer) {
    CodingPath previous = path;
    unsigned likely_class = width_class;
    bool coded = false;
    for (std::size_t i = chunks.first; i < chunks.first + chunks.count; ++i) {
      const std::size_t n = std::min(chunk_values, count - i * chunk_values);
      previous = encode_chunk(values + i * chunk_values, n, previous, likely_class, writer);
      coded |= previous != CodingPath::raw_layer;
    }
    if (coded) any_coded = true;
    return Status::ok;
  };
  frame.write(useful_threads(threads_, chunks_of(count)), encode,
              max_record_bytes);  // `out` has room for all
  return any_coded ? frame.finish(header) : frame.finish_stored(header);
}

template <class T>
auto TypedCodec<T>::encode_chunk(const T* values, std::size_t n, CodingPath previous, unsigned& width_class,
                                 PlaneRecordWriter& writer) const -> CodingPath {
  if (previous == CodingPath::raw_layer && general_.encode_if_surely_raw_layer(values, n, quantiser_, writer))
    return CodingPath::raw_layer;
  T padded[chunk_values];
  const T* const whole = whole_groups(values, n, quantiser_.predictor, padded);
  const std::size_t groups = groups_of(n);
  PlanesOut planes(writer.room() + RecordHeader{}.bytes(), width_class);
  std::uint8_t flags = 0;
  CodingPath path = CodingPath::small_kernel;
  const bool packed = may_hold_packed(values, n);
  const bool try_small_kernel = !packed && (previous == CodingPath::small_kernel ||
                                            general_.may_fit_small_kernel(values, n, quantiser_));
  const bool small = try_small_kernel && kernels_.for_type<T>().encode(whole, groups, quantiser_, planes);
  const bool try_large_kernel =
      !small && !packed &&
      general_.may_fit_large_kernel(values, n, quantiser_, previous == CodingPath::large_kernel);
  if (try_large_kernel && kernels_.for_type<T>().encode_large(whole, groups, quantiser_, planes)) {
    flags = large;
    path = CodingPath::large_kernel;
  } else if (!small) {
    alignas(64) std::int32_t q[chunk_values];
    ChunkMask marks;
    const QuantisedChunk quantised = general_.quantise(whole, n, quantiser_, q, marks);
    if (!quantised.all_have_integers) {
      const std::uint8_t range_flag = quantised.all_small ? 0 : large;
      return general_.encode(values, n, q, marks, range_flag, quantiser_, writer) ? CodingPath::general
                                                                                  : CodingPath::raw_layer;
    }
    // A chunk of small integers keeps its planes whatever their size, because accumulate() adds values to
    // planes without encoding the values alone. Large integers of halves may take more bytes than a raw
    // layer.
    if (is_half<T>)
      return general_.encode(values, n, q, marks, large, quantiser_, writer) ? CodingPath::general
                                                                             : CodingPath::raw_layer;
    kernels_.ints.pack(q, groups, {quantiser_.predictor, {}}, planes);
    flags = large;
    path = CodingPath::general;
  }
  commit_planes(planes, flags, n, writer);
  width_class = planes.width_class;
  return path;
}

template <class T>
bool TypedCodec<T>::commit_planes(PlanesOut& planes, std::uint8_t flags, std::size_t n,
                                  PlaneRecordWriter& writer) const noexcept {
  drop_padding(planes, blocks_of(n));
  if (planes.bytes == 0 && planes.base == 0 && flags == 0) return writer.commit(0);
  const RecordHeader header{static_cast<std::uint8_t>(flags | writer.table_flags()),
                            static_cast<std::uint16_t>(planes.bytes), planes.base};
  WidthSummary summary;
  if (planes.bytes > 0) summary = kernels_.widths.summarize(planes.widths);
  planes.width_class = summary.max_width <= 8 ? 8 : summary.max_width <= 16 ? 16 : 32;
  return writer.commit(
      finish_planes(writer.room(), header, planes.widths, summary, blocks_of(n), kernels_.widths));
}

#define INSTANTIATE(T) template class TypedCodec<T>;
TAUT_PLANES_TYPES(INSTANTIATE)

}  // namespace taut::planes
