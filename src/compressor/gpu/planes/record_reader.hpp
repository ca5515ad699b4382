// Parses the record of one chunk, by all threads of a thread block together. Rejects the records that
// record.cpp rejects.
#pragma once

#include "compressor/codecs/planes/format/format.hpp"
#include "compressor/codecs/planes/format/lags.hpp"
#include "compressor/gpu/planes/integers.hpp"
#include "compressor/gpu/planes/packed_widths.hpp"
#include "compressor/gpu/planes/run.hpp"

namespace taut::planes::cuda {

// First words of a record.
struct RecordHead {
  Words words;  // the whole record; empty: a chunk of zeros
  std::uint8_t flags = 0;
  std::uint32_t plane_bytes = 0;
  std::int64_t base = 0;

  TAUT_DEVICE bool has(unsigned any_of) const { return (flags & any_of) != 0; }
  TAUT_DEVICE bool simple() const { return !has(wide | has_runs | has_layers); }
  // Returns true if the record is one raw layer of n values and nothing else: these are the decoded values.
  template <class T>
  TAUT_DEVICE bool is_raw_layer(std::uint32_t n) const {
    return flags == has_layers && base == 0 && words.count == layer_words<T>(n) && words.data[2] == 1;
  }
  TAUT_DEVICE std::uint32_t bytes() const { return words.count == 0 ? 0 : has(wide) ? 12 : 8; }
};

// Reads the head of a record. Called by one thread. Returns false if the head is malformed. `Referenced`: the
// frame, of values of type T, may have references.
template <bool Referenced = false, class T = float>
TAUT_DEVICE bool read_head(const Words& words, const Prediction& prediction, RecordHead& head) {
  head = {};
  head.words = words;
  if (words.count == 0) return true;
  if (words.count < 2) return false;
  const std::uint32_t first = words.data[0];
  head.flags = static_cast<std::uint8_t>(first);
  head.plane_bytes = first >> 16;
  static_assert(known_flags == 0x7F);
  const bool by_references = Referenced && prediction.references > 0;
  if ((first & (by_references ? 0xFF00u : 0xFF80u)) != 0) return false;  // an unknown flag, or a reserved bit
  if (head.has(wide) && words.count < 3) return false;
  head.base = head.has(wide) ? load_bytes<std::int64_t>(words, 4) : static_cast<std::int32_t>(words.data[1]);
  if (prediction.inner == Predictor::none && head.base != 0) return false;
  if ((prediction.lags.n > 0 || by_references) && head.has(has_layers)) return false;
  if ((prediction.lags.n > 0 || (by_references && sizeof(T) != 8)) && head.has(wide)) return false;
  constexpr unsigned forms = dense | byte_widths | (Referenced ? two_bits : 0);
  return head.has(has_planes) ? head.plane_bytes > 0 : head.plane_bytes == 0 && !head.has(forms);
}

// A record, and the places of its parts.
template <class T>
struct ParsedRecord : RecordHead {
  std::uint32_t n = 0;          // number of values in the chunk
  std::uint32_t widths = 0;     // widths of this thread's blocks: packed_widths.hpp
  std::uint32_t blocks_at = 0;  // first byte of this thread's blocks
  RunsView<T> runs;             // RunsCheck::by_caller: only `first_byte`, that of the number of runs
  std::uint32_t layers_at = 0, layers = 0;  // first byte, and number, of the raw layers
  bool runs_sorted_by_end = true;           // all records sort them by their starts

  TAUT_DEVICE T layer_value(std::uint32_t layer, std::uint32_t place) const {
    return load_bytes<T>(words, layers_at + (layer * n + place) * static_cast<std::uint32_t>(sizeof(T)));
  }
  // Decodes the differences of a thread's only block.
  template <class Simt, class Int>
  TAUT_DEVICE void differences(const Simt& simt, Int (&d)[block_values]) const {
    read_block(simt, words, blocks_at, widths, d);
  }
};

// The extent to which a RecordReader checks the runs of a record.
enum class RunsCheck {
  absent,     // the record has neither runs nor layers
  by_caller,  // not at all: the caller reads the runs. The record has no 64-bit integers and no layers
  lengths,    // the runs are inside the record
  all,        // each run is valid too
};

// Reads a record after its head. All threads call it together. Whether they reach a barrier depends only on
// the head and on results of scans, never on what one thread alone has read. So the thread block cannot
// deadlock if other work of the program, by mistake, overwrites the frame meanwhile.
// `Referenced`: the table may name widths, or have a sparse bitmap.
template <class T, class Threads, RunsCheck Check, bool Referenced = false>
class RecordReader {
 public:
  // `n`: values in the chunk. `addends`: of the frame.
  TAUT_DEVICE RecordReader(Threads& threads, ParsedRecord<T>& record, const RecordHead& head, std::uint32_t n,
                           std::uint32_t addends)
      : threads_(threads), record_(record), max_runs_(std::uint64_t{addends} * n) {
    record_ = {};
    static_cast<RecordHead&>(record_) = head;
    // The compiler leaves out the code for forms whose flags it knows to be 0.
    if (stops_before_runs) record_.flags &= static_cast<std::uint8_t>(~(wide | has_layers));
    if (Check == RunsCheck::absent) record_.flags &= static_cast<std::uint8_t>(~has_runs);
    record_.words.data = threads.simt().global(head.words.data);
    record_.n = n;
    end_ = head.bytes();
  }

  // Returns false if the record is malformed.
  TAUT_DEVICE bool read() {
    if (record_.words.count == 0) return true;
    read_widths();
    return read_rest(threads_.scan(sum_of_widths()));
  }

  TAUT_DEVICE std::uint32_t sum_of_widths() const {
    return cuda::sum_of_widths<Threads::blocks_per_thread>(record_.widths);
  }

  // Reads the widths of this thread's blocks, and checks the end of a record that is only read that far.
  // `runs.first_byte` becomes the byte of the number of runs, if the caller reads them.
  TAUT_DEVICE void read_widths() {
    end_ += record_.plane_bytes;
    if (record_.has(has_planes)) read_table();
    const std::uint32_t end = (end_ + 3) / 4;
    if (Check == RunsCheck::absent) good_ &= end == record_.words.count;
    if (Check == RunsCheck::by_caller) good_ &= end < record_.words.count;
    if (Check == RunsCheck::by_caller) record_.runs.first_byte = 4 * end;
  }

  // Reads the rest of the record, given the sums of the widths. Returns false if the record is malformed.
  TAUT_DEVICE bool read_rest(const Scanned<std::uint32_t>& widths) {
    record_.blocks_at = record_.bytes() + widths.before;
    if (widths.total != record_.plane_bytes || !good_) return false;
    if (stops_before_runs) return true;
    end_ = static_cast<std::uint32_t>(whole_words(end_));
    if (record_.has(has_runs) && !read_runs()) return false;
    if (record_.has(has_layers) && !read_layers()) return false;
    return whole_words(end_) / 4 == record_.words.count;
  }

 private:
  static constexpr bool stops_before_runs = Check == RunsCheck::absent || Check == RunsCheck::by_caller;

  TAUT_DEVICE void read_table() {
    if constexpr (Referenced)
      if (table_form(record_.flags) == TableForm::names) return read_names();
    const std::uint32_t blocks = blocks_in(record_.n);
    Scanned<std::uint32_t> rank{threads_.thread() * Threads::blocks_per_thread, blocks};
    std::uint32_t entry_mask = existing_mask<Threads::blocks_per_thread>(threads_.thread(), blocks);
    if (!record_.has(dense)) read_map(blocks, entry_mask, rank);
    if constexpr (Referenced)
      if (record_.has(two_bits)) read_sparse_map(blocks, entry_mask, rank);
    const std::uint32_t table = end_;
    take_table(static_cast<std::uint32_t>(entry_bytes(rank.total, record_.flags)));
    if (!good_) entry_mask = 0;
    if (!record_.has(byte_widths)) {
      if (entry_mask != 0) record_.widths = nibbles(table, rank.before, entry_mask);
    } else {
      if (entry_mask != 0) record_.widths = bytes(table + rank.before, entry_mask);
      if (threads_.any(any_above<Threads::blocks_per_thread>(record_.widths, record_.has(wide) ? 64 : 32)))
        good_ = false;
    }
  }

  // Reads a table that names three widths. A thread has one block.
  TAUT_DEVICE void read_names() {
    const std::uint32_t t = threads_.thread(), blocks = blocks_in(record_.n), half = (blocks + 1) / 2,
                        at = end_;
    take_table(static_cast<std::uint32_t>(names_bytes + two_bit_bytes(blocks)));
    std::uint32_t names = 0, entry = 0;
    bool bad = false;
    if (good_ && t < 2 * half) {
      names = record_.words.word(at) & 0xFFFF;
      const std::uint32_t place = t < half ? t : t - half,
                          byte = record_.words.byte(at + std::uint32_t{names_bytes} + place / 2);
      entry = byte >> (place % 2 * 4 + (t < half ? 0 : 2)) & 3;
      const bool ends = place + 1 == half && place % 2 == 0;  // no block has the other half of this byte
      bad = names >> (4 * named_widths) != 0 || (t >= blocks && entry != 0) || (ends && byte >> 4 != 0);
    }
    const bool other = entry == named_widths && t < blocks;
    const auto others = threads_.scan(std::uint32_t{other} | std::uint32_t{bad} << 16);
    const std::uint32_t list = end_, rank = others.before & 0xFFFF;
    take_table(static_cast<std::uint32_t>(entry_bytes(others.total & 0xFFFF, record_.flags)));
    good_ &= others.total < 1u << 16;
    if (good_ && t < blocks && !other) record_.widths = names >> (4 * entry) & 15;
    if (good_ && other)
      record_.widths = record_.has(byte_widths) ? bytes(list + rank, 1) : nibbles(list, rank, 1);
    if (record_.has(byte_widths) && threads_.any(record_.widths > (record_.has(wide) ? 64u : 32u)))
      good_ = false;
  }

  // Return the widths of this thread's blocks that have an entry in the table, a bit of `entry_mask` for
  // each: from entry `first` on, or from byte `at` on.
  TAUT_DEVICE std::uint32_t nibbles(std::uint32_t table, std::uint32_t first,
                                    std::uint32_t entry_mask) const {
    const std::uint32_t at = table + first / 2, shift = first % 2 * 4;
    if constexpr (Threads::blocks_per_thread == 1) {
      return record_.words.byte(at) >> shift & 15u;
    } else {
      return spread(bytes_of_nibbles(record_.words.word(at) >> shift), entry_mask);
    }
  }
  TAUT_DEVICE std::uint32_t bytes(std::uint32_t at, std::uint32_t entry_mask) const {
    if constexpr (Threads::blocks_per_thread == 1) {
      return record_.words.byte(at);
    } else {
      return spread(record_.words.word(at), entry_mask);
    }
  }
  TAUT_DEVICE std::uint32_t spread(std::uint32_t entries, std::uint32_t entry_mask) const {
    return entry_mask == 15 ? entries : spread_bytes(threads_.simt(), entries, entry_mask);
  }

  TAUT_DEVICE std::uint64_t bytes_left() const { return std::uint64_t{record_.words.count} * 4 - end_; }
  TAUT_DEVICE bool take(std::uint64_t bytes) {
    if (bytes > bytes_left()) return false;
    end_ += static_cast<std::uint32_t>(bytes);
    return true;
  }
  // Skips `bytes` bytes of the width table. All data before the end of the table are in the record if the end
  // is; the sum of these sizes is far below 4 GiB.
  TAUT_DEVICE void take_table(std::uint32_t bytes) {
    end_ += bytes;
    good_ &= (end_ + 3) / 4 <= record_.words.count;
  }

  // Reads the map of blocks with an entry: `entry_mask` has a bit for each block of this thread, `rank`
  // counts the entries before them.
  TAUT_DEVICE void read_map(std::uint32_t blocks, std::uint32_t& entry_mask, Scanned<std::uint32_t>& rank) {
    const unsigned first = threads_.thread() * Threads::blocks_per_thread;
    const auto map = static_cast<std::uint32_t>(bitmap_bytes(blocks)), at = end_;
    take_table(map);
    const std::uint32_t eight = good_ && first < 8 * map ? record_.words.byte(at + first / 8) : 0u,
                        marked = eight >> (first % 8) & ((1u << Threads::blocks_per_thread) - 1);
    const bool beyond = (marked & ~entry_mask) != 0;
    entry_mask = marked;
    rank = threads_.scan(count_marked<Threads::blocks_per_thread>(threads_.simt(), marked) |
                         static_cast<std::uint32_t>(beyond) << 16);
    good_ &= rank.total < 1u << 16;
  }

  // As read_map(), of a sparse bitmap. A thread has one block; the last thread of each byte of the bitmap
  // counts it.
  TAUT_DEVICE void read_sparse_map(std::uint32_t blocks, std::uint32_t& entry_mask,
                                   Scanned<std::uint32_t>& rank) {
    const std::uint32_t t = threads_.thread(), marks = end_,
                        mark_bytes = static_cast<std::uint32_t>(sparse_bitmap_bytes(blocks, 0));
    take_table(mark_bytes);
    const std::uint32_t mark =
        good_ && t < 64 * mark_bytes ? record_.words.byte(marks + t / 64) >> (t / 8 % 8) & 1u : 0u;
    const bool marked =
        threads_.simt().shuffle(mark, threads_.lane() | 7) != 0;  // the mark that the last of eight counts
    const auto place = threads_.scan(std::uint32_t{marked && t % 8 == 7});
    const std::uint32_t at = end_;
    take_table(place.total);
    const std::uint32_t eight = good_ && marked ? record_.words.byte(at + place.before) : 0u;
    const bool bad = marked && (eight == 0 || t / 8 >= bitmap_bytes(blocks));
    const std::uint32_t bit = eight >> (t % 8) & 1;
    const bool beyond = bit > entry_mask;
    entry_mask = bit;
    rank = threads_.scan(bit | static_cast<std::uint32_t>(bad || beyond) << 16);
    good_ &= rank.total < 1u << 16;
  }

  // Returns the word before byte `at`, as the first thread reads it. Takes one barrier.
  TAUT_DEVICE std::uint32_t number_before(std::uint32_t at) {
    return threads_.scan(threads_.thread() == 0 ? record_.words.word(at - 4) : 0u).total;
  }

  TAUT_DEVICE bool read_runs() {
    if (!take(4)) return false;
    record_.runs = {record_.words, end_, number_before(end_), record_.has(wide)};
    const std::uint32_t count = record_.runs.count;
    if (count == 0 || !take(std::uint64_t{count} * run_bytes_of<T>(record_.has(wide)))) return false;
    if (Check == RunsCheck::lengths) return true;
    if (count > max_runs_) return false;
    bool bad = false, ends_sorted = true;
    for (std::uint32_t i = threads_.thread(); i < count; i += Threads::threads) {
      const DecodedRun<T> run = record_.runs[i], before = i > 0 ? record_.runs[i - 1] : DecodedRun<T>{};
      bad |= run.end() == run.start() || run.end() > record_.n || (i > 0 && run < before);
      ends_sorted &= i == 0 || run.end() >= before.end();
    }
    record_.runs_sorted_by_end = !threads_.any(!ends_sorted);
    return !threads_.any(bad);
  }

  TAUT_DEVICE bool read_layers() {
    if (!take(4)) return false;
    record_.layers = number_before(end_);
    record_.layers_at = end_;
    return record_.layers != 0 && take(std::uint64_t{record_.layers} * record_.n * sizeof(T));
  }

  Threads& threads_;
  ParsedRecord<T>& record_;
  std::uint64_t max_runs_;
  std::uint32_t end_ = 0;  // end of the data read so far, in bytes
  bool good_ = true;       // no error found so far
};

// Calls read_rest() for two records after their read_widths(), with one scan for both: each sum of widths is
// below 2^16. Returns false if a record is malformed.
template <class Threads, class Reader>
TAUT_DEVICE bool read_rests(Threads& threads, Reader& a, Reader& b) {
  const auto widths = threads.scan(a.sum_of_widths() | b.sum_of_widths() << 16);
  const bool good = a.read_rest({widths.before & 0xFFFF, widths.total & 0xFFFF});
  return b.read_rest({widths.before >> 16, widths.total >> 16}) && good;
}

}  // namespace taut::planes::cuda
