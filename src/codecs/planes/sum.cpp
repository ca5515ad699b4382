#include "codecs/planes/typed_codec.hpp"

namespace taut::planes {

template <class T>
bool TypedCodec<T>::sum_chunk(std::span<const Operand* const> operands, std::size_t n, std::uint32_t addends,
                              Predictor predictor, FrameWriter& writer) const {
  std::uint8_t flags = 0;
  bool simple = true;
  for (const Operand* o : operands) {
    simple &= o->simple() && o->predictor == predictor;
    flags |= o->size_flag();
  }
  if (simple && fits_narrow(flags, addends)) {
    const Record<T>* records[max_operands];
    for (std::size_t k = 0; k < operands.size(); ++k) records[k] = &operands[k]->record;
    PlanesOut planes(writer.room() + RecordHeader{}.bytes());
    sum_planes<T>({records, operands.size()}, groups_of(n), kernels_.ints, planes);
    return commit_planes(planes, flags, n, writer);
  }
  Part<T> parts[max_operands];
  for (std::size_t k = 0; k < operands.size(); ++k) parts[k] = operands[k]->part();
  return general_.sum({parts, operands.size()}, n, addends, predictor, writer);
}

template <class T>
Sized TypedCodec<T>::sum(std::span<const ConstBytes> frames, Bytes out) const {
  if (frames.empty() || frames.size() > max_operands) return {Status::invalid_argument};
  FrameReader<T> readers[max_operands];
  FrameHeader total;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    if (const Status s = readers[k].open(frames[k]); s != Status::ok) return {s};
    const FrameHeader& h = readers[k].header();
    if (k == 0) {
      total = h;
      continue;
    }
    const bool alike =
        h.type == total.type && h.count == total.count && h.step == total.step && h.bound == total.bound;
    if (!alike) return {Status::frame_mismatch};
    total.parameters[0] = std::min(total.parameters[0], h.parameters[0]);  // in whatever order they come
    if (__builtin_add_overflow(total.addends, h.addends, &total.addends)) return {Status::invalid_count};
    total.flags |= h.flags & FrameHeader::checksummed;
  }
  total.flags &= static_cast<std::uint8_t>(~FrameHeader::stored);

  Operand operands[max_operands];
  const Operand* chunk[max_operands];
  for (std::size_t k = 0; k < frames.size(); ++k) chunk[k] = &operands[k];
  FrameWriter writer(out, readers[0].count());
  for (std::size_t i = 0; i < readers[0].chunks(); ++i) {
    for (std::size_t k = 0; k < frames.size(); ++k)
      if (const Status s = operands[k].read(readers[k], i, kernels_); s != Status::ok) return {s};
    if (!sum_chunk({chunk, frames.size()}, readers[0].chunk_count(i), total.addends,
                   static_cast<Predictor>(total.parameters[0]), writer))
      return {Status::buffer_too_small};
  }
  const std::size_t bytes = writer.finish(total);
  return bytes != 0 ? Sized{Status::ok, bytes} : Sized{Status::buffer_too_small};
}

template <class T>
Sized TypedCodec<T>::accumulate(ConstBytes in, ConstSlice slice, Bytes out) const {
  FrameReader<T> frame;
  if (const Status s = frame.open(in); s != Status::ok) return {s};
  FrameHeader total = frame.header();
  const bool alike = frame.holds(slice.type, slice.count) && total.step == static_cast<double>(z_.step) &&
                     frame.predictor() == z_.predictor;
  if (!alike) return {Status::frame_mismatch};
  if (++total.addends == 0) return {Status::invalid_count};
  total.flags &= static_cast<std::uint8_t>(~FrameHeader::stored);

  const T* const values = static_cast<const T*>(slice.data);
  Operand operand;
  FrameWriter writer(out, frame.count());
  unsigned width_class = 8;
  for (std::size_t i = 0; i < frame.chunks(); ++i) {
    if (const Status s = operand.read(frame, i, kernels_); s != Status::ok) return {s};
    if (!accumulate_chunk(operand, values + i * chunk_values, frame.chunk_count(i), total.addends,
                          width_class, writer))
      return {Status::buffer_too_small};
  }
  const std::size_t bytes = writer.finish(total);
  return bytes != 0 ? Sized{Status::ok, bytes} : Sized{Status::buffer_too_small};
}

template <class T>
bool TypedCodec<T>::accumulate_planes(const Record<T>& record, const T* whole, std::size_t groups,
                                      PlanesOut& out) const noexcept {
  if (record.greatest > 0) return kernels_.of<T>().accumulate(record.planes(), whole, groups, z_, out);
  const bool small = kernels_.of<T>().encode(whole, groups, z_, out);
  out.base = sum_of_bases(out.base, static_cast<std::int32_t>(record.header.base));
  return small;
}

template <class T>
bool TypedCodec<T>::accumulate_chunk(const Operand& operand, const T* values, std::size_t n,
                                     std::uint32_t addends, unsigned& width_class,
                                     FrameWriter& writer) const {
  if (operand.simple() && fits_narrow(operand.size_flag(), addends)) {
    T padded[chunk_values];
    const T* const whole = whole_groups(values, n, z_.predictor, padded);
    PlanesOut planes(writer.room() + RecordHeader{}.bytes(), width_class);
    if (accumulate_planes(operand.record, whole, groups_of(n), planes)) {
      const bool fits = commit_planes(planes, operand.size_flag(), n, writer);
      width_class = planes.width_class;
      return fits;
    }
  }
  return accumulate_general(operand, values, n, addends, writer);
}

// By way of the chunk's own frame, so that the values are quantised exactly as an encoding would.
template <class T>
bool TypedCodec<T>::accumulate_general(const Operand& operand, const T* values, std::size_t n,
                                       std::uint32_t addends, FrameWriter& writer) const {
  std::byte bytes[max_frame_bytes(sizeof(T), chunk_values, 1) + max_plane_record<std::int64_t>];
  FrameHeader header{
      .codec = frame_id, .type = dtype_of<T>, .count = n, .step = static_cast<double>(z_.step)};
  header.parameters[0] = static_cast<std::uint8_t>(z_.predictor);
  const unsigned width_class = operand.raw == nullptr && operand.record.greatest > 8 ? 16 : 8;
  const std::size_t size = encode_likely(Form::general, width_class, values, n, header, bytes);
  FrameReader<T> frame;
  Operand own;
  if (frame.open({bytes, size}) != Status::ok || own.read(frame, 0, kernels_) != Status::ok) return false;
  const Operand* const both[] = {&operand, &own};
  return sum_chunk(both, n, addends, z_.predictor, writer);
}

template class TypedCodec<float>;
template class TypedCodec<double>;
template class TypedCodec<f16>;
template class TypedCodec<bf16>;

}  // namespace taut::planes
