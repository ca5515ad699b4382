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
  template <class Simt, class Int>
  TAUT_DEVICE void differences(const Simt& simt, Int (&d)[block_values]) const {
    read_block(simt, words, at, width, d);
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
    return words.count == 0 || (read_head(predictor) && read_rest());
  }

  TAUT_DEVICE bool read_head(Predictor predictor) {
    if (r_.words.count < 2) return false;
    const std::uint32_t first = r_.words.at[0];
    r_.flags = static_cast<std::uint8_t>(first);
    plane_bytes_ = first >> 16;
    if ((first & 0xFF80) != 0) return false;  // unknown flags, or what has to be 0
    static_assert(known_flags == 0x7F);
    at_ = r_.is_wide() ? 12 : 8;
    if (r_.is_wide() && r_.words.count < 3) return false;
    r_.base = r_.is_wide() ? load_bytes<std::int64_t>(r_.words, 4) : static_cast<std::int32_t>(r_.words.at[1]);
    if (predictor == Predictor::none && r_.base != 0) return false;
    const bool form = (r_.flags & (dense | byte_widths)) != 0;
    return r_.coded() ? plane_bytes_ > 0 : plane_bytes_ == 0 && !form;
  }

  // What follows the base.
  TAUT_DEVICE bool read_rest() {
    if (r_.coded() && !read_widths()) return false;
    at_ = static_cast<std::uint32_t>(whole_words(at_));
    if ((r_.flags & has_runs) != 0 && !read_runs()) return false;
    if ((r_.flags & has_layers) != 0 && !read_layers()) return false;
    return whole_words(at_) / 4 == r_.words.count;
  }

 private:
  TAUT_DEVICE std::uint64_t left() const { return std::uint64_t{r_.words.count} * 4 - at_; }
  TAUT_DEVICE bool take(std::uint64_t bytes) {
    if (bytes > left()) return false;
    at_ += static_cast<std::uint32_t>(bytes);
    return true;
  }
  // Of planes and table, which are far below 4 GiB.
  TAUT_DEVICE bool take_part(std::uint32_t bytes) {
    at_ += bytes;
    return (at_ + 3) / 4 <= r_.words.count;
  }

  TAUT_DEVICE bool read_widths() {
    const unsigned t = crew_.thread();
    const auto blocks = static_cast<std::uint32_t>(blocks_of(r_.n));
    const bool by_bytes = (r_.flags & byte_widths) != 0;
    const std::uint32_t planes = at_;
    at_ += plane_bytes_;
    Scanned<std::uint32_t> rank{t, blocks};
    bool named = t < blocks;
    if ((r_.flags & dense) == 0 && !read_map(blocks, named, rank)) return false;
    const std::uint32_t table = at_;
    if (!take_part(static_cast<std::uint32_t>(entry_bytes(rank.all, r_.flags)))) return false;
    if (named)
      r_.width = by_bytes ? r_.words.byte(table + rank.before)
                          : r_.words.byte(table + rank.before / 2) >> (rank.before % 2 * 4) & 15u;
    const bool bad = r_.width > (r_.is_wide() ? 64u : 32u);
    const auto sum = crew_.scan(bad ? 1u << 16 : r_.width);  // more than plane_bytes_ can be
    r_.at = planes + sum.before;
    return sum.all == plane_bytes_;
  }

  // Which blocks have an entry, and how many of them stand before this one.
  TAUT_DEVICE bool read_map(std::uint32_t blocks, bool& named, Scanned<std::uint32_t>& rank) {
    const unsigned t = crew_.thread();
    const auto map = static_cast<std::uint32_t>(map_bytes(blocks)), at = at_;
    if (!take_part(map)) return false;
    const bool marked = t < 8 * map && (r_.words.byte(at + t / 8) >> (t % 8) & 1) != 0;
    const bool beyond = marked && !named;
    named = marked;
    rank = crew_.scan(marked | static_cast<std::uint32_t>(beyond) << 16);
    return rank.all < 1u << 16;
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
