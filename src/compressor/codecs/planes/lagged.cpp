// Frames with lags. They have no wide records and no layers: if a chunk needs one, the frame is encoded
// without lags.
#include "compressor/codecs/planes/typed_codec.hpp"
#include "compressor/frame/sum_pipelines.hpp"

namespace taut::planes {

// ---- A chunk with exact values

template <class T>
bool GeneralPath<T>::encode_lagged(const T* values, std::size_t n, std::int32_t* q, Marks& marks,
                                   std::uint8_t flags, const Quantiser<T>& z, const Lags& lags,
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
  const std::size_t bytes = pack_narrow(q, n, flags, {z.predictor, lags}, record);
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
std::size_t TypedCodec<T>::encode_lagged(const T* values, std::size_t count, FrameHeader header,
                                         Bytes out) const {
  LagWindow history(lags_.span(), count);
  FrameWriter frame(out, count, {z_.predictor, lags_});
  const auto encode = [&](Range, Records& writer) {
    Form form = Form::simple;
    unsigned width_class = 8;
    for (std::size_t first = 0; first < count; first += chunk_values) {
      const std::size_t n = std::min(chunk_values, count - first);
      if (!encode_lagged_chunk(values + first, n, history.next(), form, width_class, writer))
        return Status::buffer_too_small;
    }
    return Status::ok;
  };
  return frame.write(1, encode) == Status::ok ? frame.finish(header) : 0;
}

template <class T>
bool TypedCodec<T>::quantise_chunk(const T* values, std::size_t n, Form& form, std::int32_t* q, Marks& marks,
                                   std::uint8_t& flags) const {
  T padded[chunk_values];
  const T* const whole = whole_groups(values, n, z_.predictor, padded);
  flags = 0;
  const bool likely_small =
      !may_hold_packed(values, n) && (form == Form::simple || general_.may_be_small(values, n, z_));
  form = Form::simple;
  if (likely_small && kernels_.of<T>().quantise(whole, groups_of(n), z_, q)) return true;
  form = Form::general;
  const Quantised found = general_.quantise(whole, n, z_, q, marks);
  flags = found.complete || !found.small ? large : 0;
  return found.complete && !is_half<T>;  // large integers of halves may take more bytes than the values
}

template <class T>
bool TypedCodec<T>::encode_lagged_chunk(const T* values, std::size_t n, std::int32_t* q, Form& form,
                                        unsigned& width_class, Records& writer) const {
  Marks marks;
  std::uint8_t flags;
  if (!quantise_chunk(values, n, form, q, marks, flags))
    return general_.encode_lagged(values, n, q, marks, flags, z_, lags_, writer);
  return write_lagged(q, n, flags, width_class, writer);
}

template <class T>
bool TypedCodec<T>::write_lagged(std::int32_t* q, std::size_t n, std::uint8_t flags, unsigned& width_class,
                                 Records& writer) const {
  const Prediction prediction{z_.predictor, lags_};
  complete(q, n, prediction);
  PlanesOut planes(writer.room() + RecordHeader{}.bytes(), width_class);
  kernels_.ints.pack(q, groups_of(n), prediction, planes);
  const bool fits = commit_planes(planes, flags, n, writer);
  width_class = planes.width_class;
  return fits;
}

// ---- Sums

template <class T>
Sized TypedCodec<T>::accumulate_lagged(const FrameReader<T>& frame, const T* values, FrameHeader total,
                                       Bytes out, Lagged& outcome) const {
  Operand operand;
  LagWindow history(lags_.span(), frame.count());
  FrameWriter sum(out, frame.count(), {z_.predictor, lags_});
  const auto add = [&](Range, Records& writer) {
    Form form = Form::simple;
    unsigned width_class = 8;
    for (std::size_t i = 0; i < frame.chunks(); ++i) {
      if (const Status s = operand.read(frame, i, kernels_); s != Status::ok) return s;
      outcome = accumulate_lagged_chunk(operand, values + i * chunk_values, frame.chunk_count(i),
                                        history.next(), total.addends, form, width_class, writer);
      if (outcome != Lagged::done) return Status::buffer_too_small;
    }
    return Status::ok;
  };
  if (const Status s = sum.write(1, add); s != Status::ok) return {s};
  return {Status::ok, sum.finish(total)};
}

template <class T>
auto TypedCodec<T>::accumulate_lagged_chunk(const Operand& operand, const T* values, std::size_t n,
                                            std::int32_t* q, std::uint32_t addends, Form& form,
                                            unsigned& width_class, Records& writer) const -> Lagged {
  Marks marks;
  std::uint8_t flags;
  const bool all_integers = quantise_chunk(values, n, form, q, marks, flags);
  if (all_integers && operand.simple()) {
    const Prediction prediction{z_.predictor, lags_};
    complete(q, n, prediction);
    PlanesOut planes(writer.room() + RecordHeader{}.bytes(), width_class);
    kernels_.ints.add(operand.record.planes(), q, groups_of(n), prediction, planes);
    ++SumPipelineCounting::own().added;
    const bool fits = commit_planes(planes, flags | operand.size_flag(), n, writer);
    width_class = planes.width_class;
    return fits ? Lagged::done : Lagged::full;
  }
  std::byte own[own_chunk_bytes];
  FrameWriter carrier(own, n, {z_.predictor, {}});  // for one record; lags would reach beyond its frame
  const Status coded = carrier.write(1, [&](Range, Records& record) {
    const bool fits = all_integers ? write_lagged(q, n, flags, width_class, record)
                                   : general_.encode_lagged(values, n, q, marks, flags, z_, lags_, record);
    return fits ? Status::ok : Status::buffer_too_small;
  });
  if (coded != Status::ok) return Lagged::not_lagged;
  const std::size_t bytes = carrier.finish(chunk_header(n));
  return add_chunk(operand, {own, bytes}, n, addends, writer) ? Lagged::done : Lagged::full;
}

#define INSTANTIATE(T)           \
  template class GeneralPath<T>; \
  template class TypedCodec<T>;
TAUT_PLANES_TYPES(INSTANTIATE)

}  // namespace taut::planes
