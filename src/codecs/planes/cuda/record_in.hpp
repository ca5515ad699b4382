// One chunk as it stands in a frame, read by the threads of a block; what record.cpp rejects is rejected
// here.
#pragma once

#include "codecs/planes/cuda/integers.hpp"
#include "codecs/planes/cuda/run.hpp"
#include "codecs/planes/widths.hpp"

namespace taut::planes::cuda {

template <class T>
struct RecordIn {
  Words words;
  std::uint32_t n = 0;  // values of the chunk
  std::uint8_t flags = 0;
  std::int64_t base = 0;
  unsigned width = 0;    // of this thread's block
  std::uint32_t at = 0;  // its first byte
  RunsAt<T> runs;
  std::uint32_t layers_at = 0, layers = 0;
  bool runs_in_line = true;  // their ends are sorted, too

  TAUT_DEVICE bool coded() const { return (flags & has_planes) != 0; }
  TAUT_DEVICE bool is_wide() const { return (flags & wide) != 0; }
  TAUT_DEVICE bool simple() const { return (flags & (wide | has_runs | has_layers)) == 0; }
  TAUT_DEVICE T layer_value(std::uint32_t layer, std::uint32_t place) const {
    return load_bytes<T>(words, layers_at + (layer * n + place) * static_cast<std::uint32_t>(sizeof(T)));
  }
  // The differences of this thread's block.
  template <class Int>
  TAUT_DEVICE void differences(Int (&d)[block_values]) const {
    read_block(words, at, width, d);
  }
};

// Which runs a kernel looks at: that they lie in the record, or each of them.
enum class RunsCheck { lengths, all };

// All threads alike; false: malformed. Barriers in between depend on the record alone.
template <class T, class Simt, RunsCheck Check>
class RecordReader {
 public:
  TAUT_DEVICE RecordReader(Crew<Simt>& crew, RecordIn<T>& record) : crew_(crew), r_(record) {}

  TAUT_DEVICE bool read(const Words& words, std::uint32_t n, Predictor predictor) {
    r_ = {};
    r_.words = words;
    r_.n = n;
    if (words.count == 0) return true;
    if (!read_head(predictor)) return false;
    if (r_.coded() && !read_widths()) return false;
    at_ = static_cast<std::uint32_t>(whole_words(at_));
    if ((r_.flags & has_runs) != 0 && !read_runs()) return false;
    if ((r_.flags & has_layers) != 0 && !read_layers()) return false;
    return whole_words(at_) == std::uint64_t{words.count} * 4;
  }

 private:
  TAUT_DEVICE std::uint64_t left() const { return std::uint64_t{r_.words.count} * 4 - at_; }
  TAUT_DEVICE bool take(std::uint64_t bytes) {
    if (bytes > left()) return false;
    at_ += static_cast<std::uint32_t>(bytes);
    return true;
  }

  TAUT_DEVICE bool read_head(Predictor predictor) {
    const std::uint32_t first = r_.words[0];
    r_.flags = static_cast<std::uint8_t>(first);
    plane_bytes_ = first >> 16;
    if ((r_.flags & ~known_flags) != 0 || (first >> 8 & 0xFF) != 0 || !take(r_.is_wide() ? 12 : 8))
      return false;
    r_.base = r_.is_wide() ? load_bytes<std::int64_t>(r_.words, 4) : load_bytes<std::int32_t>(r_.words, 4);
    if (predictor == Predictor::none && r_.base != 0) return false;
    const bool form = (r_.flags & (dense | byte_widths)) != 0;
    return r_.coded() ? plane_bytes_ > 0 : plane_bytes_ == 0 && !form;
  }

  TAUT_DEVICE bool read_widths() {
    const unsigned t = crew_.thread();
    const auto blocks = static_cast<std::uint32_t>(blocks_of(r_.n)),
               map = static_cast<std::uint32_t>(map_bytes(blocks));
    const bool is_dense = (r_.flags & dense) != 0, by_bytes = (r_.flags & byte_widths) != 0;
    r_.at = at_;
    if (!take(plane_bytes_)) return false;
    std::uint32_t rank = t, entries = blocks, table = at_;
    bool named = t < blocks;
    if (!is_dense) {
      named = t < 8 * map && (r_.words.byte(table + t / 8) >> (t % 8) & 1) != 0;
      const Flagged found = crew_.scan(std::uint32_t{named}, named && t >= blocks);
      if (found.any) return false;
      rank = found.sum.before;
      entries = found.sum.all;
      table += map;
    }
    if (!take((is_dense ? 0 : map) + entry_bytes(entries, r_.flags))) return false;
    const unsigned entry = !named     ? 0u
                           : by_bytes ? r_.words.byte(table + rank)
                                      : r_.words.byte(table + rank / 2) >> (rank % 2 * 4) & 15u;
    const Flagged sums = crew_.scan(entry, entry > (r_.is_wide() ? 64u : 32u));
    r_.width = entry;
    r_.at += sums.sum.before;
    return !sums.any && sums.sum.all == plane_bytes_;
  }

  TAUT_DEVICE bool read_runs() {
    if (!take(4)) return false;
    r_.runs = {r_.words, at_, r_.words.word(at_ - 4), r_.is_wide()};
    const std::uint32_t count = r_.runs.count;
    if (count == 0 || !take(std::uint64_t{count} * run_bytes_of<T>(r_.is_wide()))) return false;
    if (Check == RunsCheck::lengths) return true;
    bool bad = false, in_line = true;
    for (std::uint32_t i = crew_.thread(); i < count; i += crew_threads) {
      const RunAt<T> run = r_.runs[i], before = i > 0 ? r_.runs[i - 1] : RunAt<T>{};
      bad |= run.end() == run.start() || run.end() > r_.n || (i > 0 && run < before);
      in_line &= i == 0 || run.end() >= before.end();
    }
    r_.runs_in_line = !crew_.any(!in_line);
    return !crew_.any(bad);
  }

  TAUT_DEVICE bool read_layers() {
    if (!take(4)) return false;
    r_.layers = r_.words.word(at_ - 4);
    r_.layers_at = at_;
    return r_.layers != 0 && take(std::uint64_t{r_.layers} * r_.n * sizeof(T));
  }

  Crew<Simt>& crew_;
  RecordIn<T>& r_;
  std::uint32_t at_ = 0, plane_bytes_ = 0;
};

}  // namespace taut::planes::cuda
