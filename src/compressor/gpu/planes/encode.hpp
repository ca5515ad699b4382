// Encodes values to records: a thread block processes a chunk, a thread a block of 8 values. Writes the same
// bytes as encode.cpp and general.cpp.
// In most chunks all values have an integer of up to 14 bits (16-bit floats) or 22 bits. The code for other
// chunks must not raise the kernel's number of registers: its loops over 64-bit integers are rolled, and
// their arrays are in local memory.
#pragma once

#include <algorithm>

#include "compressor/base/status.hpp"
#include "compressor/gpu/planes/parse_header.hpp"
#include "compressor/gpu/planes/record_writer.hpp"
#include "compressor/gpu/planes/seal_frame.hpp"
#include "compressor/gpu/planes/write_exact.hpp"
#include "compressor/gpu/simt/end_encoding.hpp"
#include "compressor/gpu/simt/load.hpp"
#include "compressor/gpu/simt/sink.hpp"

namespace taut::planes::cuda {

template <class T>
struct EncodeJob {
  const T* values;
  std::uint64_t count;
  Quantiser<T> z;
  Sink sink;
  const std::uint32_t* predictor_frame;  // frame whose predictor is used; null: the predictor of z is
  LargeRange<T> range;
  FrameSeal seal;
};

// Words by which a record without residuals may exceed a raw layer: the planes of 16-bit floats alone may
// take slightly more.
template <class T>
inline constexpr std::uint32_t words_beyond_layer = sizeof(T) == 2 ? 512 : 0;

// Size of the shared memory for a record without residuals. Of other types 256 words are spare.
template <class T>
inline constexpr std::uint32_t record_words =
    layer_words<T>(chunk_values) + std::max<std::uint32_t>(words_beyond_layer<T>, 256);

template <class T, std::uint32_t Words = record_words<T>>
struct EncodeShared {
  ChunkThreadsShared threads;
  std::uint64_t record_at;
  std::uint32_t chunk, words;  // words: size of the record
  PlanesShared planes;
  RunsShared<T> runs;
  alignas(16) std::uint32_t record[Words];  // at the end of the call: the frame's header
};

// Number of values that a loop over integers of the large range processes at a time. The integers of 16-bit
// floats, which seldom have more than 14 bits, are in local memory.
template <class T>
inline constexpr int large_at_a_time = is_half<T> ? 1 : static_cast<int>(block_values);

// Encodes one chunk. Bits: PackedBits::exact stores packed integers as exact values; kernels for
// PackedBits::rounded contain no code for that.
template <class T, class Simt, PackedBits Bits, class BlockShared = EncodeShared<T>>
class ChunkEncoder {
 public:
  TAUT_DEVICE ChunkEncoder(Simt simt, BlockShared& shared, const EncodeJob<T>& job)
      : group_(simt, shared.threads), shared_(shared), job_(job), needs_fence_(job.seal.polled) {}

  TAUT_DEVICE void run() {
    const Sink& sink = job_.sink;
    const std::uint32_t chunk = take_chunk(group_.simt(), sink, shared_.chunk);
    if (chunk < sink.chunks) encode_chunk(chunk);
    if (job_.seal.result.at == nullptr) return;  // a later kernel ends the call
    const EncodingBlocks blocks{sink.chunks, job_.seal.blocks, sink.slot_words == 0};
    EncodingEnd(group_.simt(), *this, blocks).run(shared_.chunk, needs_fence_);
  }

  // The codec's part of the end: see EncodingEnd.
  TAUT_DEVICE Control& control() const { return job_.seal.scratch->control; }
  TAUT_DEVICE bool may_be_stored(const Simt& simt) const { return cuda::may_be_stored(simt, job_.seal); }
  TAUT_DEVICE void write_stored(const Simt& simt, std::uint32_t part, std::uint32_t parts) const {
    T* const to = reinterpret_cast<T*>(job_.seal.frame + header_words);
    const std::uint64_t step = std::uint64_t{parts} * chunk_threads;
    TAUT_ROLLED
    for (std::uint64_t i = std::uint64_t{part} * chunk_threads + simt.thread(); i < job_.count; i += step) {
      const T x = job_.values[i];
      to[i] = job_.z.step == 0 ? x : value_as_decoded(x, quantiser(), job_.range);
    }
  }
  TAUT_DEVICE void seal(const Simt& simt) const {
    seal_frame(simt, job_.seal, job_.count * sizeof(T), shared_.record);
  }

 protected:
  using Int = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

  TAUT_DEVICE void encode_chunk(std::uint32_t chunk) {
    set_counts(chunk);
    std::int32_t q[block_values];
    if (all_small(q)) {
      encode_integers(q, 0);
    } else {
      encode_large();
    }
    store();
  }

  // Encodes a chunk in which some value is not in the small range.
  TAUT_DEVICE void encode_large() {
    std::int32_t q[block_values];
    std::uint32_t marked = 0;
    if (all_large(q, marked)) {
      encode_integers(q, large);
    } else {
      encode_exact(marked);
    }
  }

  // Sets the numbers of values of a chunk and of this thread.
  TAUT_DEVICE void set_counts(std::uint32_t chunk) {
    const std::uint64_t left = job_.count - std::uint64_t{chunk} * chunk_values;
    n_ = left < chunk_values ? static_cast<std::uint32_t>(left) : static_cast<std::uint32_t>(chunk_values);
    values_ = values_of(group_.thread(), n_);
  }

  // True if all values have an integer in the small range.
  TAUT_DEVICE bool all_small(std::int32_t (&q)[block_values]) {
    T x[block_values];
    load_block(input(), values_, x);
    bool is_small = true;
    for (unsigned i = 0; i < block_values; ++i) is_small &= quantise_small(x[i], job_.z, q[i]);
    if constexpr (Bits == PackedBits::exact) is_small &= has_no_packed(x, job_.z);
    group_.share_last(q[block_values - 1]);
    return !group_.any(!is_small);
  }

  // True if all values have an integer in the large range. `marked` gets a bit for each value that has none.
  // Values are read again, because registers are scarce. 16-bit floats are left to encode_exact().
  TAUT_DEVICE bool all_large(std::int32_t (&q)[block_values], std::uint32_t& marked) {
    if constexpr (is_half<T>) {
      std::int32_t unused[block_values];
      marked = quantise(unused) | packed();
      return false;
    } else {
      marked = quantise(q) | packed();
      group_.share_last(q[block_values - 1]);
      return !group_.any(marked != 0);
    }
  }
  // Computes integers in the large range. Returns a bit for each value that has none.
  TAUT_DEVICE std::uint32_t quantise(std::int32_t (&q)[block_values]) const {
    T x[block_values];
    load_block(input(), values_, x);
    std::uint32_t marked = 0;
    TAUT_UNROLLED_BY(large_at_a_time<T>)
    for (unsigned i = 0; i < block_values; ++i)
      marked |= static_cast<std::uint32_t>(!quantise_large(x[i], job_.z, job_.range, q[i])) << i;
    return marked;
  }

  // Returns the address of this thread's values.
  TAUT_DEVICE const T* input() const {
    return job_.values + std::uint64_t{shared_.chunk} * chunk_values + group_.thread() * block_values;
  }
  TAUT_DEVICE ThreadValues<T> own_values() const { return {input(), values_}; }
  // Returns the predictor. A frame with an unknown one is refused by the kernel that opens it.
  TAUT_DEVICE Predictor predictor() const {
    if (job_.predictor_frame == nullptr) return job_.z.predictor;
    return static_cast<Predictor>(HeaderView{job_.predictor_frame}.parameter(0) & 3);
  }
  // Returns the quantiser, whose exact_bits the compiler knows.
  TAUT_DEVICE Quantiser<T> quantiser() const {
    Quantiser<T> z = job_.z;
    z.exact_bits = Bits == PackedBits::exact;
    return z;
  }
  TAUT_DEVICE std::uint32_t blocks() const { return static_cast<std::uint32_t>(blocks_of(n_)); }

  // Writes a record if all values have an integer. The threads have shared their last integers. q becomes the
  // differences.
  TAUT_DEVICE void encode_integers(std::int32_t (&q)[block_values], std::uint8_t flags) {
    const std::int32_t base = difference<last_shared>(group_, predictor(), values_, q);
    encode_differences(base, q, flags);
  }
  // Writes a record of planes only, or no record.
  TAUT_DEVICE void encode_differences(std::int32_t base, const std::int32_t (&d)[block_values],
                                      std::uint8_t flags) {
    encode_planned(plan_of(d, false), shared_.planes, base, d, flags);
  }
  template <class Plan, class Shared>
  TAUT_DEVICE void encode_planned(const Plan& plan, Shared& planes, std::int32_t base,
                                  const std::int32_t (&d)[block_values], std::uint8_t flags) {
    const bool flat = plan.plane_bytes == 0 && flags == 0;
    const bool empty = flat && !group_.any(group_.thread() == 0 && base != 0);
    announce_words(empty ? 0 : plan.bytes() / 4, true);
    if (!empty)
      write_planes(group_, planes, plan, flags, base, blocks(), Differences<std::int32_t>{d}, shared_.record);
  }

  template <class I>
  TAUT_DEVICE PlanesPlan plan_of(const I (&d)[block_values], bool is_wide) {
    return plan_planes(group_, values_ > 0 ? width_of(group_.simt(), d) : 0, blocks(), is_wide);
  }

  // The marks of a thread's values in a chunk that has exact values.
  struct MarkedValues {
    std::uint32_t marked = 0;      // a bit for each value that is stored exactly
    std::uint32_t magnitudes = 0;  // bitwise or of the integers' magnitudes
  };
  // Computes integers in the large range. `magnitudes` includes packed integers, though they are stored
  // exactly: the CPU sets the flag `large` likewise.
  TAUT_DEVICE MarkedValues find_large(std::int32_t (&q)[block_values]) const {
    MarkedValues found{quantise(q)};
    for (unsigned i = 0; i < block_values; ++i)
      found.magnitudes |= (found.marked >> i & 1) == 0 ? static_cast<std::uint32_t>(q[i] ^ (q[i] >> 31)) : 0;
    found.marked |= packed();
    return found;
  }

  // Computes integers in the wide range. Returns a bit for each value that has none.
  TAUT_DEVICE std::uint32_t quantise_wide(std::int64_t (&q)[block_values]) const {
    ThreadValues<T> values = own_values();
    group_.simt().keep_in_memory(values);
    std::uint32_t marked = 0;
    TAUT_ROLLED
    for (unsigned i = 0; i < block_values; ++i)
      marked |=
          static_cast<std::uint32_t>(!quantise_to(values[i], job_.z, job_.range.reciprocal, wide_bits, q[i]))
          << i;
    return marked;
  }

  // Marks the packed integers, if they have to be stored exactly.
  TAUT_DEVICE std::uint32_t packed() const {
    std::uint32_t found = 0;
    if constexpr (Bits == PackedBits::exact) {
      const ThreadValues<T> values = own_values();
      TAUT_ROLLED
      for (unsigned i = 0; i < block_values; ++i)
        found |= static_cast<std::uint32_t>(is_packed(values[i])) << i;
    }
    return found;
  }

  struct ExactCounts {
    std::uint32_t values;
    std::uint32_t min_runs;  // lower bound of the number of their runs
  };
  // Counts the `marked` values, and the starts of runs except those at a thread's first value.
  TAUT_DEVICE ExactCounts count_exact(std::uint32_t marked) {
    T x[block_values];
    load_block(input(), values_, x);
    const std::uint32_t starts = marked & ~(repeats_in(x) & marked << 1) & ~1u;
    const std::uint32_t all = group_
                                  .scan(static_cast<std::uint32_t>(group_.simt().popcount(marked) |
                                                                   group_.simt().popcount(starts) << 16))
                                  .total;
    return {all & 0xFFFF, all >> 16};
  }

  // Returns true if the chunk becomes wide. `found`: counts of the values without an integer in the large
  // range; on return, in the range of the record.
  TAUT_DEVICE bool becomes_wide(ExactCounts& found) {
    if constexpr (sizeof(T) == 8) {
      if (found.values <= wide_threshold) return false;
      Int q[block_values];
      const ExactCounts beyond = count_exact(quantise_wide(q) | packed());
      if (beyond.values + wide_threshold >= found.values) return false;
      found = beyond;
      return true;
    }
    return false;
  }

  // Encodes a chunk in which the `marked` values have no integer in the large range. The values of most such
  // chunks are all different, so that the chunk is soon known to be a raw layer.
  TAUT_DEVICE void encode_exact(std::uint32_t marked) {
    ExactCounts found = count_exact(marked);
    const bool is_wide = becomes_wide(found);
    if (found.min_runs > max_runs_of(is_wide)) return encode_layer();
    encode_general(is_wide);
  }
  // Returns the greatest number of runs in a record that is no raw layer.
  TAUT_DEVICE std::uint32_t max_runs_of(bool is_wide) const {
    return n_ * static_cast<std::uint32_t>(sizeof(T)) / run_bytes_of<T>(is_wide);
  }
  TAUT_DEVICE void encode_layer() {
    announce_words(layer_words<T>(n_), false);
    write_layer(group_, quantiser(), job_.range, n_,
                job_.values + std::uint64_t{shared_.chunk} * chunk_values, shared_.record);
  }

  // Computes the integers of a chunk with exact values. Integers are repeated where values have none.
  TAUT_DEVICE MarkedValues hold_integers(bool is_wide, Int (&q)[block_values]) {
    MarkedValues found;
    if constexpr (sizeof(T) == 8) {
      if (is_wide) {
        found.marked = quantise_wide(q) | packed();
      } else {
        std::int32_t r[block_values];
        found = find_large(r);
        for (unsigned i = 0; i < block_values; ++i) q[i] = r[i];
      }
    } else {
      found = find_large(q);
    }
    fill_holds(group_, found.marked, values_, q);
    return found;
  }

  // Encodes a chunk with exact values. The values, the integers for their runs, and what set_counts() finds
  // are computed again where they are needed, because registers are scarce.
  TAUT_DEVICE void encode_general(bool is_wide) {
    set_counts(shared_.chunk);
    Int q[block_values];
    const MarkedValues found = hold_integers(is_wide, q);
    const bool in_small_range = !group_.any(found.magnitudes >> small_bits != 0);
    RunsPlan runs = runs_of(found.marked);
    group_.simt().keep_in_memory(runs);
    set_counts(shared_.chunk);
    const Int base = difference(group_, predictor(), values_, q);
    if constexpr (sizeof(T) == 8) group_.simt().keep_in_memory(q);
    PlanesPlan plan = plan_of(q, is_wide);
    group_.simt().keep_in_memory(plan);
    const std::uint32_t each = run_bytes_of<T>(is_wide),
                        exact_bytes = runs.count > 0 ? 4 + runs.count * each : 0;
    const std::uint32_t words = (plan.bytes() + exact_bytes + 3) / 4;
    if (runs.count > max_runs_of(is_wide) || words >= layer_words<T>(n_)) return encode_layer();
    announce_words(words, true);
    set_counts(shared_.chunk);
    const unsigned form = is_wide ? wide | large : runs.count > 0 && in_small_range ? 0u : unsigned{large};
    const auto flags = static_cast<std::uint8_t>(runs.count > 0 ? form | has_runs : form);
    write_planes(group_, shared_.planes, plan, flags, base, blocks(), Differences<Int>{q}, shared_.record);
    if (runs.count == 0) return;
    set_counts(shared_.chunk);
    hold_integers(is_wide, q);
    put_runs(runs, is_wide, q, plan);
  }

  TAUT_DEVICE RunsPlan runs_of(std::uint32_t marked) {
    const T before = group_.thread() > 0 && values_ > 0 ? input()[-1] : T{};
    return plan_runs(group_, shared_.runs, marked, before, own_values());
  }
  template <class I>
  TAUT_DEVICE void put_runs(const RunsPlan& runs, bool is_wide, const I (&q)[block_values],
                            const PlanesPlan& plan) {
    write_runs(group_, shared_.runs, runs, quantiser(), job_.range, is_wide, own_values(), q,
               shared_.record + plan.bytes() / 4);
  }

  // Announces the size of the record. `coded`: the record is not a raw layer.
  TAUT_DEVICE void announce_words(std::uint32_t words, bool coded) {
    if (group_.thread() != 0) return;
    shared_.words = words;
    publish_own_size(group_.simt(), job_.sink, shared_.chunk, words);
    const bool first_coded = coded && job_.sink.control->coded == 0;
    if (first_coded) group_.simt().atomic_max(&job_.sink.control->coded, 1);
    // Blocks that close the frame read `coded`, write over raw layers, and read Control::words, which the
    // block of the last chunk writes.
    needs_fence_ |= first_coded || !coded || shared_.chunk + 1 == job_.sink.chunks;
  }

  // Copies the record from shared memory to its place.
  TAUT_DEVICE void store() {
    const Sink& sink = job_.sink;
    if (group_.thread() < warp_lanes) {
      const std::uint32_t words = group_.thread() == 0 ? shared_.words : 0;
      const std::uint64_t at = place_in_sink(group_.simt(), sink, shared_.chunk, words);
      if (group_.thread() == 0) shared_.record_at = at;
    }
    group_.simt().barrier();
    if (fits(sink, shared_.record_at, shared_.words)) {
      copy_words(group_, shared_.record, shared_.words, sink.records + shared_.record_at);
    } else if (group_.thread() == 0) {
      group_.simt().atomic_max(&sink.control->failure, static_cast<std::uint32_t>(Status::buffer_too_small));
      needs_fence_ = true;
    }
  }

  ChunkThreads<Simt> group_;
  BlockShared& shared_;
  const EncodeJob<T>& job_;
  std::uint32_t n_ = 0;  // number of values of the chunk
  unsigned values_ = 0;  // number of values of this thread
  bool needs_fence_;     // of the first thread: other blocks, or the host, read what this block writes
};

template <class T, PackedBits Bits = PackedBits::rounded>
struct EncodeKernel {
  using Job = EncodeJob<T>;
  using Shared = EncodeShared<T>;
  static constexpr BlockShape shape{chunk_threads, resident_blocks};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    ChunkEncoder<T, Simt, Bits>(simt, shared, job).run();
  }
};

}  // namespace taut::planes::cuda
