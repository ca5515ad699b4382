#include "compressor/codecs/planes/typed_codec.hpp"

namespace taut::planes {
namespace {

template <class T>
Quantiser<T> quantiser_of(const FrameReader<T>& frame) noexcept {
  return Quantiser<T>::of_frame(frame.header().step, frame.header().bound.value, frame.prediction().inner);
}

}  // namespace

template <class T>
void TypedCodec<T>::Operand::follow_lags(const FrameReader<T>& frame) {
  if (const Lags& lags = frame.prediction().lags; lags.any())
    source = PredictionSource<T>(lags, frame.count());
}

template <class T>
Status TypedCodec<T>::Operand::follow(const FrameReader<T>& frame, const ReferenceIntegers<T>& references) {
  if (frame.states().any())
    source = PredictionSource<T>(frame.prediction().lags, references, frame.count());
  else
    follow_lags(frame);
  return source.without_memory() ? Status::out_of_memory : Status::ok;
}

template <class T>
void TypedCodec<T>::Operand::resolve(const KernelSet& kernels) noexcept {
  if (!source.any()) return;
  kernels.ints.unpack(record.planes(), groups_of(record.count), {predictor, source.earlier()}, room);
  integers = room;
}

template <class T>
Status TypedCodec<T>::Operand::read(const FrameReader<T>& frame, std::size_t i,
                                    const KernelSet& kernels) noexcept {
  raw = frame.stored() ? frame.raw(i) : nullptr;
  predictor = frame.prediction().inner;
  if (source.any()) room = source.next(i);
  return frame.stored() ? Status::ok : frame.read(i, kernels.widths, record, padding);
}

// Decodes a chunk by a kernel that takes the values of references; false: the kernel does not serve it.
template <class T>
bool TypedCodec<T>::decode_from_references(Operand& operand, const Quantiser<T>& z, T* whole,
                                           std::size_t groups) const {
  const auto decode = kernels_.of<T>().decode_from_references;
  const auto before = operand.source.values(operand.record.count);
  if (decode == nullptr || !before) return false;
  if (decode(operand.record.planes(), *before, groups, z, whole)) return true;
  operand.source.not_small();
  return false;
}

template <class T>
void TypedCodec<T>::decode_groups(Operand& operand, std::uint32_t addends, const Quantiser<T>& z, T* whole,
                                  std::size_t groups) const {
  const PlanesIn planes = operand.record.planes();
  const bool lagged = operand.source.any();
  if (exact_in_type(operand.size_flag(), addends)) {
    if (decode_from_references(operand, z, whole, groups)) return;
    if (lagged)
      return kernels_.of<T>().decode_residuals(planes, groups, z, operand.source.earlier(), operand.room,
                                               whole);
    return kernels_.of<T>().decode(planes, groups, z, whole);
  }
  alignas(64) std::int32_t unlagged[chunk_values];
  std::int32_t* const q = lagged ? operand.room : unlagged;
  kernels_.ints.unpack(planes, groups, {z.predictor, operand.source.earlier()}, q);
  kernels_.of<T>().dequantise_large(q, groups, z, whole);
}

template <class T>
void TypedCodec<T>::decode_chunk(Operand& operand, std::uint32_t addends, const Quantiser<T>& z, T* values,
                                 std::size_t n) const {
  if (operand.raw != nullptr) {
    std::memcpy(values, operand.raw, n * sizeof(T));
    return;
  }
  if (!operand.simple()) {
    if (operand.record.header.has(wide) && operand.source.any())
      return general_.decode_wide(operand.record, operand.source.earlier().near, z, values);
    operand.resolve(kernels_);
    return operand.source.any() ? general_.decode_integers(operand.record, operand.room, z, values)
                                : general_.decode(operand.record, z, values);
  }
  if (operand.record.greatest == 0 && !operand.source.any()) {
    fill(values, n, dequantise<T>(operand.record.header.base, z.step));
    return;
  }
  if (n % group_values == 0) return decode_groups(operand, addends, z, values, n / group_values);
  T whole[chunk_values];
  decode_groups(operand, addends, z, whole, groups_of(n));
  std::memcpy(values, whole, n * sizeof(T));
}

// Calls use(operand, i) for each chunk i.
template <class T>
template <class Use>
Status TypedCodec<T>::for_chunks(const FrameReader<T>& frame, References references, const Use& use) const {
  if (!names(frame, references)) return Status::corrupt_frame;
  const ReferenceIntegers<T> integers(references.first(frame.states().n), frame.header(), kernels_);
  return first_failure(parts_for(frame.chunks(), frame.prediction()), frame.chunks(), [&](Range chunks) {
    Operand operand;
    if (const Status s = operand.follow(frame, integers); s != Status::ok) return s;
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
    if (slice.count > 0) std::memcpy(slice.data, frame.raw(0), slice.bytes());
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
  operand.follow_lags(frame);
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
    if (op == Reduction::sum && operand.simple() && !operand.source.any() && n % group_values == 0 &&
        exact_in_type(operand.size_flag(), addends)) {
      kernels_.of<T>().decode_add(operand.record.planes(), n / group_values, z, to);
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
