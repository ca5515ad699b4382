// Multiplication of frames by a number. A positive factor changes the step, the bound and the exact values;
// the planes stay. A negative factor also negates the integers: their differences, bases and holds.
#include <algorithm>
#include <cmath>
#include <vector>

#include "compressor/codecs/planes/typed_codec.hpp"

namespace taut::planes {
namespace {

bool is_power_of_two(double x) noexcept { return std::isnormal(x) && x == power_of_two_below(x); }

// Multiplies step and bound by a positive factor. Returns false if no frame has such a step or bound: the
// steps of halves, and of snapping bounds, are powers of two.
template <class T>
bool scale_header(FrameHeader& header, double factor) noexcept {
  const bool needs_power = is_half<T> || header.bound.kind == Bound::Kind::snap;
  if (needs_power && !is_power_of_two(factor)) return false;
  const double wanted = header.step * factor;
  if (header.step != 0 && !(wanted >= StepRange<T>::min && wanted <= StepRange<T>::max)) return false;
  header.step = static_cast<double>(static_cast<ComputedIn<T>>(wanted));
  header.bound.value *= factor;
  return step_fits<T>(header.step) && header.bound.value > 0 && std::isfinite(header.bound.value);
}

template <class Int>
Int negated(Int x) noexcept {  // modulo 2^n: frames may contain any integers
  return static_cast<Int>(std::make_unsigned_t<Int>{0} - static_cast<std::make_unsigned_t<Int>>(x));
}

template <class T>
T negated_value(T x) noexcept {
  using Bits = BitsOf<T>;
  return std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(x) ^ Bits{1} << (8 * sizeof(T) - 1)));
}

// Replaces each of the n values at `at`, which may be unaligned, by change(value).
template <class T, class Change>
void change_values(std::byte* at, std::size_t n, Change change) noexcept {
  for (std::size_t i = 0; i < n; ++i) store(at + i * sizeof(T), change(load<T>(at + i * sizeof(T))));
}

// Replaces each of the n runs at `at` by change(run), and sorts them again.
template <class T, class Change>
void change_runs(std::byte* at, std::size_t n, bool is_wide, Change change) {
  std::vector<Run<T>> runs(n);
  const Runs<T> before(at, n, is_wide);
  for (std::size_t i = 0; i < n; ++i) runs[i] = change(before[i]);
  std::sort(runs.begin(), runs.end());
  for (const Run<T>& run : runs) at = write_run(at, run, is_wide);
}

// Multiplication of an exact value. A value that counts as an integer under the old step counts as the same
// integer under the new step.
template <class T>
struct ScaleValue {
  double factor, step, scaled_step;
  bool by_power;

  T operator()(T x) const noexcept {
    std::int64_t q;
    if (!by_power && step != 0 && on_grid(x, step, q)) return dequantise<T>(q, scaled_step);
    return static_cast<T>(static_cast<double>(x) * factor);
  }
};

// Multiplies the exact values of a frame by a positive factor, in place.
template <class T>
Status scale_exact_values(const FrameReader<T>& frame, const KernelSet& kernels, const ScaleValue<T>& scale,
                          Bytes bytes) {
  const auto writable = [&](const std::byte* at) { return bytes.data() + (at - bytes.data()); };
  if (frame.stored()) {
    change_values<T>(writable(frame.stored_values(0)), frame.count(), scale);
    return Status::ok;
  }
  Record<T> record;
  PaddedPlanes padding;
  for (std::size_t i = 0; i < frame.chunks(); ++i) {
    if (const Status s = frame.read(i, kernels.widths, record, padding); s != Status::ok) return s;
    if (record.layer_count > 0)
      change_values<T>(writable(record.layers), record.layer_count * record.count, scale);
    if (record.run_count > 0)
      change_runs<T>(writable(record.runs), record.run_count, record.header.has(wide), [&](Run<T> run) {
        run.value = scale(run.value);
        return run;
      });
  }
  return Status::ok;
}

}  // namespace

// Writes header, planes and widths of the negated integers of a record. Returns the bytes written.
template <class T>
std::size_t TypedCodec<T>::negate_planes(const Record<T>& record, std::byte* out) const noexcept {
  const std::size_t blocks = blocks_of(record.count);
  constexpr std::uint8_t written_anew = has_planes | dense | byte_widths;
  RecordHeader header{static_cast<std::uint8_t>(record.header.flags & ~written_anew), 0,
                      negated(record.header.base)};
  PlanesOut planes(out + header.bytes());
  std::memset(planes.widths.width, 0, sizeof planes.widths.width);
  if (record.max_width > 0 && header.has(wide)) {
    const GeneralKernels& general = kernels_.general();
    alignas(64) std::int64_t d[chunk_values] = {};
    general.unpack_add({{record.payload, record.header.plane_bytes}, &record.widths, 0}, blocks,
                       Predictor::none, d);
    std::ranges::transform(d, d, negated<std::int64_t>);
    planes.bytes = general.pack(d, blocks, Predictor::none, planes.payload, planes.widths);
  } else if (record.max_width > 0) {
    alignas(64) std::int32_t d[chunk_values] = {};
    const ChunkPrediction unpredicted{Predictor::none, {}};
    kernels_.ints.unpack({record.payload, &record.widths, record.max_width, 0}, groups_of(record.count),
                         unpredicted, d);
    std::ranges::transform(d, d, negated<std::int32_t>);
    kernels_.ints.pack(d, groups_of(record.count), unpredicted, planes);
    drop_padding(planes, blocks);
  }
  header.plane_bytes = static_cast<std::uint16_t>(planes.bytes);
  return finish_planes(out, header, planes.widths, kernels_.widths.summarize(planes.widths), blocks,
                       kernels_.widths);
}

// Writes the negated chunk. A negated block may take one more plane. If the record of a frame of one addend
// would take more bytes than a raw layer, a raw layer of the decoded values is written: in sums, its values
// stand for the same integers.
template <class T>
bool TypedCodec<T>::negate_chunk(Operand& operand, const FrameReader<T>& frame,
                                 PlaneRecordWriter& writer) const {
  const Record<T>& record = operand.record;
  const bool is_wide = record.header.has(wide);
  alignas(64) std::byte planes[max_plane_record<std::int64_t>];
  const std::size_t planes_bytes = negate_planes(record, planes);
  const std::size_t runs_bytes = record.run_count > 0 ? 4 + record.run_count * run_bytes<T>(is_wide) : 0;
  const std::size_t layer_bytes = record.count * sizeof(T);
  const std::size_t layers_bytes = record.layer_count > 0 ? 4 + record.layer_count * layer_bytes : 0;
  const std::size_t used = planes_bytes + runs_bytes + layers_bytes, total = whole_words(used);
  if (frame.header().addends == 1 && !frame.prediction().lags.any() &&
      total > whole_words(layer_head_bytes + layer_bytes)) {
    T values[chunk_values];
    Quantiser<T> z;
    z.step = static_cast<ComputedIn<T>>(frame.header().step);
    z.predictor = operand.predictor;
    decode_chunk(operand, 1, z, values, record.count);
    std::ranges::transform(values, values, negated_value<T>);
    general_.write_layer_of(values, record.count, writer);
    return true;
  }
  if (total > writer.left()) return false;
  std::byte* at = writer.at();
  std::memcpy(at, planes, planes_bytes);
  at += planes_bytes;
  if (record.run_count > 0) {
    std::memcpy(at, record.runs - 4, runs_bytes);
    change_runs<T>(at + 4, record.run_count, is_wide, [=](Run<T> run) {
      run.hold = is_wide ? negated(run.hold) : negated(static_cast<std::int32_t>(run.hold));
      run.value = negated_value(run.value);
      return run;
    });
    at += runs_bytes;
  }
  if (record.layer_count > 0) {
    std::memcpy(at, record.layers - 4, layers_bytes);
    change_values<T>(at + 4, record.layer_count * record.count, negated_value<T>);
  }
  std::memset(writer.at() + used, 0, total - used);
  writer.advance(total);
  return true;
}

template <class T>
SizeOrStatus TypedCodec<T>::negate(const FrameReader<T>& frame, Bytes out) const {
  if (frame.stored()) {
    const std::size_t bytes = frame.count() * sizeof(T);
    if (out.size() < frame_header_bytes + bytes) return {Status::buffer_too_small};
    std::byte* const values = out.data() + frame_header_bytes;
    if (bytes > 0) std::memcpy(values, frame.stored_values(0), bytes);
    change_values<T>(values, frame.count(), negated_value<T>);
    return {Status::ok, seal_frame(frame.header(), out.data(), bytes)};
  }
  FrameWriter negative(out, frame.count(), frame.prediction());
  const auto write = [&](Range chunks, PlaneRecordWriter& writer) {
    Operand operand;
    for (std::size_t i = chunks.first; i < chunks.first + chunks.count; ++i) {
      if (const Status s = operand.read(frame, i, kernels_); s != Status::ok) return s;
      if (operand.record.header.flags == 0 && operand.record.header.base == 0) {
        writer.advance(0);
      } else if (!negate_chunk(operand, frame, writer)) {
        return Status::buffer_too_small;
      }
    }
    return Status::ok;
  };
  if (const Status s = negative.write(useful_threads(threads_, frame.chunks()), write); s != Status::ok)
    return {s};
  return {Status::ok, negative.finish(frame.header())};
}

template <class T>
SizeOrStatus TypedCodec<T>::scale(ConstBytes in, double factor, Bytes out) const {
  FrameReader<T> frame;
  if (const Status s = frame.open(in); s != Status::ok) return {s};
  if (frame.states().any())
    return {Status::frame_mismatch};  // the references would have to be multiplied too
  FrameHeader header = frame.header();
  const double magnitude = std::abs(factor);
  if (!scale_header<T>(header, magnitude)) return {Status::invalid_argument};

  SizeOrStatus size{Status::ok, frame_header_bytes + static_cast<std::size_t>(header.payload_bytes)};
  if (std::signbit(factor)) {
    size = negate(frame, out);
    if (size.status != Status::ok) return size;
  } else {
    if (out.size() < size.bytes) return {Status::buffer_too_small};
    std::memcpy(out.data(), in.data(), size.bytes);
  }
  if (magnitude != 1) {
    FrameReader<T> copy;
    if (const Status s = copy.open(out.first(size.bytes)); s != Status::ok) return {s};
    const ScaleValue<T> by{magnitude, frame.header().step, header.step, is_power_of_two(magnitude)};
    if (const Status s = scale_exact_values(copy, kernels_, by, out); s != Status::ok) return {s};
    header.flags = copy.header().flags;
    size.bytes = seal_frame(header, out.data(), size.bytes - frame_header_bytes);
  }
  return size;
}

#define INSTANTIATE(T) template class TypedCodec<T>;
TAUT_PLANES_TYPES(INSTANTIATE)

}  // namespace taut::planes
