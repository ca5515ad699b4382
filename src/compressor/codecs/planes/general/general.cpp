// Encoding, decoding and sums of chunks by the general path.
#include "compressor/codecs/planes/general/general.hpp"

#include "compressor/codecs/planes/record/record.hpp"

namespace taut::planes {
namespace {

// Bytes of the layers, which follow the planes of a record.
template <class T>
constexpr std::size_t layers_bytes(std::size_t layers, std::size_t n) noexcept {
  return layers == 0 ? 0 : 4 + layers * n * sizeof(T);
}

// Memory for a record's header, planes and widths: at the writer's position if the largest record fits there,
// else in `side_buffer`.
struct ChunkScratch {
  alignas(64) std::byte side_buffer[max_plane_record<std::int64_t>];
  PlaneRecordWriter& writer;

  explicit ChunkScratch(PlaneRecordWriter& to) noexcept : writer(to) {}
  std::byte* planes() noexcept { return writer.left() >= sizeof side_buffer ? writer.at() : side_buffer; }

  // Moves the `bytes` bytes of planes() to the writer's position and returns their end. Returns null if the
  // record, of `total` bytes, does not fit.
  std::byte* place(std::size_t bytes, std::size_t total) noexcept {
    if (total > writer.left()) return nullptr;
    if (planes() == side_buffer) std::memcpy(writer.at(), side_buffer, bytes);
    return writer.at() + bytes;
  }
};

std::size_t marked_values(const ChunkMask& marks) noexcept {
  std::size_t n = 0;
  for (const std::uint64_t word : marks.words) n += static_cast<std::size_t>(std::popcount(word));
  return n;
}

// Pads the n integers of a chunk to whole blocks: by the last one, with Predictor::pairs by the last two in
// turn, without a predictor by zeros.
void pad_blocks(std::int64_t* q, std::size_t n, Predictor predictor) noexcept {
  const std::size_t back = predictor_distance(predictor);
  for (std::size_t i = n; i < blocks_of(n) * block_values; ++i)
    q[i] = back == 0 ? 0 : q[i < back ? 0 : i - back];
}

// total <- total + q, modulo 2^64.
template <class Int>
void add(const Int* q, std::size_t n, std::int64_t* total) noexcept {
  for (std::size_t i = 0; i < n; ++i)
    total[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(total[i]) +
                                         static_cast<std::uint64_t>(std::int64_t{q[i]}));
}

template <class T>
std::byte* write_layers(std::span<const ChunkOperand<T>> operands, std::size_t n, std::byte* out) noexcept {
  for (const ChunkOperand<T>& operand : operands) {
    const std::byte* const from =
        operand.stored_values != nullptr ? operand.stored_values : operand.record->layers;
    const std::size_t bytes = operand.layers() * n * sizeof(T);
    if (bytes > 0) std::memcpy(out, from, bytes);
    out += bytes;
  }
  return out;
}

template <class T>
WidePlanes wide_planes(const Record<T>& r) noexcept {
  return {{r.payload, r.header.plane_bytes}, &r.widths, r.header.base};
}

// Writes zeros behind the `bytes` bytes of a record up to the next 4-byte word.
void pad_words(std::byte* record, std::size_t bytes) noexcept {
  std::memset(record + bytes, 0, whole_words(bytes) - bytes);
}

// Writes a record of one layer and nothing else; fill(out) writes the n values.
template <class T, class Fill>
void write_layer_record(std::size_t n, PlaneRecordWriter& writer, Fill fill) noexcept {
  std::byte* const record = writer.at();
  const std::size_t used = RecordHeader{}.bytes() + layers_bytes<T>(1, n);
  fill(store(write_record_header(record, {.flags = has_layers}), std::uint32_t{1}));
  pad_words(record, used);
  writer.advance(whole_words(used));
}

}  // namespace

// ---- Encoding

template <class T>
void GeneralPath<T>::write_layer_of(const T* values, std::size_t n,
                                    PlaneRecordWriter& writer) const noexcept {
  write_layer_record<T>(n, writer, [=](std::byte* out) { std::memcpy(out, values, n * sizeof(T)); });
}

// Writes a raw layer of the decoded forms of the values. Values marked in `unchanged` decode to themselves.
template <class T>
void GeneralPath<T>::write_layer(const T* values, std::size_t n, const ChunkMask& unchanged,
                                 const Quantiser<T>& z, PlaneRecordWriter& writer) const noexcept {
  write_layer_record<T>(n, writer, [&](std::byte* out) {
    for (std::size_t first = 0; first < n; first += 64) {
      const std::size_t left = std::min<std::size_t>(n - first, 64);
      const T* from = values + first;
      alignas(64) T decoded[64];
      if (z.snaps || unchanged.words[first / 64] != ~std::uint64_t{0}) {
        general_.for_type<T>().decoded_forms(from, left, z, decoded);
        from = decoded;
      }
      std::memcpy(out + first * sizeof(T), from, left * sizeof(T));
    }
  });
}

template <class T>
bool GeneralPath<T>::encode_if_surely_raw_layer(const T* values, std::size_t n, const Quantiser<T>& z,
                                                PlaneRecordWriter& writer) const {
  return write_if_surely_raw_layers(nullptr, 0, values, n, z, writer);
}

template <class T>
bool GeneralPath<T>::accumulate_if_surely_raw_layer(const ChunkOperand<T>& operand, const T* values,
                                                    std::size_t n, const Quantiser<T>& z,
                                                    PlaneRecordWriter& writer) const {
  const bool layers_alone = operand.stored_values != nullptr ||
                            (operand.record->header.flags == has_layers && operand.record->header.base == 0);
  if (z.step == 0 || !layers_alone) return false;  // with step 0 all values are exact values
  return write_if_surely_raw_layers(
      operand.stored_values != nullptr ? operand.stored_values : operand.record->layers, operand.layers(),
      values, n, z, writer);
}

template <class T>
bool GeneralPath<T>::write_if_surely_raw_layers(const std::byte* before, std::size_t layers, const T* values,
                                                std::size_t n, const Quantiser<T>& z,
                                                PlaneRecordWriter& writer) const {
  const std::size_t used = RecordHeader{}.bytes() + layers_bytes<T>(layers + 1, n);
  if (used + 3 > writer.left()) return false;
  // Values beyond this limit have no integer, not even a 64-bit one.
  const auto limit = z.step * static_cast<ComputedIn<T>>(std::int64_t{2} << value_bits<T>);
  const std::size_t max_runs = n * sizeof(T) / run_bytes<T>(false), bytes_before = layers * n * sizeof(T);
  std::byte* const record = writer.at();
  std::byte* const first =
      store(write_record_header(record, {.flags = has_layers}), static_cast<std::uint32_t>(layers + 1));
  if (general_.for_type<T>().write_forms(values, n, limit, z, first + bytes_before) <= max_runs) return false;
  if (layers > 0) std::memcpy(first, before, bytes_before);
  pad_words(record, used);
  writer.advance(whole_words(used));
  return true;
}

template <class T>
bool GeneralPath<T>::becomes_wide(const T* values, std::size_t n, const Quantiser<T>& z, std::int64_t* q,
                                  ChunkMask& marks) const noexcept {
  const std::size_t marked = marked_values(marks);
  if (sizeof(T) < 8 || marked <= wide_threshold) return false;
  if (general_.for_type<T>().quantise_wide(values, n, z, q) <= n - marked + wide_threshold) return false;
  ChunkMask left;
  general_.mark_escaped(q, n, left);
  if (z.exact_bits) mark_packed(values, n, left);
  if (marked_values(left) + wide_threshold >= marked) return false;
  marks = left;
  return true;
}

template <class T>
std::size_t GeneralPath<T>::write_wide(std::int64_t* q, std::size_t n, std::uint8_t flags,
                                       Predictor predictor, std::byte* out) const noexcept {
  pad_blocks(q, n, predictor);
  RecordHeader h{flags, 0, predictor == Predictor::none ? 0 : q[0]};
  Widths widths{};
  h.plane_bytes =
      static_cast<std::uint16_t>(general_.pack(q, blocks_of(n), predictor, out + h.bytes(), widths));
  return finish_planes(out, h, widths, kernels_.widths.summarize(widths), blocks_of(n), kernels_.widths);
}

template <class T>
std::size_t GeneralPath<T>::write_narrow(std::int32_t* q, std::size_t n, std::uint8_t flags,
                                         const ChunkPrediction& prediction, std::byte* out) const noexcept {
  pad_groups(q, n, prediction);
  RecordHeader h{flags, 0, 0};
  PlanesOut planes(out + h.bytes());
  kernels_.ints.pack(q, groups_of(n), prediction, planes);
  return finish_narrow(planes, h, n, out);
}

// Writes the sums of a record's integers and `q`, which has whole groups.
template <class T>
std::size_t GeneralPath<T>::add_narrow(const Record<T>& record, const std::int32_t* q, std::size_t n,
                                       std::uint8_t flags, Predictor predictor,
                                       std::byte* out) const noexcept {
  RecordHeader h{flags, 0, 0};
  PlanesOut planes(out + h.bytes(), record.max_width > 8 ? 16 : 8);
  const std::size_t groups = groups_of(n);
  if (record.max_width > 0) {
    kernels_.ints.add(record.planes(), q, groups, {predictor, {}}, planes);
  } else {
    kernels_.ints.pack(q, groups, {predictor, {}}, planes);
    planes.base = add_wrapping(planes.base, static_cast<std::int32_t>(record.header.base));
  }
  return finish_narrow(planes, h, n, out);
}

// Completes a record of planes that were written behind its header at `out`.
template <class T>
std::size_t GeneralPath<T>::finish_narrow(PlanesOut& planes, RecordHeader h, std::size_t n,
                                          std::byte* out) const noexcept {
  drop_padding(planes, blocks_of(n));
  h.plane_bytes = static_cast<std::uint16_t>(planes.bytes);
  h.base = planes.base;
  return finish_planes(out, h, planes.widths, kernels_.widths.summarize(planes.widths), blocks_of(n),
                       kernels_.widths);
}

template <class T>
bool GeneralPath<T>::encode(const T* values, std::size_t n, std::int32_t* q, ChunkMask& marks,
                            std::uint8_t flags, const Quantiser<T>& z, PlaneRecordWriter& writer) const {
  const std::size_t layer_bytes = whole_words(RecordHeader{}.bytes() + layers_bytes<T>(1, n));
  trim(marks, n);
  alignas(64) std::int64_t wide_q[sizeof(T) == 8 ? chunk_values : 1];
  const ChunkMask unchanged = decodes_otherwise(z) ? ChunkMask{} : marks;
  const bool is_wide = becomes_wide(values, n, z, wide_q, marks);

  alignas(8) std::byte runs[chunk_values * sizeof(T) + 64];
  const std::size_t bytes_per_run = run_bytes<T>(is_wide), max_runs = n * sizeof(T) / bytes_per_run;
  const GeneralValueKernels<T>& kernels = general_.for_type<T>();
  const std::size_t count = is_wide ? kernels.take_wide_runs(values, n, marks, max_runs, wide_q, runs)
                                    : kernels.take_runs(values, n, marks, max_runs, q, runs);
  if (count > max_runs) return write_layer(values, n, unchanged, z, writer), false;
  replace_by_decoded(runs, count, bytes_per_run, z);

  ChunkScratch scratch(writer);
  if (is_wide) flags = wide | large;
  if (count > 0) flags |= has_runs;
  std::size_t bytes;
  if (is_wide) {
    bytes = write_wide(wide_q, n, flags, z.predictor, scratch.planes());
  } else {
    bytes = write_narrow(q, n, flags, {z.predictor, {}}, scratch.planes());
  }
  const std::size_t used = bytes + (count > 0 ? 4 + count * bytes_per_run : 0), total = whole_words(used);
  if (total >= layer_bytes) return write_layer(values, n, unchanged, z, writer), false;
  std::byte* const behind = scratch.place(bytes, total);
  if (count > 0) std::memcpy(store(behind, static_cast<std::uint32_t>(count)), runs, count * bytes_per_run);
  pad_words(writer.at(), used);
  writer.advance(total);
  return true;
}

template <class T>
bool GeneralPath<T>::encode_wide_residuals(const T* values, std::size_t n, std::int64_t* q,
                                           const ChunkMask& marks, const Quantiser<T>& z,
                                           const std::int64_t* predicted, PlaneRecordWriter& writer) const {
  constexpr std::size_t bytes_per_run = run_bytes<T>(true);
  alignas(8) std::byte runs[chunk_values * sizeof(T) + 64];
  const std::size_t max_runs = n * sizeof(T) / bytes_per_run,
                    count = general_.for_type<T>().take_wide_runs(values, n, marks, max_runs, q, runs);
  if (count > max_runs) return false;
  replace_by_decoded(runs, count, bytes_per_run, z);
  for (std::size_t i = 0; i < n; ++i)
    q[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(q[i]) -
                                     static_cast<std::uint64_t>(predicted[i]));

  ChunkScratch scratch(writer);
  const std::uint8_t flags = wide | large | (count > 0 ? has_runs : 0) | writer.table_flags();
  const std::size_t bytes = write_wide(q, n, flags, z.predictor, scratch.planes()),
                    total = bytes + (count > 0 ? 4 + count * bytes_per_run : 0);
  if (total >= whole_words(RecordHeader{}.bytes() + layers_bytes<T>(1, n))) return false;
  std::byte* const behind = scratch.place(bytes, total);
  if (behind == nullptr) return false;
  if (count > 0) std::memcpy(store(behind, static_cast<std::uint32_t>(count)), runs, count * bytes_per_run);
  writer.advance(total);
  return true;
}

// ---- Decoding

template <class T>
void GeneralPath<T>::decode(const Record<T>& r, const Quantiser<T>& z, T* values) const {
  const bool one_layer = r.layer_count == 1 && r.run_count == 0 && r.max_width == 0 && r.header.base == 0;
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
  decode_planes(r, z, q, values);
  if (r.run_count + r.layer_count > 0) put_exact_values(r, q, static_cast<double>(z.step), general_, values);
}

// Computes the integers of the planes to `q`, and their products with the step to `values`.
template <class T>
void GeneralPath<T>::decode_planes(const Record<T>& r, const Quantiser<T>& z, std::int32_t* q,
                                   T* values) const {
  if (r.max_width == 0) {
    const std::int32_t base = z.predictor == Predictor::none ? 0 : r.planes().base;
    return general_.for_type<T>().repeat(base, dequantise<T>(base, z.step), r.count, q, values);
  }
  kernels_.ints.unpack(r.planes(), groups_of(r.count), {z.predictor, {}}, q);
  dequantise_all(q, r.count, z, values);
}

template <class T>
void GeneralPath<T>::dequantise_all(const std::int32_t* q, std::size_t n, const Quantiser<T>& z,
                                    T* values) const {
  if (n % group_values == 0) return kernels_.for_type<T>().dequantise_large(q, groups_of(n), z, values);
  T whole[chunk_values];
  kernels_.for_type<T>().dequantise_large(q, groups_of(n), z, whole);
  std::memcpy(values, whole, n * sizeof(T));
}

template <class T>
void GeneralPath<T>::decode_integers(const Record<T>& r, const std::int32_t* q, const Quantiser<T>& z,
                                     T* values) const {
  dequantise_all(q, r.count, z, values);
  if (r.run_count + r.layer_count > 0) put_exact_values(r, q, z.step, general_, values);
}

template <class T>
void GeneralPath<T>::decode_planes(const Record<T>& r, const Quantiser<T>& z, std::int64_t* q,
                                   T* values) const {
  const std::size_t blocks = blocks_of(r.count);
  std::fill_n(q, blocks * block_values, 0);
  general_.unpack_add(wide_planes(r), blocks, z.predictor, q);
  general_.for_type<T>().dequantise_wide(q, r.count, z, values);
}

template <class T>
void GeneralPath<T>::decode_wide(const Record<T>& r, std::int64_t* q, const Quantiser<T>& z,
                                 T* values) const {
  general_.unpack_add(wide_planes(r), blocks_of(r.count), z.predictor, q);
  general_.for_type<T>().dequantise_wide(q, r.count, z, values);
  if (r.run_count + r.layer_count > 0) put_exact_values(r, q, static_cast<double>(z.step), general_, values);
}

// ---- Sums

template <class T>
std::size_t GeneralPath<T>::sum_narrow(std::span<const ChunkOperand<T>> operands, std::size_t n,
                                       std::uint8_t flags, std::byte* out) const noexcept {
  const CodedPlanes* records[max_operands];
  std::size_t coded = 0;
  for (const ChunkOperand<T>& operand : operands)
    if (operand.stored_values == nullptr) records[coded++] = operand.record;
  RecordHeader h{flags, 0, 0};
  PlanesOut planes(out + h.bytes());
  sum_planes({records, coded}, groups_of(n), kernels_.ints, planes);
  h.base = planes.base;
  h.plane_bytes = static_cast<std::uint16_t>(planes.bytes);
  WidthSummary summary;
  if (planes.bytes > 0) summary = kernels_.widths.summarize(planes.widths);
  return finish_planes(out, h, planes.widths, summary, blocks_of(n), kernels_.widths);
}

// Sums wide records. Differences of wide records add up directly; other records are converted to 64-bit
// integers first.
template <class T>
std::size_t GeneralPath<T>::sum_wide(std::span<const ChunkOperand<T>> operands, std::size_t n,
                                     std::uint8_t flags, Predictor predictor, std::byte* out) const noexcept {
  WidePlanes in[max_operands];
  std::size_t coded = 0;
  std::uint64_t base = 0;
  bool all_wide = true;
  for (const ChunkOperand<T>& operand : operands) {
    if (operand.stored_values != nullptr) continue;
    all_wide &= operand.is_wide() || (operand.record->max_width == 0 && operand.record->header.base == 0);
    if (!operand.is_wide()) continue;
    in[coded++] = wide_planes(*operand.record);
    if (predictor != Predictor::none) base += static_cast<std::uint64_t>(operand.record->header.base);
  }
  if (!all_wide || coded == 0) return sum_integers(operands, n, flags, predictor, out);
  RecordHeader h{flags, 0, static_cast<std::int64_t>(base)};
  Widths widths{};
  h.plane_bytes = static_cast<std::uint16_t>(general_.sum(in, coded, blocks_of(n), out + h.bytes(), widths));
  return finish_planes(out, h, widths, kernels_.widths.summarize(widths), blocks_of(n), kernels_.widths);
}

// Sums by adding integers instead of differences: for chunks of different integer types or predictions.
template <class T>
std::size_t GeneralPath<T>::sum_integers(std::span<const ChunkOperand<T>> operands, std::size_t n,
                                         std::uint8_t flags, Predictor predictor,
                                         std::byte* out) const noexcept {
  alignas(64) std::int64_t q[chunk_values] = {};
  for (const ChunkOperand<T>& operand : operands) {
    if (operand.stored_values != nullptr) continue;
    if (operand.integers != nullptr) {
      add(operand.integers, n, q);
    } else if (operand.is_wide()) {
      if (operand.predicted != nullptr) add(operand.predicted, n, q);
      general_.unpack_add(wide_planes(*operand.record), blocks_of(n), operand.predictor, q);
    } else if (operand.record->max_width > 0 || operand.record->header.base != 0) {
      alignas(64) std::int32_t narrow[chunk_values];
      kernels_.ints.unpack(operand.record->planes(), groups_of(n), {operand.predictor, {}}, narrow);
      add(narrow, n, q);
    }
  }
  if ((flags & wide) != 0) return write_wide(q, n, flags, predictor, out);
  alignas(64) std::int32_t narrow[chunk_values];
  for (std::size_t i = 0; i < n; ++i) narrow[i] = static_cast<std::int32_t>(q[i]);
  return write_narrow(narrow, n, flags, {predictor, {}}, out);
}

template <class T>
bool GeneralPath<T>::sum(std::span<const ChunkOperand<T>> operands, std::size_t n, std::uint32_t addends,
                         Predictor predictor, PlaneRecordWriter& writer) const {
  std::uint8_t flags = 0;
  std::size_t runs = 0, layers = 0;
  for (const ChunkOperand<T>& operand : operands) {
    flags |= operand.stored_values != nullptr ? 0 : operand.record->header.flags & (wide | large);
    runs += operand.runs();
    layers += operand.layers();
  }
  if (!fits_narrow(flags, addends)) flags |= wide;
  flags |= static_cast<std::uint8_t>((runs > 0 ? has_runs : 0) | (layers > 0 ? has_layers : 0) |
                                     writer.table_flags());
  const bool is_wide = (flags & wide) != 0;

  ChunkScratch scratch(writer);
  const bool alike = std::ranges::all_of(operands, [&](const ChunkOperand<T>& operand) {
    return operand.stored_values != nullptr || operand.has_differences_of(predictor);
  });
  const std::size_t bytes = !alike    ? sum_integers(operands, n, flags, predictor, scratch.planes())
                            : is_wide ? sum_wide(operands, n, flags, predictor, scratch.planes())
                                      : sum_narrow(operands, n, flags, scratch.planes());
  const std::size_t used =
      bytes + (runs > 0 ? 4 + runs * run_bytes<T>(is_wide) : 0) + layers_bytes<T>(layers, n);
  const std::size_t total = whole_words(used);
  std::byte* out = scratch.place(bytes, total);
  if (out == nullptr) return false;
  if (runs > 0) out = merge_runs(operands, is_wide, store(out, static_cast<std::uint32_t>(runs)));
  if (layers > 0) write_layers(operands, n, store(out, static_cast<std::uint32_t>(layers)));
  pad_words(writer.at(), used);
  writer.advance(total);
  return true;
}

// Adds the integers of the values to the planes of the record, and merges the runs. This is faster than
// encoding the values into a record of their own and adding the two records. Halves, and doubles with many
// exact values, are left out: their own record may have another form (of doubles: 64-bit integers).
template <class T>
bool GeneralPath<T>::accumulate_runs(const ChunkOperand<T>& operand, const T* values, std::size_t n,
                                     std::uint32_t addends, const Quantiser<T>& z,
                                     PlaneRecordWriter& writer) const {
  const bool served = !is_half<T> && z.step != 0 && !z.exact_bits && operand.layers() == 0 &&
                      !operand.is_wide() && operand.has_differences_of(z.predictor);
  if (!served) return false;
  T padded[chunk_values];
  alignas(64) std::int32_t q[chunk_values];
  ChunkMask marks;
  const QuantisedChunk found = quantise(whole_groups(values, n, z.predictor, padded), n, z, q, marks);
  if (found.all_have_integers) return false;  // encode_chunk() has kernels for such chunks
  trim(marks, n);
  const Record<T>& record = *operand.record;
  const std::uint8_t range = found.all_small ? 0 : large;
  std::uint8_t flags = (record.header.flags & large) | range;
  const std::size_t plane_bytes = max_plane_bytes(n, range), layer_bytes = n * sizeof(T);
  if (!fits_narrow(flags, addends) || plane_bytes >= layer_bytes) return false;
  if (sizeof(T) == 8 && marked_values(marks) > wide_threshold) return false;

  constexpr std::size_t bytes_per_run = run_bytes<T>(false);
  alignas(8) std::byte runs[chunk_values * sizeof(T) + 64];
  const std::size_t max_runs = (layer_bytes - plane_bytes) / bytes_per_run;
  Record<T> own;
  own.header = {has_runs, 0, 0};
  own.runs = runs;
  own.run_count = general_.for_type<T>().take_runs(values, n, marks, max_runs, q, runs);
  if (own.run_count > max_runs) return false;
  replace_by_decoded(runs, own.run_count, bytes_per_run, z);
  pad_groups(q, n, {z.predictor, {}});

  const std::size_t all_runs = record.run_count + own.run_count;
  if (all_runs > 0) flags |= has_runs;
  ChunkScratch scratch(writer);
  const std::size_t bytes = add_narrow(record, q, n, flags, z.predictor, scratch.planes());
  const std::size_t used = bytes + (all_runs > 0 ? 4 + all_runs * bytes_per_run : 0),
                    total = whole_words(used);
  std::byte* const out = scratch.place(bytes, total);
  if (out == nullptr) return false;
  const ChunkOperand<T> both[] = {operand, {&own, z.predictor, nullptr, nullptr, nullptr}};
  if (all_runs > 0) merge_runs<T>(both, false, store(out, static_cast<std::uint32_t>(all_runs)));
  pad_words(writer.at(), used);
  writer.advance(total);
  return true;
}

#define INSTANTIATE(T) template class GeneralPath<T>;
TAUT_PLANES_TYPES(INSTANTIATE)

}  // namespace taut::planes
