// Sums of frames, and of a frame and values.
#include "compressor/codecs/planes/typed_codec.hpp"
#include "compressor/frame/sum_pipelines.hpp"

namespace taut::planes {
namespace {

// Counts a chunk of a sum in SumPipelines. `not_constant`: number of operands with differences other than 0.
void count_chunk(std::size_t not_constant) noexcept {
  SumPipelines& counts = SumPipelineCounting::own();
  ++(not_constant == 0 ? counts.constant : not_constant == 1 ? counts.copied : counts.added);
}

}  // namespace

// Wide records are predicted from other integers of the references than narrow ones.
template <class T>
bool TypedCodec<T>::alike_in_width(std::span<const Operand> operands) noexcept {
  return std::ranges::all_of(operands, [&](const Operand& o) {
    return o.record.header.has(wide) == operands[0].record.header.has(wide);
  });
}

template <class T>
bool TypedCodec<T>::sum_chunk(std::span<const Operand* const> operands, std::size_t n, std::uint32_t addends,
                              Predictor predictor, PlaneRecordWriter& writer) const {
  std::uint8_t flags = 0;
  bool only_narrow_integers = true;
  for (const Operand* o : operands) {
    only_narrow_integers &= o->only_narrow_integers() && o->predictor == predictor;
    flags |= o->range_flag();
  }
  if (only_narrow_integers && fits_narrow(flags, addends)) {
    const CodedPlanes* records[max_operands];
    std::size_t not_constant = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      records[k] = &operands[k]->record;
      not_constant += records[k]->max_width > 0;
    }
    count_chunk(not_constant);
    PlanesOut planes(writer.room() + RecordHeader{}.bytes());
    sum_planes({records, operands.size()}, groups_of(n), kernels_.ints, planes);
    return commit_planes(planes, flags, n, writer);
  }
  ++SumPipelineCounting::own().general;
  ChunkOperand<T> chunk_operands[max_operands];
  for (std::size_t k = 0; k < operands.size(); ++k) chunk_operands[k] = operands[k]->chunk_operand();
  return general_.sum({chunk_operands, operands.size()}, n, addends, predictor, writer);
}

template <class T>
SizeOrStatus TypedCodec<T>::sum(std::span<const ConstBytes> frames, Bytes out) const {
  if (frames.empty() || frames.size() > max_operands) return {Status::invalid_argument};
  // Headers: they have to be alike; the sum takes what they share.
  FrameReader<T> readers[max_operands];
  FrameHeader total;
  Prediction prediction;
  StateNumbers states;
  bool same_prediction = true, any_lags = false;
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
    if (readers[k].prediction() != prediction) same_prediction = false;
    prediction.inner =
        std::min(prediction.inner, readers[k].prediction().inner);  // independent of the order of the frames
    if (__builtin_add_overflow(total.addends, h.addends, &total.addends)) return {Status::invalid_count};
    total.flags |= h.flags & FrameHeader::checksummed;
  }
  total.flags &= static_cast<std::uint8_t>(~FrameHeader::stored);

  if (!same_prediction || !may_have_lags(total.addends)) prediction.lags = {};
  if (states.any() && !may_have_lags(total.addends)) return {Status::invalid_count};

  // Chunks: their records are added.
  const std::size_t n = frames.size();
  FrameWriter sum(out, readers[0].count(), prediction, states);
  const auto add = [&](Range chunks, PlaneRecordWriter& writer) {
    const SumPipelineCounting counting;
    Operand operands[max_operands];
    const Operand* chunk[max_operands];
    for (std::size_t k = 0; k < n; ++k) {
      chunk[k] = &operands[k];
      if (!prediction.lags.any()) operands[k].prepare_lags(readers[k]);
    }
    for (std::size_t i = chunks.first; i < chunks.first + chunks.count; ++i) {
      for (std::size_t k = 0; k < n; ++k)
        if (const Status s = operands[k].read(readers[k], i, kernels_); s != Status::ok) return s;
      if (states.any() && !prediction.by_addend && !alike_in_width({operands, n}))
        return Status::frame_mismatch;
      for (std::size_t k = 0; k < n; ++k) operands[k].compute_integers(kernels_);
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
      frame.holds(slice.type, slice.count) && frame.header().step == static_cast<double>(quantiser_.step);
  if (!alike) return {Status::frame_mismatch};
  if (!references_match(frame, references)) return {Status::corrupt_frame};
  return with(frame.prediction(), references).accumulate(frame, static_cast<const T*>(slice.data), out);
}

template <class T>
SizeOrStatus TypedCodec<T>::accumulate(const FrameReader<T>& frame, const T* values, Bytes out) const {
  FrameHeader total = frame.header();
  if (++total.addends == 0) return {Status::invalid_count};
  total.flags &= static_cast<std::uint8_t>(~FrameHeader::stored);
  if (by_addend_ && !may_have_lags(total.addends)) return {Status::invalid_count};
  if ((lags_.any() || !references_.empty()) && may_have_lags(total.addends)) {
    bool needs_full_integers = false;
    const SizeOrStatus size = accumulate_residuals(frame, values, total, out, needs_full_integers);
    if (!needs_full_integers) return size;
  }

  const ReferenceIntegers<T> references(references_, frame.header(), kernels_);
  FrameWriter sum(out, frame.count(), {quantiser_.predictor, {}});
  const auto add = [&](Range chunks, PlaneRecordWriter& writer) {
    const SumPipelineCounting counting;
    Operand operand;
    if (const Status s = operand.prepare(frame, references); s != Status::ok) return s;
    unsigned width_class = 8;
    CodingPath path = CodingPath::small_kernel;
    for (std::size_t i = chunks.first; i < chunks.first + chunks.count; ++i) {
      if (const Status s = operand.read(frame, i, kernels_); s != Status::ok) return s;
      operand.compute_integers(kernels_);
      if (!accumulate_chunk(operand, values + i * chunk_values, frame.chunk_count(i), total.addends, path,
                            width_class, writer))
        return Status::buffer_too_small;
    }
    return Status::ok;
  };
  if (const Status s = sum.write(parts_for(frame.chunks(), frame.prediction()), add); s != Status::ok)
    return {s};
  return {Status::ok, sum.finish(total)};
}

// Integers of up to unchecked_bits decode within the bound; values with greater integers are compared with
// it.
template <class T>
bool TypedCodec<T>::has_integers(ConstSlice values) const {
  const ConstSlice components{values.components()};
  const T* const data = static_cast<const T*>(components.data);
  if (quantiser_.step == 0) return false;
  for (std::size_t first = 0; first < components.count; first += chunk_values) {
    const std::size_t n = std::min(chunk_values, components.count - first);
    if (general_.all_within(data + first, n, quantiser_, is_half<T> ? small_bits : unchecked_bits<T>)) {
      if (may_hold_packed(data + first, n)) return false;
      continue;
    }
    alignas(64) std::int32_t q[chunk_values];
    T padded[chunk_values];
    ChunkMask marks;
    const T* const whole = whole_groups(data + first, n, quantiser_.predictor, padded);
    if (!general_.quantise(whole, n, quantiser_, q, marks).all_have_integers) return false;
  }
  return true;
}

template <class T>
bool TypedCodec<T>::accumulate_planes(const Record<T>& record, const T* whole, std::size_t groups,
                                      std::uint8_t range, PlanesOut& out) const noexcept {
  const Kernels<T>& kernels = kernels_.for_type<T>();
  if (record.max_width > 0) {
    const auto accumulate = range == large ? kernels.accumulate_large : kernels.accumulate;
    return accumulate(record.planes(), whole, groups, quantiser_, out);
  }
  const auto encode = range == large ? kernels.encode_large : kernels.encode;
  const bool coded = encode(whole, groups, quantiser_, out);
  out.base = add_wrapping(out.base, static_cast<std::int32_t>(record.header.base));
  return coded;
}

// Halves are not served, because their large integers may take more bytes than the values.
template <class T>
bool TypedCodec<T>::accumulate_integers(const Record<T>& record, const T* whole, std::size_t n,
                                        PlanesOut& out) const noexcept {
  if (is_half<T>) return false;
  alignas(64) std::int32_t q[chunk_values];
  ChunkMask marks;
  if (!general_.quantise(whole, n, quantiser_, q, marks).all_have_integers) return false;
  kernels_.ints.add(record.planes(), q, groups_of(n), {quantiser_.predictor, {}}, out);
  return true;
}

template <class T>
bool TypedCodec<T>::accumulate_chunk(const Operand& operand, const T* values, std::size_t n,
                                     std::uint32_t addends, CodingPath& path, unsigned& width_class,
                                     PlaneRecordWriter& writer) const {
  const CodingPath previous = path;
  const bool has_integers = quantiser_.step != 0;  // with step 0 all values are exact values
  if (has_integers && operand.only_narrow_integers() && fits_narrow(operand.range_flag(), addends) &&
      !may_hold_packed(values, n)) {
    T padded[chunk_values];
    const T* const whole = whole_groups(values, n, quantiser_.predictor, padded);
    PlanesOut planes(writer.room() + RecordHeader{}.bytes(), width_class);
    const auto accumulates = [&](std::uint8_t range) {
      return accumulate_planes(operand.record, whole, groups_of(n), range, planes);
    };
    std::uint8_t range = 0;
    bool coded =
        (previous == CodingPath::small_kernel || general_.may_fit_small_kernel(values, n, quantiser_)) &&
        accumulates(range);
    path = CodingPath::small_kernel;
    if (!coded && fits_narrow(large, addends)) {
      range = large;
      const bool by_large_kernel =
          general_.may_fit_large_kernel(values, n, quantiser_, previous == CodingPath::large_kernel) &&
          accumulates(range);
      path = by_large_kernel ? CodingPath::large_kernel : CodingPath::general;
      coded = by_large_kernel || accumulate_integers(operand.record, whole, n, planes);
    }
    if (coded) {
      count_chunk(operand.record.max_width > 0 ? 2 : planes.bytes > 0);
      const bool fits = commit_planes(planes, operand.range_flag() | range, n, writer);
      width_class = planes.width_class;
      return fits;
    }
  }
  path = CodingPath::general;
  return accumulate_general(operand, values, n, addends, writer);
}

// Encodes the values of the chunk as a frame of their own, so that they are quantised exactly as by `encode`,
// and adds that frame.
template <class T>
bool TypedCodec<T>::accumulate_general(const Operand& operand, const T* values, std::size_t n,
                                       std::uint32_t addends, PlaneRecordWriter& writer) const {
  if ((fits_narrow(0, addends) &&
       general_.accumulate_if_surely_raw_layer(operand.chunk_operand(), values, n, quantiser_, writer)) ||
      general_.accumulate_runs(operand.chunk_operand(), values, n, addends, quantiser_, writer)) {
    ++SumPipelineCounting::own().general;
    return true;
  }
  std::byte bytes[own_chunk_bytes];
  const unsigned width_class = operand.stored_values == nullptr && operand.record.max_width > 8 ? 16 : 8;
  const bool is_raw = operand.stored_values != nullptr || operand.record.layer_count > 0;
  const std::size_t size = encode_without_residuals(is_raw ? CodingPath::raw_layer : CodingPath::general,
                                                    width_class, values, n, chunk_header(n), bytes);
  return add_chunk(operand, {bytes, size}, n, addends, writer);
}

template <class T>
bool TypedCodec<T>::add_chunk(const Operand& operand, ConstBytes own_frame, std::size_t n,
                              std::uint32_t addends, PlaneRecordWriter& writer) const {
  FrameReader<T> frame;
  Operand own;
  if (frame.open(own_frame) != Status::ok || own.read(frame, 0, kernels_) != Status::ok) return false;
  const Operand* const both[] = {&operand, &own};
  return sum_chunk(both, n, addends, quantiser_.predictor, writer);
}

#define INSTANTIATE(T) template class TypedCodec<T>;
TAUT_PLANES_TYPES(INSTANTIATE)

}  // namespace taut::planes
