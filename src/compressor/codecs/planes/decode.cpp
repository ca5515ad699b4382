// Decoding of frames, and reductions of values with decoded frames.
#include "compressor/codecs/planes/typed_codec.hpp"

namespace taut::planes {
namespace {

template <class T>
Quantiser<T> quantiser_of(const FrameReader<T>& frame) noexcept {
  return Quantiser<T>::of_frame(frame.header().step, frame.header().bound.value, frame.prediction().inner);
}

}  // namespace

template <class T>
void TypedCodec<T>::Operand::prepare_lags(const FrameReader<T>& frame) {
  if (const Lags& lags = frame.prediction().lags; lags.any())
    source = PredictionSource<T>(lags, frame.count());
}

template <class T>
Status TypedCodec<T>::Operand::prepare(const FrameReader<T>& frame, const ReferenceIntegers<T>& references) {
  if (frame.states().any())
    source = PredictionSource<T>(frame.prediction().lags, references, frame.count());
  else
    prepare_lags(frame);
  return source.out_of_memory() ? Status::out_of_memory : Status::ok;
}

template <class T>
void TypedCodec<T>::Operand::compute_integers(const KernelSet& kernels) noexcept {
  integers = nullptr;
  predicted = nullptr;
  if (!source.any()) return;
  if (record.header.has(wide)) {
    predicted = source.predict_wide();
    return;
  }
  kernels.ints.unpack(record.planes(), groups_of(record.count), {predictor, source.earlier()}, integer_room);
  integers = integer_room;
}

template <class T>
Status TypedCodec<T>::Operand::read(const FrameReader<T>& frame, std::size_t i,
                                    const KernelSet& kernels) noexcept {
  stored_values = frame.stored() ? frame.stored_values(i) : nullptr;
  predictor = frame.prediction().inner;
  if (source.any()) integer_room = source.start_chunk(i);
  return frame.stored() ? Status::ok : frame.read(i, kernels.widths, record, padding);
}

// Decodes a chunk by a kernel that takes the values of references. Returns false if the kernel does not serve
// the chunk.
template <class T>
bool TypedCodec<T>::decode_from_references(Operand& operand, const Quantiser<T>& z, T* whole,
                                           std::size_t groups) const {
  const auto decode = kernels_.for_type<T>().decode_from_references;
  const auto before = operand.source.reference_values(operand.record.count);
  if (decode == nullptr || !before) return false;
  if (decode(operand.record.planes(), *before, groups, z, whole)) return true;
  operand.source.expect_large();
  return false;
}

// Decodes a chunk that consists of integers of 32 bits, in whole groups.
template <class T>
void TypedCodec<T>::decode_groups(Operand& operand, std::uint32_t addends, const Quantiser<T>& z, T* whole,
                                  std::size_t groups) const {
  const PlanesIn planes = operand.record.planes();
  const bool lagged = operand.source.any();
  if (exact_in_type(operand.range_flag(), addends)) {
    if (decode_from_references(operand, z, whole, groups)) return;
    if (lagged)
      return kernels_.for_type<T>().decode_residuals(planes, groups, z, operand.source.earlier(),
                                                     operand.integer_room, whole);
    return kernels_.for_type<T>().decode(planes, groups, z, whole);
  }
  alignas(64) std::int32_t unlagged[chunk_values];
  std::int32_t* const q = lagged ? operand.integer_room : unlagged;
  kernels_.ints.unpack(planes, groups, {z.predictor, operand.source.earlier()}, q);
  kernels_.for_type<T>().dequantise_large(q, groups, z, whole);
}

template <class T>
void TypedCodec<T>::decode_chunk(Operand& operand, std::uint32_t addends, const Quantiser<T>& z, T* values,
                                 std::size_t n) const {
  if (operand.stored_values != nullptr) {
    std::memcpy(values, operand.stored_values, n * sizeof(T));
    return;
  }
  if (!operand.only_narrow_integers()) {
    if (operand.record.header.has(wide) && operand.source.any())
      return general_.decode_wide(operand.record, operand.source.predict_wide(), z, values);
    operand.compute_integers(kernels_);
    return operand.source.any() ? general_.decode_integers(operand.record, operand.integer_room, z, values)
                                : general_.decode(operand.record, z, values);
  }
  if (operand.record.max_width == 0 && !operand.source.any()) {
    fill(values, n, dequantise<T>(operand.record.header.base, z.step));
    return;
  }
  if (n % group_values == 0) return decode_groups(operand, addends, z, values, n / group_values);
  T whole[chunk_values];
  decode_groups(operand, addends, z, whole, groups_of(n));
  std::memcpy(values, whole, n * sizeof(T));
}

template <class T>
template <class Use>
Status TypedCodec<T>::for_chunks(const FrameReader<T>& frame, References references, const Use& use) const {
  if (!references_match(frame, references)) return Status::corrupt_frame;
  const ReferenceIntegers<T> integers(references.first(frame.states().n), frame.header(), kernels_);
  return first_failure(parts_for(frame.chunks(), frame.prediction()), frame.chunks(), [&](Range chunks) {
    Operand operand;
    if (const Status s = operand.prepare(frame, integers); s != Status::ok) return s;
    for (std::size_t i = chunks.first; i < chunks.first + chunks.count; ++i) {
      if (const Status s = operand.read(frame, i, kernels_); s != Status::ok) return s;
      use(operand, i);
    }
    return Status::ok;
  });
}

template <class T>
Status TypedCodec<T>::decode(ConstBytes in, References references, Slice slice) const {
  FrameReader<T> frame;
  if (const Status s = frame.open(in); s != Status::ok) return s;
  if (!frame.holds(slice.type, slice.count)) return Status::frame_mismatch;
  if (frame.stored()) {
    if (slice.count > 0) std::memcpy(slice.data, frame.stored_values(0), slice.bytes());
    return Status::ok;
  }
  T* const values = static_cast<T*>(slice.data);
  const Quantiser<T> z = quantiser_of(frame);
  return for_chunks(frame, references, [&](Operand& operand, std::size_t i) {
    decode_chunk(operand, frame.header().addends, z, values + i * chunk_values, frame.chunk_count(i));
  });
}

template <class T>
Status TypedCodec<T>::summarize(ConstBytes in, ValueStatistics& statistics) const {
  FrameReader<T> frame;
  if (const Status s = frame.open(in); s != Status::ok) return s;
  if (frame.states().any()) return Status::corrupt_frame;  // the references are not given
  const Quantiser<T> z = quantiser_of(frame);
  Operand operand;
  operand.prepare_lags(frame);
  for (std::size_t i = 0; i < frame.chunks(); ++i) {
    if (const Status s = operand.read(frame, i, kernels_); s != Status::ok) return s;
    T decoded[chunk_values];
    decode_chunk(operand, frame.header().addends, z, decoded, frame.chunk_count(i));
    statistics.add(decoded, frame.chunk_count(i));
  }
  return Status::ok;
}

template <class T>
Status TypedCodec<T>::reduce(ConstBytes in, References references, Slice slice, Reduction op) const {
  FrameReader<T> frame;
  if (!is_defined(op, slice.type)) return Status::invalid_type;
  if (const Status s = frame.open(in); s != Status::ok) return s;
  if (!frame.holds(slice.type, slice.count)) return Status::frame_mismatch;
  T* const values = static_cast<T*>(slice.data);
  const Quantiser<T> z = quantiser_of(frame);
  const std::uint32_t addends = frame.header().addends;
  return for_chunks(frame, references, [&](Operand& operand, std::size_t i) {
    T* const to = values + i * chunk_values;
    const std::size_t n = frame.chunk_count(i);
    if (op == Reduction::sum && operand.only_narrow_integers() && !operand.source.any() &&
        n % group_values == 0 && exact_in_type(operand.range_flag(), addends)) {
      kernels_.for_type<T>().decode_add(operand.record.planes(), n / group_values, z, to);
      return;
    }
    T decoded[chunk_values];
    decode_chunk(operand, addends, z, decoded, n);
    if (op == Reduction::sum) return general_.add_values(to, decoded, n);
    reduce_values({{to, n, dtype_of<T>}}, {{decoded, n, dtype_of<T>}}, op);
  });
}

#define INSTANTIATE(T) template class TypedCodec<T>;
TAUT_PLANES_TYPES(INSTANTIATE)

}  // namespace taut::planes
