// Frames with lags or references, whose records hold residuals. They have no wide records and no layers: if a
// chunk needs one, the frame is encoded without lags and references. An addend with a reference of its own
// has to keep it, and such a chunk is then a sum of records.
#include <atomic>
#include <utility>

#include "compressor/codecs/planes/typed_codec.hpp"
#include "compressor/frame/sum_pipelines.hpp"

namespace taut::planes {

// ---- A chunk with exact values

template <class T>
bool GeneralPath<T>::encode_residuals(const T* values, std::size_t n, std::int32_t* q, Marks& marks,
                                      std::uint8_t flags, const Quantiser<T>& z, const Earlier& earlier,
                                      Records& writer) const {
  constexpr std::size_t each = run_bytes<T>(false);
  const std::size_t planes_bytes = most_plane_bytes(n, flags), layer_bytes = n * sizeof(T);
  if (planes_bytes >= layer_bytes) return false;
  trim(marks, n);
  alignas(8) std::byte runs[chunk_values * sizeof(T) + 64];
  const std::size_t most = (layer_bytes - planes_bytes) / each,
                    count = general_.of<T>().take_runs(values, n, marks, most, q, runs);
  if (count > most) return false;
  replace_by_decoded(runs, count, each, z);

  alignas(64) std::byte record[max_plane_record<std::int32_t>];
  if (count > 0) flags |= has_runs;
  flags |= writer.forms();
  const std::size_t bytes = pack_narrow(q, n, flags, {z.predictor, earlier}, record);
  const std::size_t total = bytes + (count > 0 ? 4 + count * each : 0);
  if (total > writer.left()) return false;
  std::memcpy(writer.at(), record, bytes);
  if (count > 0)
    std::memcpy(store(writer.at() + bytes, static_cast<std::uint32_t>(count)), runs, count * each);
  writer.advance(total);
  return true;
}

// ---- Frames

template <class T>
std::size_t TypedCodec<T>::encode_residuals(const T* values, std::size_t count, FrameHeader header,
                                            Bytes out) const {
  const ReferenceIntegers<T> references(references_, own_header(), kernels_);
  FrameWriter frame(out, count, prediction(), state_numbers_of(references_));
  const auto encode = [&](Range chunks, Records& writer) {
    PredictionSource<T> source = source_of_predictions(references, count);
    if (source.without_memory()) return Status::out_of_memory;
    Form form = Form::simple;
    unsigned width_class = 8;
    for (std::size_t i = chunks.first; i < chunks.first + chunks.count; ++i) {
      const std::size_t first = i * chunk_values, n = std::min(chunk_values, count - first);
      std::int32_t* const q = source.next(i);
      if (encode_from_references(values + first, n, source, form, width_class, writer)) continue;
      const bool coded =
          encode_residual_chunk(values + first, n, source.earlier(), q, form, width_class, writer) ||
          (by_addend_ && encode_difference_chunk(values + first, n, source.earlier(), writer));
      if (!coded) return Status::buffer_too_small;
    }
    return Status::ok;
  };
  const std::size_t parts = parts_for(chunks_of(count), prediction());
  return frame.write(parts, encode) == Status::ok ? frame.finish(header) : 0;
}

// Encodes a chunk by a kernel that takes the values of references. Returns false if the kernel does not serve
// it, or the record does not fit.
template <class T>
bool TypedCodec<T>::encode_from_references(const T* values, std::size_t n, PredictionSource<T>& source,
                                           Form form, unsigned& width_class, Records& writer) const {
  const auto encode = kernels_.of<T>().encode_from_references;
  const auto before = source.values(n);
  if (encode == nullptr || !before || form != Form::simple || may_hold_packed(values, n)) return false;
  PlanesOut planes(writer.room() + RecordHeader{}.bytes(), width_class);
  if (!encode(values, *before, groups_of(n), z_, planes)) {
    source.not_small();
    return false;
  }
  const bool fits = commit_planes(planes, 0, n, writer);
  width_class = planes.width_class;
  return fits;
}

template <class T>
bool TypedCodec<T>::quantise_chunk(const T* values, std::size_t n, Form& form, std::int32_t* q, Marks& marks,
                                   std::uint8_t& flags) const {
  T padded[chunk_values];
  const T* const whole = whole_groups(values, n, z_.predictor, padded);
  flags = 0;
  const bool packed = may_hold_packed(values, n);
  const bool likely_small = !packed && (form == Form::simple || general_.may_be_small(values, n, z_));
  const Form before = std::exchange(form, Form::simple);
  if (likely_small && kernels_.of<T>().quantise(whole, groups_of(n), z_, q)) return true;
  form = Form::unchecked;
  flags = large;
  const bool likely_unchecked =
      !packed && general_.may_be_unchecked(values, n, z_, before == Form::unchecked);
  if (likely_unchecked && kernels_.of<T>().quantise_large(whole, groups_of(n), z_, q)) return true;
  form = Form::general;
  const Quantised found = general_.quantise(whole, n, z_, q, marks);
  flags = found.complete || !found.small ? large : 0;
  return found.complete && !is_half<T>;  // large integers of halves may take more bytes than the values
}

template <class T>
bool TypedCodec<T>::encode_residual_chunk(const T* values, std::size_t n, const Earlier& earlier,
                                          std::int32_t* q, Form& form, unsigned& width_class,
                                          Records& writer) const {
  Marks marks;
  std::uint8_t flags;
  if (!quantise_chunk(values, n, form, q, marks, flags))
    return general_.encode_residuals(values, n, q, marks, flags, z_, earlier, writer);
  return write_residuals(q, n, earlier, flags, width_class, writer);
}

template <class T>
bool TypedCodec<T>::encode_difference_chunk(const T* values, std::size_t n, const Earlier& earlier,
                                            Records& writer) const {
  std::byte own[own_chunk_bytes], opposite[own_chunk_bytes];
  const std::size_t bytes = encode_likely(Form::general, 8, values, n, chunk_header(n), own);
  FrameReader<T> frame;
  Operand operand;
  if (frame.open({own, bytes}) != Status::ok || operand.read(frame, 0, kernels_) != Status::ok) return false;
  alignas(64) std::int32_t q[chunk_values];
  for (std::size_t i = 0; i < n; ++i) q[i] = subtract_wrapping(0, earlier[i]);
  FrameWriter carrier(opposite, n, {z_.predictor, {}});
  unsigned width_class = 8;
  const Status coded = carrier.write(1, [&](Range, Records& record) {
    return write_residuals(q, n, {}, large, width_class, record) ? Status::ok : Status::buffer_too_small;
  });
  return coded == Status::ok && add_chunk(operand, {opposite, carrier.finish(chunk_header(n))}, n, 2, writer);
}

template <class T>
bool TypedCodec<T>::write_residuals(std::int32_t* q, std::size_t n, const Earlier& earlier,
                                    std::uint8_t flags, unsigned& width_class, Records& writer) const {
  const ChunkPrediction prediction{z_.predictor, earlier};
  complete(q, n, prediction);
  PlanesOut planes(writer.room() + RecordHeader{}.bytes(), width_class);
  kernels_.ints.pack(q, groups_of(n), prediction, planes);
  const bool fits = commit_planes(planes, flags, n, writer);
  width_class = planes.width_class;
  return fits;
}

// ---- Sums

template <class T>
SizeOrStatus TypedCodec<T>::accumulate_residuals(const FrameReader<T>& frame, const T* values,
                                                 FrameHeader total, Bytes out, bool& no_residuals) const {
  const ReferenceIntegers<T> references(references_, own_header(), kernels_);
  FrameWriter sum(out, frame.count(), prediction(), frame.states());
  std::atomic<bool> impossible = false;
  const auto add = [&](Range chunks, Records& writer) {
    const SumPipelineCounting counting;
    Operand operand;
    PredictionSource<T> source = source_of_predictions(references, frame.count());
    if (source.without_memory()) return Status::out_of_memory;
    Form form = Form::simple;
    unsigned width_class = 8;
    for (std::size_t i = chunks.first; i < chunks.first + chunks.count && !impossible; ++i) {
      if (const Status s = operand.read(frame, i, kernels_); s != Status::ok) return s;
      std::int32_t* const q = source.next(i);
      const Residuals outcome =
          accumulate_residual_chunk(operand, values + i * chunk_values, frame.chunk_count(i),
                                    source.earlier(), q, total.addends, form, width_class, writer);
      if (outcome == Residuals::no_residuals) {
        impossible = true;
        SumPipelineCounting::own() = {};  // the chunks are added anew
      }
      if (outcome != Residuals::done) return Status::buffer_too_small;
    }
    return impossible ? Status::buffer_too_small : Status::ok;
  };
  const Status status = sum.write(parts_for(frame.chunks(), prediction()), add);
  no_residuals = impossible;
  if (status != Status::ok) return {status};
  return {Status::ok, sum.finish(total)};
}

template <class T>
auto TypedCodec<T>::accumulate_residual_chunk(const Operand& operand, const T* values, std::size_t n,
                                              const Earlier& earlier, std::int32_t* q, std::uint32_t addends,
                                              Form& form, unsigned& width_class, Records& writer) const
    -> Residuals {
  Marks marks;
  std::uint8_t flags;
  const bool all_integers = quantise_chunk(values, n, form, q, marks, flags);
  if (all_integers && operand.simple()) {
    const ChunkPrediction prediction{z_.predictor, earlier};
    complete(q, n, prediction);
    PlanesOut planes(writer.room() + RecordHeader{}.bytes(), width_class);
    kernels_.ints.add(operand.record.planes(), q, groups_of(n), prediction, planes);
    ++SumPipelineCounting::own().added;
    const bool fits = commit_planes(planes, flags | operand.size_flag(), n, writer);
    width_class = planes.width_class;
    return fits ? Residuals::done : Residuals::full;
  }
  std::byte own[own_chunk_bytes];
  FrameWriter carrier(own, n, {z_.predictor, {}});  // for one record of residuals
  const Status coded = carrier.write(1, [&](Range, Records& record) {
    const bool fits = all_integers
                          ? write_residuals(q, n, earlier, flags, width_class, record)
                          : general_.encode_residuals(values, n, q, marks, flags, z_, earlier, record) ||
                                (by_addend_ && encode_difference_chunk(values, n, earlier, record));
    return fits ? Status::ok : Status::buffer_too_small;
  });
  if (coded != Status::ok) return Residuals::no_residuals;
  const std::size_t bytes = carrier.finish(chunk_header(n));
  return add_chunk(operand, {own, bytes}, n, addends, writer) ? Residuals::done : Residuals::full;
}

#define INSTANTIATE(T)           \
  template class GeneralPath<T>; \
  template class TypedCodec<T>;
TAUT_PLANES_TYPES(INSTANTIATE)

}  // namespace taut::planes
