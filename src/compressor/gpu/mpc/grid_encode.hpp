// Kernels that encode values on a grid: FindGridKernel finds the grid, SampleGridKernel samples sizes of
// records, GridCodesKernel computes residuals of the codes or, without a grid, of the values if there are
// lags. GridEncodeKernel encodes these residuals, or the values if there is neither grid nor lag.
#pragma once

#include "compressor/codecs/mpc/grid_search.hpp"
#include "compressor/gpu/mpc/encode.hpp"
#include "compressor/gpu/mpc/grid.hpp"
#include "compressor/gpu/mpc/lags.hpp"

namespace taut::mpc::cuda {

// A warp that searches a grid: the Threads of grid_search.hpp on a GPU.
template <class Word, class Simt>
class SearchingWarp {
 public:
  TAUT_DEVICE SearchingWarp(const Simt& simt, const Word* words) : simt_(simt), words_(words) {}

  TAUT_DEVICE Word word(std::size_t i) const { return words_[i]; }
  TAUT_DEVICE bool is_constant(std::size_t first, std::uint32_t n) const {
    bool differs = false;
    for (std::uint32_t i = lane(); i < n; i += warp_lanes) differs |= words_[first + i] != words_[first];
    return simt_.ballot(differs) == 0;
  }
  template <class Work>
  TAUT_DEVICE void each(std::uint32_t n, const Work& work) const {
    simt_.sync_warp();
    TAUT_ROLLED
    for (std::uint32_t i = lane(); i < n; i += warp_lanes) work(i);
    simt_.sync_warp();
  }
  template <class Work>
  TAUT_DEVICE void once(const Work& work) const {
    simt_.sync_warp();
    if (lane() == 0) work();
    simt_.sync_warp();
  }
  template <class T, class Less>
  TAUT_DEVICE void sort(T* x, std::uint32_t n, const Less& less, T* memory) const {
    each(n, [&](std::uint32_t i) { memory[i] = x[i]; });
    each(n, [&](std::uint32_t i) {
      const T own = memory[i];
      std::uint32_t rank = 0;
      TAUT_ROLLED
      for (std::uint32_t k = 0; k < n; ++k) rank += k < i ? !less(own, memory[k]) : less(memory[k], own);
      x[rank] = own;
    });
  }
  template <class Gap>
  TAUT_DEVICE std::uint32_t take_least(std::uint32_t n, const Gap& gap, GridGap* gaps) const {
    each(n, [&](std::uint32_t i) { gaps[i] = gap(i); });
    return n;
  }
  template <class T>
  TAUT_DEVICE T nth(T* x, std::uint32_t n, std::uint32_t k, T* memory) const {
    sort(
        x, n, [](T a, T b) { return a < b; }, memory);
    return x[k];
  }
  template <class Predicate, class Take>
  TAUT_DEVICE std::uint32_t first_few(std::uint32_t n, std::uint32_t limit, const Predicate& is,
                                      const Take& take) const {
    std::uint32_t taken = 0;
    TAUT_ROLLED
    for (std::uint32_t first = 0; first < n && taken < limit; first += warp_lanes) {
      const std::uint32_t i = first + lane(), mask = simt_.ballot(i < n && is(i));
      const std::uint32_t rank = taken + simt_.popcount(mask & static_cast<std::uint32_t>(below(lane())));
      if ((mask >> lane() & 1) != 0 && rank < limit) take(rank, i);
      taken += simt_.popcount(mask);
    }
    return taken < limit ? taken : limit;
  }
  TAUT_DEVICE void codes(const typename GridWords<Word>::Value* values, const Grid& grid, Word* codes) const {
    const GridCode<Word> code(grid);
    each(max_grid_values, [&](std::uint32_t i) { codes[i] = code.code(std::bit_cast<Word>(values[i])); });
  }

 private:
  TAUT_DEVICE unsigned lane() const { return simt_.thread() % warp_lanes; }

  const Simt& simt_;
  const Word* words_;
};

template <class Word>
struct FindGridJob {
  const Word* values;
  std::uint64_t count;
  FoundGrid* found;
  FoundGrid without_grid;  // everything in *found but the grid
};

// Finds the grid, in one thread block.
template <class Word>
struct FindGridKernel {
  using Job = FindGridJob<Word>;
  using Shared = GridSearchMemory<Word>;
  static constexpr BlockShape shape{warp_lanes, 1};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    using Threads = SearchingWarp<Word, Simt>;
    const Threads threads(simt, job.values);
    const Grid grid = GridSearch<Word, Threads>(threads, job.count, GridReach::pieces, shared).find();
    if (simt.thread() != 0) return;
    *job.found = job.without_grid;
    job.found->grid = grid;
  }
};

inline constexpr unsigned sampling_warps = 4;

template <class Word>
struct SampleGridJob {
  const Word* values;
  std::uint64_t count;
  FoundGrid* found;
};

// Samples records as sampled() of codecs/mpc/frame_io.cpp does. A warp samples one form, distance and piece.
template <class Word>
struct SampleGridKernel {
  using Job = SampleGridJob<Word>;
  struct Shared {
    EncodeWarp warps[sampling_warps];
    Word words[sampling_warps][Pieces::max_values];
  };
  static constexpr BlockShape shape{sampling_warps * warp_lanes, 4};

  // Number of blocks for a message that is long enough.
  static std::uint32_t blocks(std::uint64_t count, unsigned distances) {
    const std::size_t all = FoundGrid::forms * distances * Pieces(count).count;
    return static_cast<std::uint32_t>((all + sampling_warps - 1) / sampling_warps);
  }

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const FoundGrid& found = *job.found;
    const Pieces pieces(job.count);
    const unsigned warp = simt.thread() / warp_lanes, number = simt.block() * sampling_warps + warp;
    const auto count = static_cast<unsigned>(pieces.count);
    const unsigned k = number / count % found.distances, form = number / count / found.distances;
    if (!found.grid.any() || form >= FoundGrid::forms ||
        (form == FoundGrid::integers_alone && !found.grid.integers_alone))
      return;
    Word* const words = shared.words[warp];
    const Grid grid = form == FoundGrid::differences ? found.grid.with_differences(sizeof(Word)) : found.grid;
    const GridCode<Word> code(grid);
    const auto word = [&](std::uint64_t i) {
      return form == FoundGrid::plain ? job.values[i] : code.code(job.values[i]);
    };
    const std::uint64_t first = pieces.first(number % count);
    for (unsigned i = simt.thread() % warp_lanes; i < Pieces::max_values; i += warp_lanes)
      words[i] = residual<Word>(found.lags, first + i, word);
    simt.sync_warp();
    const std::uint32_t bytes = record_bytes(simt, shared.warps[warp], words, found.distance(k));
    const std::uint32_t heads = found.distance(k) * vectors * static_cast<std::uint32_t>(sizeof(Word));
    // The heads of all pieces, rounded down once.
    const std::uint32_t share = number % count == 0 ? count * heads / chunk_vectors : 0;
    if (simt.thread() % warp_lanes == 0) simt.atomic_add(&job.found->bytes[form][k], bytes + share);
  }

 private:
  static constexpr std::uint32_t vectors = Pieces::max_values * sizeof(Word) / vector_bytes;

  // Returns the bytes of a piece's record without those of the first vector.
  template <class Simt>
  TAUT_DEVICE static std::uint32_t record_bytes(const Simt& simt, EncodeWarp& shared, const Word* words,
                                                unsigned distance) {
    const auto job_of = [&](std::uint32_t count) {
      return EncodeJob<Word>{words, count, distance, {}, 1, {}};
    };
    const EncodeJob<Word> whole = job_of(Pieces::max_values), one = job_of(vector_bytes / sizeof(Word));
    ChunkEncoder<Word, Simt> coder(simt, shared, whole, 0);
    const std::uint32_t coded = coder.coded_bytes();
    simt.sync_warp();
    const std::uint32_t bytes = coded - ChunkEncoder<Word, Simt>(simt, shared, one, 0).coded_bytes();
    simt.sync_warp();
    if (!coder.any()) return bytes;
    auto* const counters = reinterpret_cast<std::uint32_t*>(shared.bitmaps);
    SparseEncoder<Word, Simt> encoder(simt, words, Pieces::max_values, whole.rounding, counters);
    const std::uint32_t sparse = 4 * encoder.plan(0);
    // A piece counts its share of the bytes that end a sparse record; `end` is what others count.
    constexpr std::uint32_t end = sparse_end_bytes * (chunk_vectors - vectors) / chunk_vectors;
    return sparse != 0 && sparse - end < bytes ? sparse - end : bytes;
  }
};

template <class Word>
struct GridCodesJob {
  const Word* values;
  std::uint64_t count;
  FoundGrid* found;
  Word* codes;  // residuals that the kernel writes
  std::uint32_t blocks;
};

// Computes the residuals of the codes or of the values, and notices collisions.
template <class Word>
struct GridCodesKernel {
  using Job = GridCodesJob<Word>;
  using Shared = ColumnsShared;
  using Numbers = GridWords<Word>;
  static constexpr BlockShape shape{columns_threads, sizeof(Word) == 8 ? 4 : 6};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    const GridChoice choice = choice_of(*job.found, sizeof(Word));
    if (!choice.encodes_residuals()) return;
    const bool on_grid = choice.grid.any();
    const GridCode<Word> code(choice.grid);
    each_word(simt, job, [&](std::uint64_t i) {
      const bool is_code =
          job.values[i] - (Numbers::center - Numbers::code_reach + 1) < 2 * Numbers::code_reach - 1;
      if (on_grid && is_code) simt.atomic_max(&job.found->code_collision, 1);
      job.codes[i] = residual<Word>(choice.lags, i, [&](std::uint64_t k) {
        return on_grid ? code.code(job.values[k]) : job.values[k];
      });
    });
  }
};

template <class Word>
struct GridEncodeJob {
  EncodeJob<Word> without_grid;
  const Word* codes;  // residuals
  const FoundGrid* found;
};

// Encodes the residuals, or the values, in the chosen coding, behind the grid and the lags in the payload.
template <class Word>
struct GridEncodeKernel {
  using Job = GridEncodeJob<Word>;
  using Shared = EncodeShared;
  static constexpr BlockShape shape = shape_for<Word>;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    EncodeJob<Word> own = job.without_grid;
    const GridChoice choice = choice_of(*job.found, sizeof(Word));
    if (choice.encodes_residuals()) own.values = job.codes;
    own.distance = choice.distance;
    own.sink.index += choice.words();
    own.sink.records += choice.words();
    own.sink.capacity -= choice.words();
    EncodeKernel<Word>::run(simt, shared, own);
  }
};

}  // namespace taut::mpc::cuda
