// The first step of a decoding, which checks the frame's header in each block; the choice of a grid, which
// the kernels of an encoding share; and the last step of each call, which writes a header or the values of a
// stored frame. A word has 4 bytes here, unless a comment says that it is one of the values.
#pragma once

#include "compressor/codecs/mpc/grid.hpp"
#include "compressor/frame/lags.hpp"
#include "compressor/gpu/mpc/chunk.hpp"
#include "compressor/gpu/simt/source.hpp"

namespace taut::mpc::cuda {

// Contents of an opened frame's header.
struct OpenFrame {
  std::uint32_t status;         // not 0: the other members are invalid
  unsigned distance;            // distance to the predicting word of the values; 0: no prediction
  unsigned words_before_index;  // words between header and index
  bool stored;
  std::uint32_t record_words;  // words of all records
};

// Head of the scratch memory; followed by a ChunkState for each group of chunks.
using Scratch = ScratchHead;

// Frame that a call accepts.
struct ExpectedFrame {
  std::uint64_t values;  // number of values that the frame must hold
  DType type;
  std::uint32_t value_bytes;
  std::uint32_t chunks;
  std::uint64_t words;  // number of words of the values
  bool lagged = false;  // later kernels undo lags and grids; otherwise frames with them need the host
  std::uint32_t grid_bytes = 0;  // size of a word of the values, if the type may have a grid; otherwise 0
};

// The grid that a frame's header and payload describe.
struct GridView {
  HeaderView header;

  TAUT_DEVICE bool has(unsigned flag) const { return (header.parameter(0) & flag) != 0; }
  TAUT_DEVICE bool any() const { return has(product_flag | quotient_flag); }
  TAUT_DEVICE bool integers_alone() const { return (header.parameter(1) & integers_flag) != 0; }
  TAUT_DEVICE unsigned distance() const {
    return header.parameter(0) & ~(product_flag | quotient_flag | unit_flag | base_flag);
  }
  TAUT_DEVICE unsigned lags() const { return header.parameter(1) & ~integers_flag; }

  // Returns the number of words in the payload.
  TAUT_DEVICE unsigned words() const { return any() ? 4 + 2 * (has(unit_flag) + has(base_flag)) : 0; }
  TAUT_DEVICE double step() const { return header.double_at(header_words); }
  TAUT_DEVICE double offset() const { return header.double_at(header_words + 2); }
  TAUT_DEVICE double unit() const { return has(unit_flag) ? header.double_at(header_words + 4) : 0; }
  TAUT_DEVICE std::uint64_t base() const {
    return has(base_flag) ? header.long_at(header_words + words() - 2) : 0;
  }

  TAUT_DEVICE Grid grid() const {
    Grid grid{has(product_flag) ? Grid::Form::product : Grid::Form::quotient, step(), offset()};
    grid.unit = unit();
    grid.integers_alone = integers_alone();
    grid.base = base();
    return grid;
  }

  // Returns true if frame_io.cpp accepts the grid. The payload has all words of the grid.
  TAUT_DEVICE bool good(std::uint32_t word_bytes) const {
    if (!any()) return !has(unit_flag | base_flag) && !integers_alone();
    const auto finite = [](double x) { return x - x == 0; };
    return word_bytes != 0 && !(has(product_flag) && has(quotient_flag)) && header.bound_kind() == 0 &&
           step() > 0 && finite(step()) && finite(offset()) && (!has(unit_flag) || good_unit(word_bytes));
  }

 private:
  // Returns true for a power of two within limits.
  TAUT_DEVICE bool good_unit(std::uint32_t word_bytes) const {
    using Single = GridWords<std::uint32_t>;
    using Double = GridWords<std::uint64_t>;
    const std::uint64_t bits = header.long_at(header_words + 4);
    const int exponent = static_cast<int>(bits >> 52) - 1023;
    const int min_exponent = word_bytes == 4 ? Single::min_unit_exponent : Double::min_unit_exponent;
    const int max_exponent = word_bytes == 4 ? Single::max_unit_exponent : Double::max_unit_exponent;
    return bits << 12 == 0 && exponent >= min_exponent && exponent <= max_exponent;
  }
};

// Returns true if a frame of `words` words of values can have n lags. `first`: word of the payload at which
// the lags begin.
TAUT_DEVICE bool good_lags(const HeaderView& h, unsigned first, unsigned n, std::uint64_t words) {
  std::uint32_t before = min_lag;
  for (unsigned k = 0; k < n; ++k) {
    const std::uint32_t lag = h.word[header_words + first + k];
    if (lag < before || lag >= words) return false;
    before = lag;
  }
  return true;
}

// Returns the contents of a frame's header whose common part is valid.
TAUT_DEVICE OpenFrame parse_header(const HeaderView& h, const ExpectedFrame& expected) {
  const GridView grid{h};
  const unsigned lags = grid.lags(), before = grid.words() + lags;
  const std::uint64_t bytes = h.payload_bytes(),
                      words = bytes / 4 - (before + expected.chunks + std::uint64_t{1});
  OpenFrame f{0, grid.distance(), before, h.has(FrameHeader::stored), static_cast<std::uint32_t>(words)};
  if (h.type() != static_cast<unsigned>(expected.type) || h.count() != expected.values) {
    f.status = code(Status::frame_mismatch);
  } else if (f.stored) {
    f.status = bytes == expected.values * expected.value_bytes ? 0 : code(Status::corrupt_frame);
  } else if ((before > 0 && !expected.lagged) || h.parameter(2) > 0) {  // kernels do not read references
    f.status = needs_host;
  } else {
    const bool whole =
        bytes % 4 == 0 && bytes >= 4 * before + index_bytes(expected.chunks) && words == f.record_words;
    const bool index_valid =
        expected.chunks > 0 || (words == 0 && whole && h.word[header_words + before] == 0);
    const bool good = f.distance <= max_distance && h.addends() == 1 && lags <= max_lags && whole &&
                      index_valid && grid.good(expected.grid_bytes) &&
                      good_lags(h, grid.words(), lags, expected.words);
    f.status = good ? 0 : code(Status::corrupt_frame);
  }
  return f;
}

// Opens a frame. Called by a whole warp.
template <class Simt>
TAUT_DEVICE OpenFrame open_frame(const Simt& simt, const Source& source, const ExpectedFrame& expected,
                                 const HeaderCrc& crc) {
  const std::uint32_t status = check_header(simt, crc, source.frame, source.bytes, frame_id);
  return status == 0 ? parse_header({source.frame}, expected) : OpenFrame{status, 0, 0, false, 0};
}

// Number of predictions within a chunk that kernels choose from: distances 1 to 8, then 0.
inline constexpr unsigned max_distances = max_distance + 1;

// A grid that kernels have found for the values of a call, and sizes of sampled records. choice_of() chooses
// by them as Mpc::layout_of() of codecs/mpc/codec.cpp does.
struct FoundGrid {
  // Forms of a sampled record: codes that hold differences from the grid too, codes of integers alone, values
  // without a grid. `forms` is the number of forms.
  enum Form : unsigned { differences, integers_alone, plain, forms };

  Grid grid;
  Lags lags;                     // lags that the coding names; none without samples
  std::uint32_t code_collision;  // 1: a word of the values has the bits of a code: no grid can be used
  std::uint32_t has_samples;     // 1: `bytes` is set
  // Distance with lags, without samples, without a grid, and after a collision. At least 1 if `distances` is
  // max_distances: choice_of() finds it by its number, default_distance - 1.
  std::uint32_t default_distance;
  std::uint32_t distances;  // number of distances to choose from; 1: the default alone; 0: no samples
  std::uint32_t capacity;   // words of the payload without the index
  std::uint32_t bytes[forms][max_distances];  // total size of the sampled records

  // Returns distance number k.
  TAUT_DEVICE unsigned distance(unsigned k) const {
    return distances == 1 ? default_distance : (k + 1) % max_distances;
  }
};
static_assert(sizeof(FoundGrid) % 16 == 0);  // residuals follow it

// The coding that is chosen, with a grid or without.
struct GridChoice {
  Grid grid;
  Lags lags;
  unsigned distance;

  // True if residuals of codes or of words are encoded, false if the words themselves.
  TAUT_DEVICE bool encodes_residuals() const { return grid.any() || lags.any(); }

  // Returns the number of words in the payload before the index.
  TAUT_DEVICE std::uint32_t words() const { return static_cast<std::uint32_t>(grid.bytes()) / 4 + lags.n; }
};

// Returns the coding that the samples favour. A grid is chosen only if it saves the shares of
// Mpc::layout_of(). Without samples, returns the grid if there is one. `word_bytes`: size of a word of the
// values.
TAUT_DEVICE GridChoice choice_of(const FoundGrid& found, std::uint32_t word_bytes) {
  // A collision is noticed while GridCodesKernel writes residuals: their memory may then hold some of codes
  // and some of words. Without grid and lags that memory is not read.
  if (found.code_collision != 0) return {{}, {}, found.default_distance};
  GridChoice chosen{found.grid, found.lags, found.default_distance};
  const GridChoice none{{}, found.lags, found.default_distance};
  if (!found.grid.any() || chosen.words() > found.capacity) return none;
  if (found.has_samples != 0) {
    unsigned best = 0;
    for (unsigned k = 1; k < found.distances; ++k)
      if (found.bytes[FoundGrid::differences][k] < found.bytes[FoundGrid::differences][best]) best = k;
    chosen.distance = found.distance(best);
    std::uint32_t bytes = found.bytes[FoundGrid::differences][best];
    const std::uint32_t alone = found.bytes[FoundGrid::integers_alone][best];
    if (found.grid.integers_alone && alone + alone / 31 < bytes)
      bytes = alone;
    else
      chosen.grid = found.grid.with_differences(word_bytes);
    const unsigned default_index = found.distances == 1 ? 0 : found.default_distance - 1;
    if (bytes + bytes / 3 >= found.bytes[FoundGrid::plain][best] &&
        bytes + bytes / 15 >= found.bytes[FoundGrid::plain][default_index])
      return none;
  }
  return chosen;
}

template <class Word>
struct FinishJob {
  std::uint32_t* frame;  // null: the call decodes
  const Word* values;
  std::uint64_t count;
  Rounding rounding;
  Lags lags;               // in words of the values; with `found`, those of the choice count instead
  const FoundGrid* found;  // null: no grid was looked for
  bool stored;             // the frame has no room for an index
  // Words available for all records; with `found`, for grid and lags too. A frame with more is stored.
  std::uint32_t capacity;
  Scratch* scratch;
  ResultPlace result;
  std::uint32_t chunks, blocks;        // blocks: of this kernel
  std::uint32_t header[header_words];  // without flag `stored`, payload_bytes, checksum
};

struct FinishShared {
  std::uint32_t header[header_words];
};

template <class Word>
struct FinishKernel {
  using Job = FinishJob<Word>;
  using Shared = FinishShared;
  static constexpr BlockShape shape = shape_for<Word>;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const GridChoice choice = job.found == nullptr ? GridChoice{} : choice_of(*job.found, sizeof(Word));
    const bool stored = job.stored || job.scratch->control.words > job.capacity - choice.words();
    if (job.frame != nullptr && simt.block() == 0 && simt.thread() < warp_lanes)
      write(simt, shared.header, job, choice, stored);
    if (job.frame != nullptr && stored) {
      auto* const to = reinterpret_cast<Word*>(job.frame + header_words);
      const std::uint64_t step = std::uint64_t{job.blocks} * block_threads;
      for (std::uint64_t i = std::uint64_t{simt.block()} * block_threads + simt.thread(); i < job.count;
           i += step)
        to[i] = input_word(job.values[i], job.rounding);
    }
    end_call_if_last(simt, *job.scratch, job.blocks, job.result);
  }

 private:
  TAUT_DEVICE static void write_grid(const Grid& grid, std::uint32_t* to) {
    const auto put = [&](std::uint64_t bits) {
      *to++ = static_cast<std::uint32_t>(bits);
      *to++ = static_cast<std::uint32_t>(bits >> 32);
    };
    put(std::bit_cast<std::uint64_t>(grid.step));
    put(std::bit_cast<std::uint64_t>(grid.offset));
    if (grid.has_unit()) put(std::bit_cast<std::uint64_t>(grid.unit));
    if (grid.has_base()) put(grid.base);
  }

  template <class Simt>
  TAUT_DEVICE static void write(const Simt& simt, std::uint32_t* header, const Job& job,
                                const GridChoice& choice, bool stored) {
    for (unsigned i = 0; simt.thread() == 0 && i < header_words; ++i) header[i] = job.header[i];
    if (simt.thread() == 0 && stored) mark_stored(header);
    if (simt.thread() == 0 && !stored && job.found != nullptr) {
      header[11] =
          choice.distance | choice.grid.distance_flags() | (choice.lags.n | choice.grid.lag_flags()) << 8;
      if (choice.grid.any()) write_grid(choice.grid, job.frame + header_words);
    }
    const Lags lags = job.found != nullptr ? choice.lags : job.lags;
    const unsigned before_lags = choice.words() - choice.lags.n;
    static_assert(max_lags == 2);  // no array is indexed by the lane: it would be placed in memory
    if (!stored && simt.thread() < lags.n)
      job.frame[header_words + before_lags + simt.thread()] = simt.thread() == 0 ? lags.lag[0] : lags.lag[1];
    const std::uint64_t coded =
        index_bytes(job.chunks) + std::uint64_t{4} * (before_lags + lags.n + job.scratch->control.words);
    write_header(simt, job.scratch->crc, header, stored ? job.count * sizeof(Word) : coded, job.frame,
                 job.result);
  }
};

}  // namespace taut::mpc::cuda
