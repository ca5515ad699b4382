// Frames with lags or references, whose records hold residuals. These frames have no layers, and wide records
// behind references alone: if a chunk needs one, the frame is encoded without lags and references. An addend
// with a reference of its own has to keep the reference; a chunk that needs one becomes a sum of two records
// (encode_chunk_as_sum).
#include <atomic>
#include <utility>

#include "compressor/codecs/planes/typed_codec.hpp"
#include "compressor/frame/sum_pipelines.hpp"

namespace taut::planes {

// ---- A chunk with exact values

template <class T>
bool GeneralPath<T>::encode_residuals(const T* values, std::size_t n, std::int32_t* q, ChunkMask& marks,
                                      std::uint8_t flags, const Quantiser<T>& z,
                                      const EarlierIntegers& earlier, PlaneRecordWriter& writer) const {
  constexpr std::size_t bytes_per_run = run_bytes<T>(false);
  const std::size_t planes_bytes = max_plane_bytes(n, flags), layer_bytes = n * sizeof(T);
  if (planes_bytes >= layer_bytes) return false;
  trim(marks, n);
  alignas(8) std::byte runs[chunk_values * sizeof(T) + 64];
  const std::size_t max_runs = (layer_bytes - planes_bytes) / bytes_per_run,
                    count = general_.for_type<T>().take_runs(values, n, marks, max_runs, q, runs);
  if (count > max_runs) return false;
  replace_by_decoded(runs, count, bytes_per_run, z);

  alignas(64) std::byte record[max_plane_record<std::int32_t>];
  if (count > 0) flags |= has_runs;
  flags |= writer.table_flags();
  const std::size_t bytes = write_narrow(q, n, flags, {z.predictor, earlier}, record);
  const std::size_t total = bytes + (count > 0 ? 4 + count * bytes_per_run : 0);
  if (total > writer.left()) return false;
  std::memcpy(writer.at(), record, bytes);
  if (count > 0)
    std::memcpy(store(writer.at() + bytes, static_cast<std::uint32_t>(count)), runs, count * bytes_per_run);
  writer.advance(total);
  return true;
}

// ---- Frames

template <class T>
std::size_t TypedCodec<T>::encode_residuals(const T* values, std::size_t count, FrameHeader header,
                                            Bytes out) const {
  const ReferenceIntegers<T> references(references_, own_header(), kernels_);
  FrameWriter frame(out, count, prediction(), state_numbers_of(references_));
  const auto encode = [&](Range chunks, PlaneRecordWriter& writer) {
    PredictionSource<T> source = source_of_predictions(references, count);
    if (source.out_of_memory()) return Status::out_of_memory;
    CodingPath path = CodingPath::small_kernel;
    unsigned width_class = 8;
    for (std::size_t i = chunks.first; i < chunks.first + chunks.count; ++i) {
      const std::size_t first = i * chunk_values, n = std::min(chunk_values, count - first);
      std::int32_t* const q = source.start_chunk(i);
      if (encode_from_references(values + first, n, source, path, width_class, writer)) continue;
      const bool coded = encode_residual_chunk(values + first, n, source, q, path, width_class, writer) ||
                         (by_addend_ && encode_chunk_as_sum(values + first, n, source.earlier(), writer));
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
                                           CodingPath path, unsigned& width_class,
                                           PlaneRecordWriter& writer) const {
  const auto encode = kernels_.for_type<T>().encode_from_references;
  const auto before = source.reference_values(n);
  if (encode == nullptr || !before || path != CodingPath::small_kernel || may_hold_packed(values, n))
    return false;
  PlanesOut planes(writer.room() + RecordHeader{}.bytes(), width_class);
  if (!encode(values, *before, groups_of(n), quantiser_, planes)) {
    source.expect_large();
    return false;
  }
  const bool fits = commit_planes(planes, 0, n, writer);
  width_class = planes.width_class;
  return fits;
}

template <class T>
bool TypedCodec<T>::quantise_chunk(const T* values, std::size_t n, CodingPath& path, std::int32_t* q,
                                   ChunkMask& marks, std::uint8_t& flags) const {
  T padded[chunk_values];
  const T* const whole = whole_groups(values, n, quantiser_.predictor, padded);
  flags = 0;
  const bool packed = may_hold_packed(values, n);
  const bool try_small_kernel =
      !packed && (path == CodingPath::small_kernel || general_.may_fit_small_kernel(values, n, quantiser_));
  const CodingPath before = std::exchange(path, CodingPath::small_kernel);
  if (try_small_kernel && kernels_.for_type<T>().quantise(whole, groups_of(n), quantiser_, q)) return true;
  path = CodingPath::large_kernel;
  flags = large;
  const bool try_large_kernel =
      !packed && general_.may_fit_large_kernel(values, n, quantiser_, before == CodingPath::large_kernel);
  if (try_large_kernel && kernels_.for_type<T>().quantise_large(whole, groups_of(n), quantiser_, q))
    return true;
  path = CodingPath::general;
  const QuantisedChunk found = general_.quantise(whole, n, quantiser_, q, marks);
  flags = found.all_have_integers || !found.all_small ? large : 0;
  return found.all_have_integers &&
         !is_half<T>;  // large integers of halves may take more bytes than the values
}

template <class T>
bool TypedCodec<T>::encode_residual_chunk(const T* values, std::size_t n, PredictionSource<T>& source,
                                          std::int32_t* q, CodingPath& path, unsigned& width_class,
                                          PlaneRecordWriter& writer) const {
  ChunkMask marks;
  std::uint8_t flags;
  if (quantise_chunk(values, n, path, q, marks, flags))
    return write_residuals(q, n, source.earlier(), flags, width_class, writer);
  if constexpr (sizeof(T) == 8) {
    alignas(64) std::int64_t wide_q[chunk_values];
    trim(marks, n);
    const bool may_be_wide = !references_.empty() && !lags_.any() && !by_addend_;
    if (may_be_wide && general_.becomes_wide(values, n, quantiser_, wide_q, marks))
      return general_.encode_wide_residuals(values, n, wide_q, marks, quantiser_, source.predict_wide(),
                                            writer);
  }
  return general_.encode_residuals(values, n, q, marks, flags, quantiser_, source.earlier(), writer);
}

template <class T>
bool TypedCodec<T>::encode_chunk_as_sum(const T* values, std::size_t n, const EarlierIntegers& earlier,
                                        PlaneRecordWriter& writer) const {
  std::byte own[own_chunk_bytes], negative_prediction[own_chunk_bytes];
  const std::size_t bytes = encode_without_residuals(CodingPath::general, 8, values, n, chunk_header(n), own);
  FrameReader<T> frame;
  Operand operand;
  if (frame.open({own, bytes}) != Status::ok || operand.read(frame, 0, kernels_) != Status::ok) return false;
  alignas(64) std::int32_t q[chunk_values];
  for (std::size_t i = 0; i < n; ++i) q[i] = subtract_wrapping(0, earlier[i]);
  FrameWriter one_record(negative_prediction, n, {quantiser_.predictor, {}});
  unsigned width_class = 8;
  const Status coded = one_record.write(1, [&](Range, PlaneRecordWriter& record) {
    return write_residuals(q, n, {}, large, width_class, record) ? Status::ok : Status::buffer_too_small;
  });
  return coded == Status::ok &&
         add_chunk(operand, {negative_prediction, one_record.finish(chunk_header(n))}, n, 2, writer);
}

template <class T>
bool TypedCodec<T>::write_residuals(std::int32_t* q, std::size_t n, const EarlierIntegers& earlier,
                                    std::uint8_t flags, unsigned& width_class,
                                    PlaneRecordWriter& writer) const {
  const ChunkPrediction prediction{quantiser_.predictor, earlier};
  pad_groups(q, n, prediction);
  PlanesOut planes(writer.room() + RecordHeader{}.bytes(), width_class);
  kernels_.ints.pack(q, groups_of(n), prediction, planes);
  const bool fits = commit_planes(planes, flags, n, writer);
  width_class = planes.width_class;
  return fits;
}

// ---- Sums

template <class T>
SizeOrStatus TypedCodec<T>::accumulate_residuals(const FrameReader<T>& frame, const T* values,
                                                 FrameHeader total, Bytes out,
                                                 bool& needs_full_integers) const {
  const ReferenceIntegers<T> references(references_, own_header(), kernels_);
  FrameWriter sum(out, frame.count(), prediction(), frame.states());
  std::atomic<bool> impossible = false;
  const auto add = [&](Range chunks, PlaneRecordWriter& writer) {
    const SumPipelineCounting counting;
    Operand operand;
    PredictionSource<T> source = source_of_predictions(references, frame.count());
    if (source.out_of_memory()) return Status::out_of_memory;
    CodingPath path = CodingPath::small_kernel;
    unsigned width_class = 8;
    for (std::size_t i = chunks.first; i < chunks.first + chunks.count && !impossible; ++i) {
      if (const Status s = operand.read(frame, i, kernels_); s != Status::ok) return s;
      std::int32_t* const q = source.start_chunk(i);
      const ResidualOutcome outcome =
          accumulate_residual_chunk(operand, values + i * chunk_values, frame.chunk_count(i),
                                    source.earlier(), q, total.addends, path, width_class, writer);
      if (outcome == ResidualOutcome::needs_full_integers) {
        impossible = true;
        SumPipelineCounting::own() = {};  // the chunks are added anew
      }
      if (outcome != ResidualOutcome::done) return Status::buffer_too_small;
    }
    return impossible ? Status::buffer_too_small : Status::ok;
  };
  const Status status = sum.write(parts_for(frame.chunks(), prediction()), add);
  needs_full_integers = impossible;
  if (status != Status::ok) return {status};
  return {Status::ok, sum.finish(total)};
}

template <class T>
auto TypedCodec<T>::accumulate_residual_chunk(const Operand& operand, const T* values, std::size_t n,
                                              const EarlierIntegers& earlier, std::int32_t* q,
                                              std::uint32_t addends, CodingPath& path, unsigned& width_class,
                                              PlaneRecordWriter& writer) const -> ResidualOutcome {
  if (operand.record.header.has(wide) && !by_addend_) return ResidualOutcome::needs_full_integers;
  ChunkMask marks;
  std::uint8_t flags;
  const bool all_integers = quantise_chunk(values, n, path, q, marks, flags);
  if (all_integers && operand.only_narrow_integers()) {
    const ChunkPrediction prediction{quantiser_.predictor, earlier};
    pad_groups(q, n, prediction);
    PlanesOut planes(writer.room() + RecordHeader{}.bytes(), width_class);
    kernels_.ints.add(operand.record.planes(), q, groups_of(n), prediction, planes);
    ++SumPipelineCounting::own().added;
    const bool fits = commit_planes(planes, flags | operand.range_flag(), n, writer);
    width_class = planes.width_class;
    return fits ? ResidualOutcome::done : ResidualOutcome::no_room;
  }
  std::byte own[own_chunk_bytes];
  FrameWriter one_record(own, n, {quantiser_.predictor, {}});  // for one record of residuals
  const Status coded = one_record.write(1, [&](Range, PlaneRecordWriter& record) {
    const bool fits =
        all_integers ? write_residuals(q, n, earlier, flags, width_class, record)
                     : general_.encode_residuals(values, n, q, marks, flags, quantiser_, earlier, record) ||
                           (by_addend_ && encode_chunk_as_sum(values, n, earlier, record));
    return fits ? Status::ok : Status::buffer_too_small;
  });
  if (coded != Status::ok) return ResidualOutcome::needs_full_integers;
  const std::size_t bytes = one_record.finish(chunk_header(n));
  return add_chunk(operand, {own, bytes}, n, addends, writer) ? ResidualOutcome::done
                                                              : ResidualOutcome::no_room;
}

#define INSTANTIATE(T)           \
  template class GeneralPath<T>; \
  template class TypedCodec<T>;
TAUT_PLANES_TYPES(INSTANTIATE)

}  // namespace taut::planes
