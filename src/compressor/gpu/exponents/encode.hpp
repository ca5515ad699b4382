// Encodes values to records: a thread block processes a chunk. Writes the same bytes as codecs/exponents,
// whose format.hpp defines symbols, books and escapes.
#pragma once

#include "compressor/gpu/exponents/books.hpp"
#include "compressor/gpu/simt/sink.hpp"

namespace taut::exponents::cuda {

struct EncodeJob {
  const std::uint16_t* values;
  std::uint64_t count;
  const Books* books;  // for each chunks_sharing_books chunks
  Sink sink;
};

struct EncodeShared {
  ThreadGroupShared group;
  Books books;
  alignas(16) std::uint8_t record[chunk_bytes];
  alignas(8) std::uint8_t escapes[chunk_values];  // codes of the second book
  std::uint64_t record_at;
  std::uint32_t chunk;
};

// Numbers of values with a property, among those of the threads before a thread, or of the chunk.
struct Counts {
  std::uint32_t escapes;   // symbols that the first book lacks
  std::uint32_t raw;       // symbols that the second book lacks too
  std::uint32_t nonzero;   // symbols other than 0
  std::uint32_t denormal;  // values with symbol 0 other than +0

  // Returns the four numbers of 16 bits that `packed` holds.
  TAUT_DEVICE static Counts unpacked(std::uint64_t packed) {
    const auto low = static_cast<std::uint32_t>(packed), high = static_cast<std::uint32_t>(packed >> 32);
    return {low & 0xFFFF, low >> 16, high & 0xFFFF, high >> 16};
  }
};

template <class T, class Simt>
class ChunkEncoder {
 public:
  TAUT_DEVICE ChunkEncoder(const Simt& simt, EncodeShared& shared, const EncodeJob& job)
      : group_(simt, shared.group), shared_(shared), job_(job) {}

  TAUT_DEVICE void run() {
    const Simt& simt = group_.simt();
    const std::uint32_t chunk = take_chunk(simt, job_.sink, shared_.chunk);
    if (!has_chunk(simt, job_.sink, chunk)) return;
    n_ = values_of(job_.count, chunk);
    padded_ = static_cast<std::uint32_t>(groups_of(n_) * group_values);
    const Quad values = load(chunk);
    simt.barrier();
    const std::uint32_t words = encode(values);
    if (thread() < warp_lanes) {
      const std::uint64_t at = place_in_sink(simt, job_.sink, chunk, words);
      if (thread() == 0) shared_.record_at = at;
    }
    simt.barrier();
    // A record that does not fit need not be written: the finish kernel then stores the frame uncompressed.
    if (!fits(job_.sink, shared_.record_at, words)) return;
    TAUT_ROLLED
    for (std::uint32_t i = thread(); i < words; i += chunk_threads)
      job_.sink.records[shared_.record_at + i] = load_as<std::uint32_t>(shared_.record + 4 * i);
  }

 private:
  TAUT_DEVICE unsigned thread() const { return group_.thread(); }

  // Loads the books, and returns the values of this thread; those beyond the message are 0.
  TAUT_DEVICE Quad load(std::uint32_t chunk) {
    const auto* const books =
        reinterpret_cast<const std::uint32_t*>(job_.books + chunk / chunks_sharing_books);
    if (thread() < book_words) reinterpret_cast<std::uint32_t*>(&shared_.books)[thread()] = books[thread()];
    const std::uint16_t* const from =
        job_.values + std::uint64_t{chunk} * chunk_values + thread() * thread_values;
    const unsigned own = own_values(thread(), n_);
    if (by_quads<std::uint16_t, thread_values>(from, own)) return *reinterpret_cast<const Quad*>(from);
    Quad values{};
    for (unsigned i = 0; i < thread_values; ++i)
      values.words[i / 2] |= i < own ? std::uint32_t{from[i]} << (16 * (i % 2)) : 0;
    return values;
  }

  // Returns the values, padded to whole groups by values with code 0: the rotated form of such a value (see
  // SplitQuad) has the first symbol of the book and zeros.
  TAUT_DEVICE Quad padded(Quad values) const {
    const unsigned own = own_values(thread(), n_);
    if (own == thread_values) return values;
    const std::uint32_t rotated = std::uint32_t{shared_.books.order[0]} << (8 + spare_bits_of<T>);
    const std::uint32_t value = rotated >> 1 | (rotated << 15 & 0x8000), both = value | value << 16;
    for (unsigned i = 0; i < 4; ++i)
      values.words[i] |= 2 * i >= own ? both : 2 * i + 1 == own ? both & 0xFFFF0000 : 0;
    return values;
  }

  // Writes the record to shared memory, and returns its number of words, which the first thread publishes.
  // The record begins as the values themselves, which it remains if coding does not make it shorter. Bit i of
  // a mask (escaped, raw, nonzero_symbols, denormal) is for value i of this thread.
  TAUT_DEVICE std::uint32_t encode(const Quad& values) {
    const Simt& simt = group_.simt();
    store_as(shared_.record + thread() * sizeof values, values);
    const auto parts = SplitQuad<T>::split(simt, padded(values));
    std::uint32_t codes[2] = {};
    for (unsigned i = 0; i < thread_values; ++i)
      codes[i / 4] |= std::uint32_t{shared_.books.code[parts.symbols[i]]} << (8 * (i % 4));
    const PlaneRow planes = to_planes(simt, rows_of(simt, {{codes[0], codes[1]}}));
    const std::uint32_t valid = thread() * thread_values < padded_ ? 0xFF : 0, width = shared_.books.width;
    const std::uint32_t escaped = all_ones(planes.low, width) & valid,
                        raw = all_ones(planes.high, second_width) & escaped,
                        nonzero_symbols = nonzero(parts.symbols) & valid,
                        denormal =
                            (nonzero(parts.low) | nonzero(parts.spare_bits)) & valid & ~nonzero_symbols;
    const auto counts =
        group_.scan(simt.popcount(escaped) | simt.popcount(raw) << 16 |
                    std::uint64_t{simt.popcount(nonzero_symbols) | simt.popcount(denormal) << 16} << 32);
    const Counts before = Counts::unpacked(counts.before), all = Counts::unpacked(counts.total);
    const std::uint32_t padding = shared_.books.order[0] != 0 ? padded_ - n_ : 0;
    const bool all_zero = all.denormal == 0 && all.nonzero == padding;
    const RecordLayout plan = layout(width, all);
    const bool plain = plan.words() >= plain_words(n_);
    const std::uint32_t words = all_zero ? 0 : plain ? plain_words(n_) : plan.words();
    if (thread() == 0) publish_own_size(simt, job_.sink, shared_.chunk, words);
    if (all_zero || plain) return words;
    write_head(plan);
    write_escapes(plan, before, parts, {{codes[0], codes[1]}}, escaped, raw);
    if (valid != 0) write_planes(plan, parts, planes.low, before, nonzero_symbols);
    if (plan.escapes > 0) write_second_planes(plan);
    return words;
  }

  TAUT_DEVICE RecordLayout layout(unsigned width, const Counts& all) const {
    RecordLayout plan;
    plan.width = width;
    plan.omits_zero_low_bytes = all.denormal == 0 && padded_ - all.nonzero >= min_zeros;
    plan.escapes = all.escapes;
    plan.raw_symbols = all.raw;
    plan.low_bytes = plan.omits_zero_low_bytes ? all.nonzero : padded_;
    plan.place<T>(padded_);
    return plan;
  }

  // Writes the header, the books, and the zeros at the end.
  TAUT_DEVICE void write_head(const RecordLayout& plan) {
    const Books& books = shared_.books;
    const unsigned t = thread(), first = books.escape();
    if (t == 0) {
      const std::uint32_t flags =
          plan.omits_zero_low_bytes ? unsigned{RecordHeader::omits_zero_low_bytes} << 8 : 0;
      auto* const header = reinterpret_cast<std::uint32_t*>(shared_.record);
      header[0] = plan.width | flags | plan.escapes << 16;
      header[1] = plan.raw_symbols | plan.low_bytes << 16;
    }
    if (t < first) shared_.record[header_bytes + t] = books.order[t];
    if (t < symbols_of(second_width) && plan.escapes > 0)
      shared_.record[plan.second_book + t] = books.order[first + t];
    if (plan.end + t < 4 * plan.words()) shared_.record[plan.end + t] = 0;
  }

  TAUT_DEVICE void write_escapes(const RecordLayout& plan, const Counts& before, const SplitQuad<T>& parts,
                                 const OwnBytes& codes, std::uint32_t escaped, std::uint32_t raw) {
    std::uint8_t *code_to = shared_.escapes + before.escapes,
                 *raw_to = shared_.record + plan.raw + before.raw;
    if (escaped == 0) return;
    for (unsigned i = 0; i < thread_values; ++i) {
      if ((escaped >> i & 1) != 0) *code_to++ = static_cast<std::uint8_t>(codes[i] >> 4);
      if ((raw >> i & 1) != 0) *raw_to++ = static_cast<std::uint8_t>(parts.symbols[i]);
    }
  }

  // Writes what is stored of each value of this thread: its code, spare bits and low byte.
  TAUT_DEVICE void write_planes(const RecordLayout& plan, const SplitQuad<T>& parts, std::uint32_t codes,
                                const Counts& before, std::uint32_t nonzero_symbols) {
    const Simt& simt = group_.simt();
    write_bytes(plan.planes, plan.width, codes);
    if constexpr (has_spare<T>)
      write_bytes(plan.spare_planes, spare_bits_of<T>, to_planes(simt, rows_of(simt, parts.spare_bits)).low);
    std::uint8_t* to = shared_.record + plan.low +
                       (plan.omits_zero_low_bytes ? before.nonzero : thread() * std::uint32_t{thread_values});
    for (unsigned i = 0; i < thread_values; ++i)
      if (!plan.omits_zero_low_bytes || (nonzero_symbols >> i & 1) != 0)
        *to++ = static_cast<std::uint8_t>(parts.low[i]);
  }

  // Writes this thread's byte of each plane of its group. `planes`: byte k is that of plane k.
  TAUT_DEVICE void write_bytes(std::uint32_t at, unsigned width, std::uint32_t planes) {
    std::uint8_t* const to =
        shared_.record + at + thread() / group_threads * width * group_threads + thread() % group_threads;
    for (unsigned k = 0; k < 4; ++k)
      if (k < width) to[k * group_threads] = static_cast<std::uint8_t>(planes >> (8 * k));
  }

  // Writes the codes of the escapes; each thread has 8 of them. Takes one barrier.
  TAUT_DEVICE void write_second_planes(const RecordLayout& plan) {
    const Simt& simt = group_.simt();
    simt.barrier();
    if (thread() >= groups_of(plan.escapes) * group_threads) return;
    OwnBytes codes = load_as<OwnBytes>(shared_.escapes + thread() * thread_values);
    const unsigned own = own_values(thread(), plan.escapes);
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned there = own <= 4 * i ? 0 : own - 4 * i;
      codes.word[i] &= there >= 4 ? 0xFFFFFFFF : (1u << (8 * there)) - 1;
    }
    write_bytes(plan.second_planes, second_width, to_planes(simt, rows_of(simt, codes)).low);
  }

  ThreadGroup<Simt, chunk_threads> group_;
  EncodeShared& shared_;
  const EncodeJob& job_;
  std::uint32_t n_ = 0, padded_ = 0;  // values of the chunk, and of its whole groups
};

template <class T>
struct EncodeKernel {
  using Job = EncodeJob;
  using Shared = EncodeShared;
  static constexpr BlockShape shape = chunk_shape;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    ChunkEncoder<T, Simt>(simt, shared, job).run();
  }
};

}  // namespace taut::exponents::cuda
