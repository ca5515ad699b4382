#include "codecs/planes/general.hpp"

#include "codecs/planes/exact_values.hpp"

namespace taut::planes {
namespace {

// More values than this beyond the large range, and a float64 chunk becomes wide.
constexpr std::size_t tolerated_escapes = 64;

// What follows the planes of a record.
template <class T>
constexpr std::size_t layers_bytes(std::size_t layers, std::size_t n) noexcept {
  return layers == 0 ? 0 : 4 + layers * n * sizeof(T);
}

// Memory for a record's header, planes and widths: in place where any of them would fit, else aside.
struct Workbench {
  alignas(64) std::byte aside[max_plane_record<std::int64_t>];
  FrameWriter& writer;

  explicit Workbench(FrameWriter& to) noexcept : writer(to) {}
  std::byte* planes() noexcept { return writer.left() >= sizeof aside ? writer.at() : aside; }

  // Takes over `bytes` of planes for a record of `total` bytes; null when that does not fit.
  std::byte* place(std::size_t bytes, std::size_t total) noexcept {
    if (total > writer.left()) return nullptr;
    if (planes() == aside) std::memcpy(writer.at(), aside, bytes);
    return writer.at() + bytes;
  }
};

std::size_t escaped_values(const Marks& marks) noexcept {
  std::size_t n = 0;
  for (const std::uint64_t word : marks.of) n += static_cast<std::size_t>(std::popcount(word));
  return n;
}

// The first marked place from `i` on, in the chunk or behind it.
std::size_t next_marked(const Marks& marks, std::size_t i) noexcept {
  for (std::size_t w = i / 64; w < std::size(marks.of); ++w) {
    const std::uint64_t bits = w == i / 64 ? marks.of[w] >> (i % 64) << (i % 64) : marks.of[w];
    if (bits != 0) return 64 * w + static_cast<std::size_t>(std::countr_zero(bits));
  }
  return chunk_values;
}

// Cuts the marked places into runs of one value: calls visit(start, end) for each until that says false.
template <class Visit>
bool cut_into_runs(const Marks& marks, const Marks& repeats, std::size_t n, Visit visit) noexcept {
  Marks stops;  // where a run begins, or none continues
  std::uint64_t before = 0;
  for (std::size_t w = 0; w < std::size(marks.of); ++w) {
    const std::uint64_t follows = marks.of[w] << 1 | before >> 63;
    stops.of[w] = ~(marks.of[w] & follows & repeats.of[w]);
    before = marks.of[w];
  }
  for (std::size_t i = next_marked(marks, 0); i < n;) {
    const std::size_t end = std::min(n, next_marked(stops, i + 1));
    if (!visit(i, end)) return false;
    i = next_marked(marks, end);
  }
  return true;
}

// Writes the runs of the escaped values, and gives these the integer before as theirs. Returns the runs'
// number; more than `most` are not written and leave `q` unusable.
template <class T, class Int>
std::size_t take_runs(const T* values, std::size_t n, const Marks& marks, const GeneralKernels& kernels,
                      std::size_t most, Int* q, std::byte* out) noexcept {
  Marks repeats;
  kernels.of<T>().mark_repeats(values, n, repeats);
  std::size_t runs = 0;
  cut_into_runs(marks, repeats, n, [&](std::size_t start, std::size_t end) {
    if (++runs > most) return false;
    const Int hold = start == 0 ? 0 : q[start - 1];
    std::fill(q + start, q + end, hold);
    const auto place = static_cast<std::uint32_t>(start << 16 | (end - start));
    out = write_run(out, Run<T>{place, hold, values[start]}, sizeof(Int) == 8);
    return true;
  });
  return runs;
}

// So that no difference arises behind the chunk's n values.
template <class Int>
void complete(Int* q, std::size_t n, std::size_t unit, Predictor predictor) noexcept {
  std::fill(q + n, q + (n + unit - 1) / unit * unit, predictor == Predictor::delta ? q[n - 1] : 0);
}

std::uint8_t size_flag(const std::int32_t* q, std::size_t n) noexcept {
  std::int32_t seen = 0;
  for (std::size_t i = 0; i < n; ++i) seen |= q[i] ^ (q[i] >> 31);
  return seen >> small_bits == 0 ? 0 : large;
}

// Merges the runs of up to max_operands records in their order; returns where they end.
template <class T>
std::byte* merge_runs(std::span<const Part<T>> parts, bool is_wide, std::byte* out) noexcept {
  struct Source {
    Runs<T> runs;
    std::size_t next;
    Run<T> run;
  };
  Source sources[max_operands];
  std::size_t n = 0;
  for (const Part<T>& part : parts) {
    if (part.raw != nullptr || part.record->run_count == 0) continue;
    const Runs<T> runs = part.record->run_list();
    sources[n++] = {runs, 1, runs[0]};
  }
  while (n > 0) {
    Source* first = sources;
    for (std::size_t k = 1; k < n; ++k)
      if (sources[k].run < first->run) first = sources + k;
    out = write_run(out, first->run, is_wide);
    if (first->next < first->runs.size()) {
      first->run = first->runs[first->next++];
    } else {
      *first = sources[--n];
    }
  }
  return out;
}

template <class T>
std::byte* write_layers(std::span<const Part<T>> parts, std::size_t n, std::byte* out) noexcept {
  for (const Part<T>& part : parts) {
    const std::byte* const from = part.raw != nullptr ? part.raw : part.record->layers;
    const std::size_t bytes = (part.raw != nullptr ? 1 : part.record->layer_count) * n * sizeof(T);
    if (bytes > 0) std::memcpy(out, from, bytes);
    out += bytes;
  }
  return out;
}

// A record of one layer and nothing else.
template <class T>
void write_layer(const T* values, std::size_t n, FrameWriter& writer) noexcept {
  std::byte* out = write_record_header(writer.at(), {.flags = has_layers});
  out = store(out, std::uint32_t{1});
  std::memcpy(out, values, n * sizeof(T));
  writer.advance(RecordHeader{}.bytes() + layers_bytes<T>(1, n));
}

}  // namespace

// ---- Encoding
// -----------------------------------------------------------------------------------------------------

template <class T>
bool GeneralPath<T>::wants_wide(const T* values, std::size_t n, std::size_t coded, const Quantiser<T>& z,
                                std::int64_t* q) const noexcept {
  return sizeof(T) == 8 && n - coded > tolerated_escapes &&
         general_.of<T>().quantise_wide(values, n, z, q) > coded + tolerated_escapes;
}

template <class T>
std::size_t GeneralPath<T>::pack_wide(std::int64_t* q, std::size_t n, std::uint8_t flags, Predictor predictor,
                                      std::byte* out) const noexcept {
  complete(q, n, block_values, predictor);
  RecordHeader h{flags, 0, predictor == Predictor::delta ? q[0] : 0};
  Widths widths;
  h.plane_bytes =
      static_cast<std::uint16_t>(general_.pack(q, blocks_of(n), predictor, out + h.bytes(), widths));
  return finish_planes(out, h, widths, blocks_of(n), kernels_.widths);
}

template <class T>
bool GeneralPath<T>::encode(const T* values, std::size_t n, std::int32_t* q, const Quantiser<T>& z,
                            unsigned& width_class, FrameWriter& writer) const {
  const std::size_t layer_bytes = RecordHeader{}.bytes() + layers_bytes<T>(1, n);
  Marks marks;
  general_.mark_narrow(q, n, marks);
  alignas(64) std::int64_t wide_q[sizeof(T) == 8 ? chunk_values : 1];
  const bool is_wide = wants_wide(values, n, n - escaped_values(marks), z, wide_q);
  if (is_wide) general_.mark_wide(wide_q, n, marks);

  alignas(8) std::byte runs[chunk_values * sizeof(T) + 64];
  const std::size_t each = run_bytes<T>(is_wide), most = n * sizeof(T) / each;
  const std::size_t count = is_wide ? take_runs(values, n, marks, general_, most, wide_q, runs)
                                    : take_runs(values, n, marks, general_, most, q, runs);
  if (count > most) return write_layer(values, n, writer), false;

  Workbench bench(writer);
  const std::uint8_t flags = count > 0 ? has_runs : 0;
  std::size_t bytes;
  if (is_wide) {
    bytes = pack_wide(wide_q, n, flags | wide | large, z.predictor, bench.planes());
  } else {
    complete(q, n, group_values, z.predictor);
    RecordHeader h{static_cast<std::uint8_t>(flags | size_flag(q, n)), 0, 0};
    PlanesOut planes{.payload = bench.planes() + h.bytes(), .width_class = width_class, .widths = {}};
    kernels_.ints.pack(q, groups_of(n), z.predictor, planes);
    width_class = planes.width_class;
    h.plane_bytes = static_cast<std::uint16_t>(planes.bytes);
    h.base = planes.base;
    bytes = finish_planes(bench.planes(), h, planes.widths, blocks_of(n), kernels_.widths);
  }
  const std::size_t total = bytes + (count > 0 ? 4 + count * each : 0);
  if (total >= layer_bytes) return write_layer(values, n, writer), false;
  std::byte* const behind = bench.place(bytes, total);
  if (count > 0) std::memcpy(store(behind, static_cast<std::uint32_t>(count)), runs, count * each);
  return writer.advance(total);
}

// ---- Decoding
// -----------------------------------------------------------------------------------------------------

template <class T>
void GeneralPath<T>::decode(const Record<T>& r, const Quantiser<T>& z, T* values) const {
  const bool one_layer = r.layer_count == 1 && r.run_count == 0 && r.greatest == 0 && r.header.base == 0;
  if (one_layer) {
    std::memcpy(values, r.layers, r.count * sizeof(T));
  } else if (r.header.has(wide)) {
    decode_as<std::int64_t>(r, z, values);
  } else {
    decode_as<std::int32_t>(r, z, values);
  }
}

template <class T>
template <class Int>
void GeneralPath<T>::decode_as(const Record<T>& r, const Quantiser<T>& z, T* values) const {
  alignas(64) Int q[chunk_values];
  integers(r, z, q, values);
  if (r.run_count + r.layer_count > 0) put_exact_values(r, q, z.step, general_, values);
}

// The integers of the planes, and their products with the step.
template <class T>
void GeneralPath<T>::integers(const Record<T>& r, const Quantiser<T>& z, std::int32_t* q, T* values) const {
  if (r.greatest == 0) {
    const std::int32_t base = z.predictor == Predictor::delta ? r.planes().base : 0;
    std::fill_n(q, r.count, base);
    std::fill_n(values, r.count, dequantise(base, z.step));
    return;
  }
  kernels_.ints.unpack(r.planes(), groups_of(r.count), z.predictor, q);
  if (r.count % group_values == 0) return kernels_.of<T>().dequantise_large(q, groups_of(r.count), z, values);
  T whole[chunk_values];
  kernels_.of<T>().dequantise_large(q, groups_of(r.count), z, whole);
  std::memcpy(values, whole, r.count * sizeof(T));
}

template <class T>
void GeneralPath<T>::integers(const Record<T>& r, const Quantiser<T>& z, std::int64_t* q, T* values) const {
  const std::size_t blocks = blocks_of(r.count);
  std::fill_n(q, blocks * block_values, 0);
  general_.unpack_add({r.payload, r.header.plane_bytes}, r.widths, r.header.base, blocks, z.predictor, q);
  general_.of<T>().dequantise_wide(q, r.count, z, values);
}

// ---- Sums
// ---------------------------------------------------------------------------------------------------------

template <class T>
std::size_t GeneralPath<T>::sum_narrow(std::span<const Part<T>> parts, std::size_t n, std::uint8_t flags,
                                       Predictor predictor, std::byte* out) const noexcept {
  PlanesIn in[max_operands];
  std::size_t coded = 0;
  std::uint32_t base = 0;
  for (const Part<T>& part : parts) {
    if (part.raw != nullptr) continue;
    const PlanesIn planes = part.record->planes();
    if (predictor == Predictor::delta) base += static_cast<std::uint32_t>(planes.base);
    if (planes.greatest > 0) in[coded++] = planes;
  }
  RecordHeader h{flags, 0, static_cast<std::int32_t>(base)};
  PlanesOut planes{.payload = out + h.bytes(), .widths = {}};
  if (coded > 0) kernels_.ints.sum(in, coded, groups_of(n), planes);
  h.plane_bytes = static_cast<std::uint16_t>(planes.bytes);
  return finish_planes(out, h, planes.widths, blocks_of(n), kernels_.widths);
}

template <class T>
std::size_t GeneralPath<T>::sum_wide(std::span<const Part<T>> parts, std::size_t n, std::uint8_t flags,
                                     Predictor predictor, std::byte* out) const noexcept {
  alignas(64) std::int64_t q[chunk_values] = {};
  for (const Part<T>& part : parts) {
    if (part.raw != nullptr) continue;
    const Record<T>& r = *part.record;
    if (r.header.has(wide)) {
      const ConstBytes planes(r.payload, r.header.plane_bytes);
      general_.unpack_add(planes, r.widths, r.header.base, blocks_of(n), predictor, q);
    } else if (r.greatest > 0 || r.header.base != 0) {
      alignas(64) std::int32_t narrow[chunk_values];
      kernels_.ints.unpack(r.planes(), groups_of(n), predictor, narrow);
      for (std::size_t i = 0; i < n; ++i)
        q[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(q[i]) +
                                         static_cast<std::uint64_t>(std::int64_t{narrow[i]}));
    }
  }
  return pack_wide(q, n, flags, predictor, out);
}

template <class T>
bool GeneralPath<T>::sum(std::span<const Part<T>> parts, std::size_t n, std::uint32_t addends,
                         Predictor predictor, FrameWriter& writer) const {
  std::uint8_t flags = 0;
  std::size_t runs = 0, layers = 0;
  for (const Part<T>& part : parts) {
    flags |= part.raw != nullptr ? 0 : part.record->header.flags & (wide | large);
    runs += part.raw != nullptr ? 0 : part.record->run_count;
    layers += part.raw != nullptr ? 1 : part.record->layer_count;
  }
  if (!fits_narrow(flags, addends)) flags |= wide;
  flags |= static_cast<std::uint8_t>((runs > 0 ? has_runs : 0) | (layers > 0 ? has_layers : 0));
  const bool is_wide = (flags & wide) != 0;

  Workbench bench(writer);
  const std::size_t bytes = is_wide ? sum_wide(parts, n, flags, predictor, bench.planes())
                                    : sum_narrow(parts, n, flags, predictor, bench.planes());
  const std::size_t total =
      bytes + (runs > 0 ? 4 + runs * run_bytes<T>(is_wide) : 0) + layers_bytes<T>(layers, n);
  std::byte* out = bench.place(bytes, total);
  if (out == nullptr) return false;
  if (runs > 0) out = merge_runs(parts, is_wide, store(out, static_cast<std::uint32_t>(runs)));
  if (layers > 0) write_layers(parts, n, store(out, static_cast<std::uint32_t>(layers)));
  return writer.advance(total);
}

template class GeneralPath<float>;
template class GeneralPath<double>;

}  // namespace taut::planes
