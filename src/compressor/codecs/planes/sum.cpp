#include "compressor/codecs/planes/typed_codec.hpp"
#include "compressor/frame/sum_pipelines.hpp"

namespace taut::planes {
namespace {

// Counts a chunk by the number of operands that are not constant.
void count_chunk(std::size_t not_constant) noexcept {
  SumPipelines& counts = SumPipelineCounting::own();
  ++(not_constant == 0 ? counts.constant : not_constant == 1 ? counts.copied : counts.added);
}

}  // namespace

template <class T>
bool TypedCodec<T>::sum_chunk(std::span<const Operand* const> operands, std::size_t n, std::uint32_t addends,
                              Predictor predictor, Records& writer) const {
  std::uint8_t flags = 0;
  bool simple = true;
  for (const Operand* o : operands) {
    simple &= o->simple() && o->predictor == predictor;
    flags |= o->size_flag();
  }
  if (simple && fits_narrow(flags, addends)) {
    const CodedPlanes* records[max_operands];
    std::size_t not_constant = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      records[k] = &operands[k]->record;
      not_constant += records[k]->greatest > 0;
    }
    count_chunk(not_constant);
    PlanesOut planes(writer.room() + RecordHeader{}.bytes());
    sum_planes({records, operands.size()}, groups_of(n), kernels_.ints, planes);
    return commit_planes(planes, flags, n, writer);
  }
  ++SumPipelineCounting::own().general;
  Part<T> parts[max_operands];
  for (std::size_t k = 0; k < operands.size(); ++k) parts[k] = operands[k]->part();
  return general_.sum({parts, operands.size()}, n, addends, predictor, writer);
}

template <class T>
SizeOrStatus TypedCodec<T>::sum(std::span<const ConstBytes> frames, Bytes out) const {
  if (frames.empty() || frames.size() > max_operands) return {Status::invalid_argument};
  FrameReader<T> readers[max_operands];
  FrameHeader total;
  Prediction prediction;
  StateNumbers states;
  bool lagged = true, any_lags = false;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    if (const Status s = readers[k].open(frames[k]); s != Status::ok) return {s};
    const FrameHeader& h = readers[k].header();
    any_lags |= readers[k].prediction().lags.any();
    if (k == 0) {
      total = h;
      prediction = readers[0].prediction();
      states = readers[0].states();
      continue;
    }
    const bool alike = h.type == total.type && h.count == total.count && h.step == total.step &&
                       h.bound == total.bound && readers[k].states() == states &&
                       readers[k].prediction().by_addend == prediction.by_addend;
    if (!alike) return {Status::frame_mismatch};
    if (readers[k].prediction() != prediction) lagged = false;
    prediction.inner =
        std::min(prediction.inner, readers[k].prediction().inner);  // independent of the order of the frames
    if (__builtin_add_overflow(total.addends, h.addends, &total.addends)) return {Status::invalid_count};
    total.flags |= h.flags & FrameHeader::checksummed;
  }
  total.flags &= static_cast<std::uint8_t>(~FrameHeader::stored);

  if (!lagged || !fits_lagged(total.addends)) prediction.lags = {};
  if (states.any() && !fits_lagged(total.addends)) return {Status::invalid_count};

  const std::size_t n = frames.size();
  FrameWriter sum(out, readers[0].count(), prediction, states);
  const auto add = [&](Range chunks, Records& writer) {
    const SumPipelineCounting counting;
    Operand operands[max_operands];
    const Operand* chunk[max_operands];
    for (std::size_t k = 0; k < n; ++k) {
      chunk[k] = &operands[k];
      if (!prediction.lags.any()) operands[k].follow_lags(readers[k]);
    }
    for (std::size_t i = chunks.first; i < chunks.first + chunks.count; ++i) {
      for (std::size_t k = 0; k < n; ++k)
        if (const Status s = operands[k].read(readers[k], i, kernels_); s != Status::ok) return s;
      for (std::size_t k = 0; k < n; ++k) operands[k].resolve(kernels_);
      if (!sum_chunk({chunk, n}, readers[0].chunk_count(i), total.addends, prediction.inner, writer))
        return Status::buffer_too_small;
    }
    return Status::ok;
  };
  const std::size_t parts = any_lags ? 1 : useful_threads(threads_, readers[0].chunks());
  if (const Status s = sum.write(parts, add); s != Status::ok) return {s};
  return {Status::ok, sum.finish(total)};
}

template <class T>
SizeOrStatus TypedCodec<T>::accumulate(ConstBytes in, ConstSlice slice, References references,
                                       Bytes out) const {
  FrameReader<T> frame;
  if (const Status s = frame.open(in); s != Status::ok) return {s};
  const bool alike =
      frame.holds(slice.type, slice.count) && frame.header().step == static_cast<double>(z_.step);
  if (!alike) return {Status::frame_mismatch};
  if (!names(frame, references)) return {Status::corrupt_frame};
  return with(frame.prediction(), references).accumulate(frame, static_cast<const T*>(slice.data), out);
}

template <class T>
SizeOrStatus TypedCodec<T>::accumulate(const FrameReader<T>& frame, const T* values, Bytes out) const {
  FrameHeader total = frame.header();
  if (++total.addends == 0) return {Status::invalid_count};
  total.flags &= static_cast<std::uint8_t>(~FrameHeader::stored);
  if (by_addend_ && !fits_lagged(total.addends)) return {Status::invalid_count};
  if ((lags_.any() || !references_.empty()) && fits_lagged(total.addends)) {
    bool no_residuals = false;
    const SizeOrStatus size = accumulate_residuals(frame, values, total, out, no_residuals);
    if (!no_residuals) return size;
  }

  const ReferenceIntegers<T> references(references_, frame.header(), kernels_);
  FrameWriter sum(out, frame.count(), {z_.predictor, {}});
  const auto add = [&](Range chunks, Records& writer) {
    const SumPipelineCounting counting;
    Operand operand;
    if (const Status s = operand.follow(frame, references); s != Status::ok) return s;
    unsigned width_class = 8;
    Form form = Form::simple;
    for (std::size_t i = chunks.first; i < chunks.first + chunks.count; ++i) {
      if (const Status s = operand.read(frame, i, kernels_); s != Status::ok) return s;
      operand.resolve(kernels_);
      if (!accumulate_chunk(operand, values + i * chunk_values, frame.chunk_count(i), total.addends, form,
                            width_class, writer))
        return Status::buffer_too_small;
    }
    return Status::ok;
  };
  if (const Status s = sum.write(parts_for(frame.chunks(), frame.prediction()), add); s != Status::ok)
    return {s};
  return {Status::ok, sum.finish(total)};
}

// Small integers decode to their values within the bound; greater ones may not, and are checked.
template <class T>
bool TypedCodec<T>::has_integers(ConstSlice values) const {
  const ConstSlice parts{values.components()};
  const T* const data = static_cast<const T*>(parts.data);
  if (z_.step == 0) return false;
  for (std::size_t first = 0; first < parts.count; first += chunk_values) {
    const std::size_t n = std::min(chunk_values, parts.count - first);
    if (general_.all_within(data + first, n, z_, is_half<T> ? small_bits : unchecked_bits<T>)) {
      if (may_hold_packed(data + first, n)) return false;
      continue;
    }
    alignas(64) std::int32_t q[chunk_values];
    T padded[chunk_values];
    Marks marks;
    const T* const whole = whole_groups(data + first, n, z_.predictor, padded);
    if (!general_.quantise(whole, n, z_, q, marks).complete) return false;
  }
  return true;
}

template <class T>
bool TypedCodec<T>::accumulate_planes(const Record<T>& record, const T* whole, std::size_t groups,
                                      std::uint8_t size, PlanesOut& out) const noexcept {
  const Kernels<T>& kernels = kernels_.of<T>();
  if (record.greatest > 0) {
    const auto accumulate = size == large ? kernels.accumulate_large : kernels.accumulate;
    return accumulate(record.planes(), whole, groups, z_, out);
  }
  const auto encode = size == large ? kernels.encode_large : kernels.encode;
  const bool coded = encode(whole, groups, z_, out);
  out.base = add_wrapping(out.base, static_cast<std::int32_t>(record.header.base));
  return coded;
}

// Returns false if some value has no integer. Large integers of halves may take more bytes than the values.
template <class T>
bool TypedCodec<T>::accumulate_integers(const Record<T>& record, const T* whole, std::size_t n,
                                        PlanesOut& out) const noexcept {
  if (is_half<T>) return false;
  alignas(64) std::int32_t q[chunk_values];
  Marks marks;
  if (!general_.quantise(whole, n, z_, q, marks).complete) return false;
  kernels_.ints.add(record.planes(), q, groups_of(n), {z_.predictor, {}}, out);
  return true;
}

template <class T>
bool TypedCodec<T>::accumulate_chunk(const Operand& operand, const T* values, std::size_t n,
                                     std::uint32_t addends, Form& form, unsigned& width_class,
                                     Records& writer) const {
  const Form before = form;
  const bool has_integers = z_.step != 0;  // with step 0 all values are exact values
  if (has_integers && operand.simple() && fits_narrow(operand.size_flag(), addends) &&
      !may_hold_packed(values, n)) {
    T padded[chunk_values];
    const T* const whole = whole_groups(values, n, z_.predictor, padded);
    PlanesOut planes(writer.room() + RecordHeader{}.bytes(), width_class);
    const auto accumulates = [&](std::uint8_t size) {
      return accumulate_planes(operand.record, whole, groups_of(n), size, planes);
    };
    std::uint8_t size = 0;
    bool coded = (before == Form::simple || general_.may_be_small(values, n, z_)) && accumulates(size);
    form = Form::simple;
    if (!coded && fits_narrow(large, addends)) {
      size = large;
      const bool unchecked =
          general_.may_be_unchecked(values, n, z_, before == Form::unchecked) && accumulates(size);
      form = unchecked ? Form::unchecked : Form::general;
      coded = unchecked || accumulate_integers(operand.record, whole, n, planes);
    }
    if (coded) {
      count_chunk(operand.record.greatest > 0 ? 2 : planes.bytes > 0);
      const bool fits = commit_planes(planes, operand.size_flag() | size, n, writer);
      width_class = planes.width_class;
      return fits;
    }
  }
  form = Form::general;
  return accumulate_general(operand, values, n, addends, writer);
}

// Encodes the values of the chunk as a frame of their own, so that they are quantised exactly as by `encode`,
// and adds that frame.
template <class T>
bool TypedCodec<T>::accumulate_general(const Operand& operand, const T* values, std::size_t n,
                                       std::uint32_t addends, Records& writer) const {
  if ((fits_narrow(0, addends) && general_.accumulate_certain_layer(operand.part(), values, n, z_, writer)) ||
      general_.accumulate_runs(operand.part(), values, n, addends, z_, writer)) {
    ++SumPipelineCounting::own().general;
    return true;
  }
  std::byte bytes[own_chunk_bytes];
  const unsigned width_class = operand.raw == nullptr && operand.record.greatest > 8 ? 16 : 8;
  const bool layers = operand.raw != nullptr || operand.record.layer_count > 0;
  const std::size_t size =
      encode_likely(layers ? Form::layer : Form::general, width_class, values, n, chunk_header(n), bytes);
  return add_chunk(operand, {bytes, size}, n, addends, writer);
}

template <class T>
bool TypedCodec<T>::add_chunk(const Operand& operand, ConstBytes own_frame, std::size_t n,
                              std::uint32_t addends, Records& writer) const {
  FrameReader<T> frame;
  Operand own;
  if (frame.open(own_frame) != Status::ok || own.read(frame, 0, kernels_) != Status::ok) return false;
  const Operand* const both[] = {&operand, &own};
  return sum_chunk(both, n, addends, z_.predictor, writer);
}

#define INSTANTIATE(T) template class TypedCodec<T>;
TAUT_PLANES_TYPES(INSTANTIATE)

}  // namespace taut::planes
