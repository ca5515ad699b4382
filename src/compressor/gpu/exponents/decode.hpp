// Decodes frames: values <- frame, or values += frame. A thread block processes a chunk, and none waits for
// another one. Records that frame_io.cpp rejects are rejected here, before any value of the chunk is written.
#pragma once

#include "compressor/gpu/exponents/frame.hpp"
#include "compressor/values/reduction.hpp"

namespace taut::exponents::cuda {

// A Target is what a decoder does with a thread's values: Replace writes them over those in memory, Add adds
// them as reduce_values() does, to values of the type To.
template <class T>
struct Replace {
  using Frame = T;
  using Value = std::uint16_t;

  TAUT_DEVICE static void put(Value* to, unsigned own, const Quad& values) {
    if (by_quads<Value, thread_values>(to, own)) return store_as(to, values);
    for (unsigned i = 0; i < thread_values; ++i)
      if (i < own) to[i] = static_cast<Value>(values.words[i / 2] >> (16 * (i % 2)));
  }
};

template <class T, class To = T>
struct Add {
  using Frame = T;
  using Value = To;

  TAUT_DEVICE static void put(Value* to, unsigned own, const Quad& values) {
    Value sums[thread_values];
    load_block(to, own, sums);
    for (unsigned i = 0; i < thread_values; ++i) {
      const auto x = std::bit_cast<T>(static_cast<std::uint16_t>(values.words[i / 2] >> (16 * (i % 2))));
      if constexpr (std::is_same_v<T, To>)
        sums[i] = combine(Reduction::sum, sums[i], x);
      else
        sums[i] = combine(Reduction::sum, sums[i], static_cast<Value>(x));
    }
    store_block(to, own, sums);
  }
};

template <class Value>
struct DecodeJob {
  Source source;
  Value* values;
  ExpectedFrame expected;
  Scratch* scratch;
};

struct DecodeShared {
  OpenFrame frame;
  Words source_words;  // the chunk's record in the frame
  bool has_record;     // the index names one
  ThreadGroupShared group;
  alignas(16) std::uint8_t record[chunk_bytes + 2 * sizeof(Quad)];  // a copy; reads may go beyond its end
  alignas(8) std::uint8_t escapes[chunk_values];                    // symbols of the escaped values
};

// Reads the header of a coded record. Returns false if it is malformed, or the record shorter or longer than
// its parts. `n`: values of whole groups; `bytes`: size of the record.
template <class T>
TAUT_DEVICE bool read_layout(const std::uint8_t* record, std::uint32_t bytes, std::uint32_t n,
                             RecordLayout& at) {
  if (bytes < header_bytes) return false;
  const auto first = load_as<std::uint32_t>(record), last = load_as<std::uint32_t>(record + 4);
  const unsigned flags = first >> 8 & 0xFF;
  at.width = first & 0xFF;
  at.omits_zero_low_bytes = flags != 0;
  at.escapes = first >> 16;
  at.raw_symbols = last & 0xFFFF;
  at.low_bytes = last >> 16;
  if (at.width < 1 || at.width > max_width || flags > RecordHeader::omits_zero_low_bytes || at.escapes > n ||
      at.raw_symbols > at.escapes || (!at.omits_zero_low_bytes && at.low_bytes != n))
    return false;
  at.place<T>(n);
  if (at.end > bytes || bytes - at.end >= index_unit) return false;
  for (std::uint32_t i = at.end; i < bytes; ++i)
    if (record[i] != 0) return false;
  return true;
}

template <class Target, class Simt>
class ChunkDecoder {
 public:
  using T = typename Target::Frame;

  TAUT_DEVICE ChunkDecoder(const Simt& simt, DecodeShared& shared,
                           const DecodeJob<typename Target::Value>& job, std::uint32_t chunk)
      : group_(simt, shared.group),
        shared_(shared),
        n_(values_of(job.expected.values, chunk)),
        to_(job.values + std::uint64_t{chunk} * chunk_values + thread() * std::uint32_t{thread_values}) {}

  // Returns this thread's values in a record. Sets `good` to false, in all threads alike, if the record is
  // malformed.
  TAUT_DEVICE Quad decode(const Words& record, bool& good) {
    good &= record.count <= plain_words(n_);
    if (!good || record.count == 0) return {};
    copy(record);
    group_.simt().barrier();
    if (record.count == plain_words(n_)) return load_as<Quad>(shared_.record + thread() * sizeof(Quad));
    SplitQuad<T> parts{};
    good = read(record.count * 4, parts);
    return parts.joined(group_.simt());
  }

  // Returns this thread's values in a stored frame. `from`: the values of the chunk.
  TAUT_DEVICE Quad stored(const std::uint16_t* from) const {
    std::uint16_t x[thread_values];
    load_block(from + thread() * thread_values, own_values(thread(), n_), x);
    Quad values;
    for (unsigned i = 0; i < thread_values; i += 2)
      values.words[i / 2] = x[i] | std::uint32_t{x[i + 1]} << 16;
    return values;
  }

  TAUT_DEVICE void put(const Quad& values) const {
    const unsigned own = own_values(thread(), n_);
    if (own > 0) Target::put(to_, own, values);
  }

 private:
  TAUT_DEVICE unsigned thread() const { return group_.thread(); }

  TAUT_DEVICE void copy(const Words& record) {
    TAUT_ROLLED
    for (std::uint32_t i = thread(); i < record.count; i += chunk_threads)
      store_as(shared_.record + 4 * i, record.data[i]);
  }

  TAUT_DEVICE bool read(std::uint32_t bytes, SplitQuad<T>& parts) {
    const Simt& simt = group_.simt();
    const std::uint8_t* const record = shared_.record;
    const auto n = static_cast<std::uint32_t>(groups_of(n_) * group_values);
    RecordLayout at;
    if (!read_layout<T>(record, bytes, n, at)) return false;
    const bool has_values = thread() * thread_values < n,
               has_escapes = thread() < groups_of(at.escapes) * group_threads;  // in the second book
    const std::uint32_t planes = has_values ? own_planes(at.planes, at.width) : 0,
                        second = has_escapes ? own_planes(at.second_planes, second_width) : 0;
    const std::uint32_t escaped = all_ones(planes, at.width), raw = all_ones(second, second_width);
    const auto ranks = group_.scan(std::uint32_t{simt.popcount(escaped) | simt.popcount(raw) << 16});
    if (ranks.total != (at.escapes | at.raw_symbols << 16)) return false;
    if (at.escapes > 0) {
      if (has_escapes)
        store_as(shared_.escapes + thread() * thread_values,
                 symbols_from(second, record + at.second_book, raw, record + at.raw + (ranks.before >> 16)));
      simt.barrier();
    }
    parts.symbols =
        symbols_from(planes, record + header_bytes, escaped, shared_.escapes + (ranks.before & 0xFFFF));
    if constexpr (has_spare<T>) {
      const std::uint32_t spare_planes = has_values ? own_planes(at.spare_planes, spare_bits_of<T>) : 0;
      parts.spare_bits = bytes_of(simt, to_bytes(simt, {spare_planes, 0}));
    }
    if (at.omits_zero_low_bytes)
      return read_low_without_zeros(at, has_values ? nonzero(parts.symbols) : 0, parts.low);
    const std::uint32_t from = at.low + (has_values ? thread() * std::uint32_t{thread_values} : 0);
    for (unsigned i = 0; i < 2; ++i) parts.low.word[i] = unaligned(from + 4 * i);
    return true;
  }

  TAUT_DEVICE bool read_low_without_zeros(const RecordLayout& at, std::uint32_t used, OwnBytes& low) {
    const auto ranks = group_.scan(std::uint32_t{group_.simt().popcount(used)});
    if (ranks.total != at.low_bytes) return false;
    const std::uint8_t* from = shared_.record + at.low + ranks.before;
    low = {};
    for (unsigned i = 0; i < thread_values; ++i)
      if ((used >> i & 1) != 0) low.word[i / 4] |= std::uint32_t{*from++} << (8 * (i % 4));
    return true;
  }

  // Returns this thread's byte of each plane of its group: byte k is that of plane k.
  TAUT_DEVICE std::uint32_t own_planes(std::uint32_t at, unsigned width) const {
    const std::uint8_t* const from =
        shared_.record + at + thread() / group_threads * width * group_threads + thread() % group_threads;
    std::uint32_t planes = 0;
    for (unsigned k = 0; k < 4; ++k)
      if (k < width) planes |= std::uint32_t{from[k * group_threads]} << (8 * k);
    return planes;
  }

  // Returns the symbols of eight codes: those of the book, or, where `escaped` has ones, the next ones from
  // `next_escaped` on.
  TAUT_DEVICE OwnBytes symbols_from(std::uint32_t planes, const std::uint8_t* book, std::uint32_t escaped,
                                    const std::uint8_t* next_escaped) const {
    const OwnBytes codes = bytes_of(group_.simt(), to_bytes(group_.simt(), {planes, 0}));
    OwnBytes symbols{};
    for (unsigned i = 0; i < thread_values; ++i) {
      const std::uint8_t* const from = (escaped >> i & 1) != 0 ? next_escaped++ : book + codes[i];
      symbols.word[i / 4] |= std::uint32_t{*from} << (8 * (i % 4));
    }
    return symbols;
  }

  // Returns four bytes from any byte of the record on.
  TAUT_DEVICE std::uint32_t unaligned(std::uint32_t byte) const {
    const std::uint8_t* const word = shared_.record + byte / 4 * 4;
    const std::uint64_t both = load_as<std::uint32_t>(word) | std::uint64_t{load_as<std::uint32_t>(word + 4)}
                                                                  << 32;
    return static_cast<std::uint32_t>(both >> (8 * (byte % 4)));
  }

  ThreadGroup<Simt, chunk_threads> group_;
  DecodeShared& shared_;
  std::uint32_t n_;
  typename Target::Value* to_;
};

template <class Target>
struct DecodeKernel {
  using Job = DecodeJob<typename Target::Value>;
  using Shared = DecodeShared;
  static constexpr BlockShape shape = chunk_shape;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const std::uint32_t chunk = simt.block();
    open(simt, shared, job, chunk);
    const OpenFrame& frame = shared.frame;
    if (chunk >= job.expected.chunks || frame.status != 0) return;
    ChunkDecoder<Target, Simt> decoder(simt, shared, job, chunk);
    bool good = frame.stored || shared.has_record;
    const auto* const payload = reinterpret_cast<const std::uint16_t*>(job.source.frame + header_words);
    const Quad values = frame.stored ? decoder.stored(payload + std::uint64_t{chunk} * chunk_values)
                                     : decoder.decode(shared.source_words, good);
    if (good) decoder.put(values);
    if (!good && simt.thread() == 0)
      simt.atomic_max(&job.scratch->control.failure, code(Status::corrupt_frame));
  }

 private:
  // Opens the frame, and finds the record. One warp reads what decides on barriers: the frame may change.
  // Takes one barrier.
  template <class Simt>
  TAUT_DEVICE static void open(const Simt& simt, Shared& shared, const Job& job, std::uint32_t chunk) {
    if (simt.thread() < warp_lanes) {
      const OpenFrame f = open_frame(simt, job.source, job.expected, job.scratch->crc);
      if (simt.thread() == 0) {
        shared.frame = f;
        if (f.status != 0) simt.atomic_max(&job.scratch->control.failure, f.status);
        const bool coded = f.status == 0 && !f.stored && chunk < job.expected.chunks;
        Words record;
        shared.has_record =
            coded && find_record(job.source, f.record_words, job.expected.chunks, chunk, record);
        shared.source_words = record;
      }
    }
    simt.barrier();
  }
};

}  // namespace taut::exponents::cuda
