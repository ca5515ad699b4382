// Encodes values to records: a warp processes a chunk, a thread block eight chunks. Writes the same bytes as
// codecs/mpc/kernel_set.hpp.
#pragma once

#include "compressor/gpu/mpc/digits.hpp"
#include "compressor/gpu/mpc/sparse_encode.hpp"
#include "compressor/gpu/simt/sink.hpp"

namespace taut::mpc::cuda {

template <class Word>
struct EncodeJob {
  const Word* values;
  std::uint64_t count;
  unsigned distance;
  Rounding rounding;
  std::uint32_t chunks;
  Sink sink;  // places groups of block_warps chunks
};

// Shared memory of a warp: the planes of the record, then all of it, and a bitmap for each block.
struct EncodeWarp {
  alignas(16) std::uint8_t record[chunk_bytes];
  std::uint64_t bitmaps[chunk_vectors];  // then the counters of SparseEncoder
};

struct EncodeShared {
  EncodeWarp warps[block_warps];
  std::uint32_t words[block_warps];  // sizes of the records; later their positions
  std::uint32_t group;               // number of the chunks' group
};

// Coded bitmaps of a chunk, without repetitions and zeros. Each lane has two vectors: `lane` and `lane + 32`.
struct CodedTables {
  std::uint64_t coded[2];
  std::uint32_t flags[2];         // bit for each byte of `coded` that is not 0
  std::uint32_t coded_before[2];  // bytes of the preceding vectors
  std::uint32_t flags_before[2];  // flags of the preceding vectors that are not 0
  std::uint32_t coded_bytes;      // bytes of all vectors
  std::uint64_t top;              // bit for each vector whose flags are not 0

  template <class Simt>
  TAUT_DEVICE std::uint32_t bytes(const Simt& simt) const {
    return coded_bytes + simt.popcount(top) + static_cast<std::uint32_t>(sizeof top);
  }
};

// Returns the bitmap of the preceding block for each block of a vector.
template <class Word>
TAUT_DEVICE std::uint64_t preceding_bitmaps(std::uint64_t bitmaps, std::uint64_t vector_before) {
  if constexpr (bitmap_bits<Word> == 64) return vector_before;
  return bitmaps << bitmap_bits<Word> % 64 | vector_before >> (64 - bitmap_bits<Word>);
}

// Codes the bitmaps of a chunk. Called by a whole warp.
template <class Word, class Simt>
TAUT_DEVICE CodedTables code_tables(const Simt& simt, const std::uint64_t* bitmaps, unsigned vectors) {
  const unsigned lane = simt.thread() % warp_lanes;
  CodedTables t;
  std::uint64_t last = 0;
  std::uint32_t tops[2], counts = 0;
  for (unsigned half = 0; half < 2; ++half) {
    const std::uint64_t own = bitmaps[half * warp_lanes + lane];
    const std::uint64_t rotated = simt.shuffle(own, (lane + warp_lanes - 1) % warp_lanes);
    const bool there = half * warp_lanes + lane < vectors;
    t.coded[half] = there ? own ^ preceding_bitmaps<Word>(own, lane == 0 ? last : rotated) : 0;
    last = rotated;
    t.flags[half] = nonzero_bytes(static_cast<std::uint32_t>(t.coded[half])) |
                    nonzero_bytes(static_cast<std::uint32_t>(t.coded[half] >> 32)) << 4;
    tops[half] = simt.ballot(t.flags[half] != 0);
    counts |= simt.popcount(t.flags[half]) << (16 * half);
  }
  t.top = tops[0] | std::uint64_t{tops[1]} << 32;
  const std::uint32_t up_to = simt.inclusive_sum(counts), all = simt.shuffle(up_to, warp_lanes - 1);
  t.coded_bytes = (all & 0xFFFF) + (all >> 16);
  t.coded_before[0] = (up_to - counts) & 0xFFFF;
  t.coded_before[1] = ((up_to - counts) >> 16) + (all & 0xFFFF);
  for (unsigned half = 0; half < 2; ++half)
    t.flags_before[half] = simt.popcount(t.top & below(half * warp_lanes + lane));
  return t;
}

template <class Word, class Simt>
class ChunkEncoder {
 public:
  TAUT_DEVICE ChunkEncoder(const Simt& simt, EncodeWarp& shared, const EncodeJob<Word>& job,
                           std::uint32_t chunk)
      : simt_(simt),
        shared_(shared),
        distance_(job.distance),
        rounding_(job.rounding),
        values_(job.values + std::uint64_t{chunk} * chunk_words<Word>),
        n_(words_of<Word>(job.count, chunk)),
        may_be_sparse_(job.count * sizeof(Word) >= min_sparse_bytes) {}

  // Returns the bytes of a coded record of the chunk, which is not written.
  TAUT_DEVICE std::uint32_t coded_bytes() {
    write_planes();
    simt_.sync_warp();
    const CodedTables t =
        code_tables<Word>(simt_, shared_.bitmaps, static_cast<unsigned>(vectors_of(n_ * sizeof(Word))));
    const std::uint32_t table_bytes = t.bytes(simt_) + distance_ * static_cast<unsigned>(sizeof(Word));
    return (plane_bytes_ + table_bytes + 3) / 4 * 4;
  }

  // False if all words of the chunk were 0.
  TAUT_DEVICE bool any() const { return any_; }

  // Encodes the chunk and returns the words of the record.
  TAUT_DEVICE std::uint32_t encode() {
    write_planes();
    if (!any_) return 0;
    simt_.sync_warp();
    const CodedTables t =
        code_tables<Word>(simt_, shared_.bitmaps, static_cast<unsigned>(vectors_of(n_ * sizeof(Word))));
    const std::uint32_t table_bytes = t.bytes(simt_) + distance_ * static_cast<unsigned>(sizeof(Word));
    const std::uint32_t words = (plane_bytes_ + table_bytes + 3) / 4;
    const auto plain_words = static_cast<std::uint32_t>(units_of(n_ * sizeof(Word)));
    if (const std::uint32_t sparse = write_sparse(words < plain_words ? words : plain_words); sparse != 0)
      return sparse;
    plain_ = words >= plain_words;
    if (plain_) return plain_words;
    if (plane_bytes_ + lane() < 4 * words - table_bytes) shared_.record[plane_bytes_ + lane()] = 0;
    write_tables(t, shared_.record + 4 * words - table_bytes);
    simt_.sync_warp();
    return words;
  }

  TAUT_DEVICE void copy(std::uint32_t words, std::uint32_t* to) const {
    TAUT_ROLLED
    for (std::uint32_t i = lane(); i < words; i += warp_lanes)
      to[i] = plain_ ? plain_word(i) : load_as<std::uint32_t>(shared_.record + 4 * i);
  }

  // Parts of encode(): write_block() stores the nonzero planes of a block and their bitmap; write_tables()
  // stores the tables of all blocks.
  TAUT_DEVICE void write_block(const Word (&digits)[lane_words], unsigned block) {
    Word planes = 0;
    for (unsigned i = 0; i < lane_words; ++i) planes |= digits[i];
    store_as(reinterpret_cast<std::uint8_t*>(shared_.bitmaps) + block * sizeof(Word),
             reversed_bits(simt_, planes));
    const std::uint32_t count = simt_.popcount(InRegister<Word>{planes}), up_to = simt_.inclusive_sum(count);
    std::uint8_t* to = shared_.record + plane_bytes_ + up_to - count;
    plane_bytes_ += simt_.shuffle(up_to, warp_lanes - 1);
    for (unsigned row = sizeof(Word); row-- > 0;) {
      const auto present = static_cast<std::uint32_t>(planes >> (8 * row));
      const PlaneRow bytes = to_planes(simt_, byte_row(simt_, digits, row));
      for (unsigned k = lane_words; k-- > 0;)
        if ((present >> k & 1) != 0)
          *to++ = static_cast<std::uint8_t>((k < 4 ? bytes.low : bytes.high) >> (8 * (k % 4)));
    }
  }

  TAUT_DEVICE void write_tables(const CodedTables& t, std::uint8_t* to) const {
    for (unsigned half = 0; half < 2; ++half) {
      std::uint8_t* at = to + t.coded_before[half];
      for (unsigned k = 0; k < 8; ++k)
        if ((t.flags[half] >> k & 1) != 0) *at++ = static_cast<std::uint8_t>(t.coded[half] >> (8 * k));
      if (t.flags[half] != 0)
        to[t.coded_bytes + t.flags_before[half]] = static_cast<std::uint8_t>(t.flags[half]);
    }
    to += t.coded_bytes + simt_.popcount(t.top);
    if (lane() < distance_) {
      const Word head = lane() < n_ ? value(lane()) : Word{0};
      for (unsigned k = 0; k < sizeof(Word); ++k)
        to[lane() * sizeof(Word) + k] = static_cast<std::uint8_t>(head >> (8 * k));
    }
    if (lane() < sizeof t.top)
      to[distance_ * sizeof(Word) + lane()] = static_cast<std::uint8_t>(t.top >> (8 * lane()));
  }

 private:
  TAUT_DEVICE unsigned lane() const { return simt_.thread() % warp_lanes; }
  TAUT_DEVICE Word value(std::uint32_t i) const { return input_word(values_[i], rounding_); }

  // Writes a sparse record if it has fewer words than `words`. Returns its words, or 0.
  TAUT_DEVICE std::uint32_t write_sparse(std::uint32_t words) {
    if (!may_be_sparse_) return 0;
    auto* const counters = reinterpret_cast<std::uint32_t*>(shared_.bitmaps);
    SparseEncoder<Word, Simt> sparse(simt_, values_, n_, rounding_, counters);
    const std::uint32_t own = sparse.plan(distance_ * sizeof(Word));
    if (own == 0 || own >= words) return 0;
    sparse.write(reinterpret_cast<std::uint32_t*>(shared_.record), own);
    return own;
  }

  TAUT_DEVICE void write_planes() {
    Differences<Word, Simt> differences(simt_, distance_);
    Word seen = 0;
    TAUT_ROLLED
    for (unsigned step = 0; step < chunk_steps<Word>; ++step) {
      const unsigned block = step * warp_lanes + lane(), first = block * lane_words;
      const unsigned present = n_ <= first ? 0 : n_ - first < lane_words ? n_ - first : lane_words;
      Word x[lane_words];
      load_block(values_ + first, present, x);
      for (unsigned i = 0; i < lane_words; ++i) x[i] = input_word(x[i], rounding_);
      for (unsigned i = 0; i < lane_words; ++i) seen |= x[i];
      differences.convert(x, block, present);
      write_block(x, block);
    }
    any_ = simt_.ballot(seen != 0) != 0;
  }

  // Returns word i of a record that holds the values themselves.
  TAUT_DEVICE std::uint32_t plain_word(std::uint32_t i) const {
    if constexpr (sizeof(Word) >= 4) {
      constexpr unsigned parts = sizeof(Word) / 4;
      return static_cast<std::uint32_t>(value(i / parts) >> (i % parts * 32));
    } else {
      constexpr unsigned values = 4 / sizeof(Word);
      std::uint32_t word = 0;
      for (unsigned k = 0; k < values; ++k)
        if (i * values + k < n_) word |= std::uint32_t{value(i * values + k)} << (bitmap_bits<Word> * k);
      return word;
    }
  }

  const Simt& simt_;
  EncodeWarp& shared_;
  unsigned distance_;
  const Rounding& rounding_;
  const Word* values_;
  std::uint32_t n_, plane_bytes_ = 0;
  bool may_be_sparse_, any_ = false, plain_ = false;
};

// Replaces shared.words, the sizes of a group's records, by the positions of the records. Called by the first
// warp of the block.
template <class Simt>
TAUT_DEVICE void place_group(const Simt& simt, EncodeShared& shared, const Sink& sink, std::uint32_t chunks) {
  const unsigned lane = simt.thread();
  const std::uint32_t group = shared.group;
  const std::uint32_t own = lane < block_warps ? shared.words[lane] : 0, up_to = simt.inclusive_sum(own);
  const std::uint32_t all = simt.shuffle(up_to, warp_lanes - 1);
  if (lane == 0) publish_own_size(simt, sink, group, all);
  const std::uint32_t before = look_back(simt, sink, group);
  if (lane == 0) {
    publish_prefix(simt, sink, group, before + all);
    if (group == 0) sink.index[0] = 0;
  }
  if (lane < block_warps) shared.words[lane] = before + up_to - own;
  if (lane < block_warps && group * block_warps + lane < chunks)
    sink.index[group * block_warps + lane + 1] = before + up_to;
}

template <class Word>
struct EncodeKernel {
  using Job = EncodeJob<Word>;
  using Shared = EncodeShared;
  static constexpr BlockShape shape = shape_for<Word>;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const unsigned warp = simt.thread() / warp_lanes;
    const std::uint32_t group = take_chunk(simt, job.sink, shared.group);
    if (!has_chunk(simt, job.sink, group)) return;
    const std::uint32_t chunk = group * block_warps + warp;
    ChunkEncoder<Word, Simt> encoder(simt, shared.warps[warp], job, chunk < job.chunks ? chunk : 0);
    const std::uint32_t words = chunk < job.chunks ? encoder.encode() : 0;
    if (simt.thread() % warp_lanes == 0) shared.words[warp] = words;
    simt.barrier();
    if (warp == 0) place_group(simt, shared, job.sink, job.chunks);
    simt.barrier();
    // A record that does not fit need not be written: the finish kernel then stores the frame uncompressed.
    const std::uint32_t at = shared.words[warp];
    if (fits(job.sink, at, words)) encoder.copy(words, job.sink.records + at);
  }
};

}  // namespace taut::mpc::cuda
