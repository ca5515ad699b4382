// Decodes frames: values <- frame, or values += frame. Frames with lags or a grid give residuals or codes,
// which later kernels convert (lags.hpp, grid.hpp). A warp processes a chunk, and no warp waits for another.
// The values have the same bits as those of codecs/mpc/kernel_set.hpp. Records that frame_io.cpp rejects are
// rejected here, before any value of the chunk is written.
#pragma once

#include "compressor/gpu/mpc/chunk.hpp"
#include "compressor/gpu/mpc/frame.hpp"
#include "compressor/gpu/mpc/running_sums.hpp"
#include "compressor/gpu/mpc/sparse_decode.hpp"
#include "compressor/values/reduction.hpp"

namespace taut::mpc::cuda {

// A Target is what a decoder does with a decoded word: Replace writes it over the value in memory, Add adds
// it.
//
//   Word                                  unsigned integer with the bits of a value in memory
//   put(word, x), put(quad, x)            outputs one word, or 16 bytes of words, to memory of the GPU

template <class WordType>
struct Replace {
  using Word = WordType;
  template <class V>
  TAUT_DEVICE static void put(V& there, const V& x) {
    there = x;
  }
};

// Adds as reduce_values() does. T is a floating-point type, or, for integers, the word type, whose sums wrap
// around.
template <class T>
struct Add {
  using Word = WordOf<sizeof(T)>;
  TAUT_DEVICE static void put(Word& there, Word x) {
    there = std::bit_cast<Word>(combine(Reduction::sum, std::bit_cast<T>(there), std::bit_cast<T>(x)));
  }
  TAUT_DEVICE static void put(Quad& there, const Quad& x) {
    auto sums = std::bit_cast<WordsOfQuad>(there);
    const auto added = std::bit_cast<WordsOfQuad>(x);
    for (unsigned i = 0; i < sizeof(Quad) / sizeof(Word); ++i) put(sums.words[i], added.words[i]);
    there = std::bit_cast<Quad>(sums);
  }

 private:
  struct WordsOfQuad {
    Word words[sizeof(Quad) / sizeof(Word)];
  };
};

template <class Word>
struct DecodeJob {
  Source source;
  Word* values;
  std::uint64_t count;
  ExpectedFrame expected;
  Scratch* scratch;
};

// Shared memory of a warp. The planes of a coded record are stored at the end of `words`, and are overwritten
// by words as they are read. The unread planes never need more memory than the words that are not yet
// written, apart from the padding to a word of 4 bytes. Reads of the last planes may extend into `after`.
struct DecodeWarp {
  alignas(16) std::uint8_t words[chunk_bytes + sizeof(Quad)];
  Quad after;
  std::uint64_t bitmaps[chunk_vectors];  // of a sparse record: memory for SparseDecoder
  std::uint16_t before[chunk_vectors];   // bytes of the planes of all preceding vectors
};

struct DecodeShared {
  OpenFrame frame;
  DecodeWarp warps[block_warps];
};

// Returns a number whose base-16 digit i is bit i of `bits`, for eight bits.
TAUT_DEVICE std::uint32_t digits_of(std::uint32_t bits) {
  bits = (bits | bits << 12) & 0x000F000F;
  bits = (bits | bits << 6) & 0x03030303;
  return (bits | bits << 3) & 0x11111111;
}

// Returns eight bytes. If digit i of `present` is 1, byte i is the stored byte whose number is digit i of
// `places`; if it is 0, byte i is 0. The stored bytes, one for each digit 1 of `present`, begin at byte
// `first` of the words, which is below 4.
template <class Simt>
TAUT_DEVICE PlaneRow spread(const Simt& simt, const std::uint32_t (&words)[3], unsigned first,
                            std::uint32_t present, std::uint32_t places) {
  const auto shifted = [&](unsigned i) {
    return static_cast<std::uint32_t>((words[i] | std::uint64_t{words[i + 1]} << 32) >> (8 * first));
  };
  // Unless all bytes are present, at most seven are stored: the eighth byte that was read is set to 0, and
  // serves as the 0.
  const bool all = present == 0x11111111;
  const std::uint32_t low = shifted(0), high = shifted(1) & (all ? 0xFFFFFFFF : 0x00FFFFFF);
  const std::uint32_t from = places | 7 * (0x11111111 - present);
  return {simt.permute_bytes(low, high, from), simt.permute_bytes(low, high, from >> 16)};
}

// Decodes one chunk. Target: Replace, or Add.
template <class Target, class Simt>
class ChunkDecoder {
 public:
  using Word = typename Target::Word;

  TAUT_DEVICE ChunkDecoder(const Simt& simt, DecodeWarp& shared, const DecodeJob<Word>& job,
                           unsigned distance, std::uint32_t chunk)
      : simt_(simt),
        shared_(shared),
        distance_(distance),
        values_(job.values + std::uint64_t{chunk} * chunk_words<Word>),
        n_(words_of<Word>(job.count, chunk)) {}

  // Stores the values of a chunk that holds the values themselves, at `from`.
  TAUT_DEVICE void copy(const std::uint32_t* from) const {
    TAUT_ROLLED
    for (std::uint32_t i = lane(); i < n_; i += warp_lanes) Target::put(values_[i], plain(from, i));
  }

  // Decodes a record. Returns false if the record is malformed.
  TAUT_DEVICE bool decode(const Words& record) {
    const auto plain_words = static_cast<std::uint32_t>(units_of(n_ * sizeof(Word)));
    if (record.count > plain_words) return false;
    if (record.count == plain_words) {
      copy(record.data);
    } else if (record.count == 0) {
      TAUT_ROLLED
      for (std::uint32_t i = lane(); i < n_; i += warp_lanes) Target::put(values_[i], Word{0});
    } else if (is_sparse(record, heads_bytes())) {
      auto* const before = reinterpret_cast<std::uint32_t*>(shared_.bitmaps);
      if (!SparseDecoder<Word, Simt>(simt_, record, shared_.words, before).decode(n_)) return false;
      simt_.sync_warp();
      store();
    } else {
      if (!read_tables(record)) return false;
      read_words(distance_ > 0 ? head(record) : Word{0});
      store();
    }
    return true;
  }

  // Parts of decode().

  // Reads the tables from the end of the record: top, heads, flags, coded bitmaps. Each lane reads two
  // vectors. Returns false if the record is malformed.
  TAUT_DEVICE bool read_tables(const Words& record) {
    const auto vectors = static_cast<unsigned>(vectors_of(n_ * sizeof(Word)));
    if (4 * record.count < 8 + heads_bytes()) return false;
    const std::uint64_t top = record.data[record.count - 2] | std::uint64_t{record.data[record.count - 1]}
                                                                  << 32;
    const std::uint32_t flags_end = heads_end(record) - heads_bytes(), flags = simt_.popcount(top);
    if ((vectors < chunk_vectors && top >> vectors != 0) || flags_end < flags) return false;
    std::uint32_t flag[2], count = 0;
    for (unsigned k = 0; k < 2; ++k) {
      const unsigned v = 2 * lane() + k;
      const std::uint32_t rank = simt_.popcount(top & below(v));
      flag[k] = (top >> v & 1) != 0 ? record.byte(flags_end - flags + rank) : 0u;
      count += simt_.popcount(flag[k]);
    }
    const std::uint32_t up_to = simt_.inclusive_sum(count), coded = simt_.shuffle(up_to, warp_lanes - 1);
    if (flags_end - flags < coded) return false;
    const std::uint32_t planes_end = flags_end - flags - coded;
    std::uint32_t at = planes_end + up_to - count;
    std::uint64_t bitmaps[2];
    for (unsigned k = 0; k < 2; ++k) {
      bitmaps[k] = coded_bitmaps(record, at, flag[k]);
      at += simt_.popcount(flag[k]);
    }
    undo_exclusive_or<Word>(simt_, bitmaps);
    for (unsigned k = 0; k < 2; ++k)
      if (2 * lane() + k >= vectors) bitmaps[k] = 0;
    return read_planes(record, planes_end, bitmaps);
  }

  // Decodes the differences of a block. `at` is the start of the planes of all blocks.
  TAUT_DEVICE void read_block(const std::uint8_t* at, unsigned block, Word (&x)[lane_words]) const {
    constexpr unsigned blocks = 64 / bitmap_bits<Word>;  // blocks of a vector
    const unsigned v = block / blocks, shift = block % blocks * bitmap_bits<Word>;
    const std::uint64_t bitmaps = shared_.bitmaps[v];
    const auto planes = reversed_bits(simt_, static_cast<Word>(bitmaps >> shift));
    std::uint32_t from = shared_.before[v] + simt_.popcount(bitmaps & below(shift));
    ByteRow rows[sizeof(Word)];
    for (unsigned row = sizeof(Word); row-- > 0;) {
      const std::uint32_t present = static_cast<std::uint32_t>(planes >> (8 * row)) & 0xFF;
      rows[row] = to_bytes(simt_, stored_planes(at, from, present));
      from += simt_.popcount(present);
    }
    for (unsigned i = 0; i < lane_words; ++i) {
      const Word digits = integer_of<Word>(simt_, rows, i);
      x[i] = static_cast<Word>((digits ^ negabinary_mask<Word>)-negabinary_mask<Word>);
    }
  }

  // Replaces the differences of neighbouring words by the words, in a block of each lane. `before` is the
  // word before the first lane's block, and then the one before its next block.
  TAUT_DEVICE void add_up(Word (&x)[lane_words], InRegister<Word>& before) const {
    InRegister<Word> sums[lane_words] = {x[0]};
    for (unsigned i = 1; i < lane_words; ++i) sums[i] = sums[i - 1] + x[i];
    const InRegister<Word> up_to = simt_.inclusive_sum(sums[lane_words - 1]),
                           above = before + up_to - sums[lane_words - 1];
    for (unsigned i = 0; i < lane_words; ++i) x[i] = static_cast<Word>(above + sums[i]);
    before += simt_.shuffle(up_to, warp_lanes - 1);
  }

 private:
  TAUT_DEVICE unsigned lane() const { return simt_.thread() % warp_lanes; }
  TAUT_DEVICE std::uint32_t heads_bytes() const { return distance_ * static_cast<unsigned>(sizeof(Word)); }
  TAUT_DEVICE static std::uint32_t heads_end(const Words& record) { return 4 * record.count - 8; }

  TAUT_DEVICE static Word plain(const std::uint32_t* from, std::uint32_t i) {
    if constexpr (sizeof(Word) == 8) return from[2 * i] | std::uint64_t{from[2 * i + 1]} << 32;
    return load_as<Word>(reinterpret_cast<const std::uint8_t*>(from) + i * sizeof(Word));
  }

  // Returns the coded bitmaps of a vector. Bytes whose bits of `present` are set are stored from byte `from`
  // of the record on, the lowest one first; the others are 0.
  TAUT_DEVICE std::uint64_t coded_bitmaps(const Words& record, std::uint32_t from,
                                          std::uint32_t present) const {
    const std::uint32_t words[3] = {record[from / 4], record[from / 4 + 1], record[from / 4 + 2]};
    const std::uint32_t digits = digits_of(present);
    const PlaneRow bytes = spread(simt_, words, from % 4, digits, digits * 0x11111110);
    return bytes.low | std::uint64_t{bytes.high} << 32;
  }

  // Returns the planes of a row. Those whose bits of `present` are set are stored from byte `from` of `at`
  // on, the top one first; the others are 0. Up to 11 bytes from there on are read.
  TAUT_DEVICE PlaneRow stored_planes(const std::uint8_t* at, std::uint32_t from,
                                     std::uint32_t present) const {
    std::uint32_t words[3];
    for (unsigned i = 0; i < 3; ++i) words[i] = load_as<std::uint32_t>(at + from / 4 * 4 + 4 * i);
    const std::uint32_t digits = digits_of(present);
    // Digit k counts the stored planes above plane k.
    const std::uint32_t places = (simt_.popcount(present) - digits) * 0x11111111;
    return spread(simt_, words, from % 4, digits, places);
  }

  // Stores the bitmaps and copies the planes to shared memory. Returns false if the planes do not fill their
  // part of the record.
  TAUT_DEVICE bool read_planes(const Words& record, std::uint32_t end, const std::uint64_t (&bitmaps)[2]) {
    const std::uint32_t first = simt_.popcount(bitmaps[0]), both = first + simt_.popcount(bitmaps[1]);
    const std::uint32_t up_to = simt_.inclusive_sum(both), taken = simt_.shuffle(up_to, warp_lanes - 1);
    if (taken > end || end - taken >= index_unit) return false;
    const bool filled = taken + lane() < end && record.byte(taken + lane()) != 0;
    if (simt_.ballot(filled) != 0) return false;
    for (unsigned k = 0; k < 2; ++k) {
      shared_.bitmaps[2 * lane() + k] = bitmaps[k];
      shared_.before[2 * lane() + k] = static_cast<std::uint16_t>(up_to - both + (k == 0 ? 0 : first));
    }
    const auto words = static_cast<std::uint32_t>(units_of(taken));
    std::uint8_t* const to = shared_.words + sizeof shared_.words - 4 * words;
    TAUT_ROLLED
    for (std::uint32_t i = lane(); i < words; i += warp_lanes) store_as(to + 4 * i, record.data[i]);
    planes_ = to;
    simt_.sync_warp();
    return true;
  }

  // Converts planes to words, in shared memory. `head` is the word before the first one of this lane's
  // column.
  TAUT_DEVICE void read_words(Word head) {
    InRegister<Word> before = head;
    TAUT_ROLLED
    for (unsigned step = 0; step < chunk_steps<Word>; ++step) {
      const unsigned block = step * warp_lanes + lane();
      Word x[lane_words];
      read_block(planes_, block, x);
      if (distance_ == 1) add_up(x, before);
      simt_.sync_warp();
      struct Block {
        Word words[lane_words];
      } read;
      std::memcpy(&read, x, sizeof read);
      store_as(shared_.words + block * sizeof read, read);
    }
    simt_.sync_warp();
    if (distance_ < 2) return;
    RunningSums<Word, Simt>(simt_, distance_, head, shared_.words, n_).undo();
    simt_.sync_warp();
  }

  // Returns the head of column lane % distance.
  TAUT_DEVICE Word head(const Words& record) const {
    constexpr auto word_bytes = static_cast<std::uint32_t>(sizeof(Word));
    const std::uint32_t at = heads_end(record) - heads_bytes() + lane() % distance_ * word_bytes;
    Word head = 0;
    for (unsigned k = 0; k < word_bytes; ++k)
      head = static_cast<Word>(head | static_cast<Word>(record.byte(at + k)) << (8 * k));
    return head;
  }

  TAUT_DEVICE void store() const {
    if (reinterpret_cast<std::uintptr_t>(values_) % sizeof(Quad) == 0) {
      constexpr unsigned words_per_quad = sizeof(Quad) / sizeof(Word);
      auto* const to = reinterpret_cast<Quad*>(values_);
      for (std::uint32_t i = lane(); i < n_ / words_per_quad; i += warp_lanes)
        Target::put(to[i], load_as<Quad>(shared_.words + i * sizeof(Quad)));
      const std::uint32_t last = n_ / words_per_quad * words_per_quad + lane();
      if (last < n_) Target::put(values_[last], load_as<Word>(shared_.words + last * sizeof(Word)));
    } else {
      TAUT_ROLLED
      for (std::uint32_t i = lane(); i < n_; i += warp_lanes)
        Target::put(values_[i], load_as<Word>(shared_.words + i * sizeof(Word)));
    }
  }

  const Simt& simt_;
  DecodeWarp& shared_;
  unsigned distance_;
  Word* values_;
  std::uint32_t n_;
  const std::uint8_t* planes_ = nullptr;
};

template <class Target>
struct DecodeKernel {
  using Job = DecodeJob<typename Target::Word>;
  using Shared = DecodeShared;
  static constexpr BlockShape shape = shape_for<typename Target::Word>;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const unsigned warp = simt.thread() / warp_lanes;
    const std::uint32_t chunk = simt.block() * block_warps + warp;
    open(simt, shared.frame, job);
    const OpenFrame& frame = shared.frame;
    if (chunk >= job.expected.chunks || frame.status != 0) return;
    ChunkDecoder<Target, Simt> decoder(simt, shared.warps[warp], job, frame.distance, chunk);
    if (frame.stored)
      return decoder.copy(job.source.frame + header_words + std::uint64_t{chunk} * (chunk_bytes / 4));
    Source source = job.source;
    source.frame += frame.words_before_index;
    Words record;
    const bool good =
        find_record(source, frame.record_words, job.expected.chunks, chunk, record) && decoder.decode(record);
    if (!good && simt.thread() % warp_lanes == 0)
      simt.atomic_max(&job.scratch->control.failure, code(Status::corrupt_frame));
  }

 private:
  // Opens the frame in shared memory. Takes one barrier.
  template <class Simt>
  TAUT_DEVICE static void open(const Simt& simt, OpenFrame& frame, const Job& job) {
    if (simt.thread() < warp_lanes) {
      const OpenFrame f = open_frame(simt, job.source, job.expected, job.scratch->crc);
      if (simt.thread() == 0) frame = f;
      if (simt.thread() == 0 && f.status != 0) simt.atomic_max(&job.scratch->control.failure, f.status);
    }
    simt.barrier();
  }
};

}  // namespace taut::mpc::cuda
