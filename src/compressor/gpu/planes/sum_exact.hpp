// Second kernel of a sum, for chunks with exact values: merges runs and appends layers after the planes that
// the first kernel wrote. The first kernel has checked the sizes; this kernel checks the order of runs.
#pragma once

#include "compressor/gpu/planes/sum.hpp"

namespace taut::planes::cuda {

// Runs and layers of a source's record.
template <class T>
struct ExactPart {
  RunsView<T> runs;
  Words words;
  std::uint32_t layers_at, layers;
};

template <class T>
struct SumExactShared {
  ChunkThreadsShared threads;
  RecordHead heads[max_sources];
  ExactPart<T> parts[max_sources];
};

template <class T, class Simt>
class ExactAdder {
 public:
  TAUT_DEVICE ExactAdder(Simt simt, SumExactShared<T>& shared, const SumJob<T>& job)
      : group_(simt, shared.threads), shared_(shared), job_(job) {}

  TAUT_DEVICE void run() {
    const Scratch& scratch = *job_.scratch;
    const std::uint32_t deferred = scratch.opened.total.status == 0 ? scratch.control.deferred : 0;
    for (std::uint32_t i = group_.simt().block(); i < deferred; i += job_.blocks) {
      const DeferredChunk chunk = job_.deferred[i].deferred;
      const std::uint64_t values = job_.input.expected.values - std::uint64_t{chunk.chunk} * chunk_values;
      n_ = values < chunk_values ? static_cast<std::uint32_t>(values)
                                 : static_cast<std::uint32_t>(chunk_values);
      add(chunk);
    }
  }

 private:
  TAUT_DEVICE void add(const DeferredChunk& chunk) {
    if (group_.thread() < job_.input.count) find_head(group_.thread(), chunk.chunk);
    group_.simt().barrier();
    std::uint32_t runs = 0, layers = 0;
    for (unsigned k = 0; k < job_.input.count; ++k) {
      const ExactPart<T> part = part_of(k, chunk.chunk);
      runs += part.runs.count;
      layers += part.layers;
      if (group_.thread() == 0) shared_.parts[k] = part;
    }
    group_.simt().barrier();
    const Sink sink = behind_lags(job_.sink, job_.scratch->opened.total);
    auto* to = reinterpret_cast<std::uint16_t*>(sink.records + chunk.exact_at);
    const bool is_wide = (sink.records[sink.index[chunk.chunk]] & wide) != 0;
    if (runs > 0) to = merge_runs(to, runs, is_wide);
    if (layers > 0) to = append_layers(to, layers);
    const auto* const first = reinterpret_cast<std::uint16_t*>(sink.records);
    if (group_.thread() == 0 && (to - first) % 2 != 0) *to = 0;
    group_.simt().barrier();
  }

  // Reads the head of source k's record, which the first kernel has found valid, into shared memory.
  TAUT_DEVICE void find_head(unsigned k, std::uint32_t chunk) {
    const OpenFrame& frame = job_.scratch->opened.sources[k];
    Words words;
    RecordHead& head = shared_.heads[k];
    head = {};
    if (frame.stored) return;
    find_record(behind_lags(job_.input.sources[k], frame), frame.record_words, job_.sink.chunks, chunk,
                words);
    read_head(words, frame.prediction, head);
  }

  TAUT_DEVICE ExactPart<T> part_of(unsigned k, std::uint32_t chunk) {
    const OpenFrame& frame = job_.scratch->opened.sources[k];
    const Source& source = job_.input.sources[k];
    if (frame.stored) {
      const std::uint32_t* const values =
          source.frame + header_words + std::uint64_t{chunk} * chunk_values * sizeof(T) / 4;
      return {{}, {values, static_cast<std::uint32_t>((n_ * sizeof(T) + 3) / 4)}, 0, 1};
    }
    ParsedRecord<T> r;
    const bool good =
        RecordReader<T, ChunkThreads<Simt>, RunsCheck::all>(group_, r, shared_.heads[k], n_, frame.addends)
            .read();
    if (!good && group_.thread() == 0)
      group_.simt().atomic_max(&job_.sink.control->failure, code(Status::corrupt_frame));
    return {r.runs, r.words, r.layers_at, r.layers};
  }

  // Writes all runs in order: each run finds its rank among the runs of the other sources. Returns the end of
  // the runs.
  TAUT_DEVICE std::uint16_t* merge_runs(std::uint16_t* to, std::uint32_t runs, bool is_wide) const {
    const std::uint32_t each = run_bytes_of<T>(is_wide) / 2;
    if (group_.thread() == 0) store_halves(to, runs);
    for (unsigned k = 0; k < job_.input.count; ++k) {
      const RunsView<T> own_runs = shared_.parts[k].runs;
      for (std::uint32_t i = group_.thread(); i < own_runs.count; i += chunk_threads) {
        const DecodedRun<T> run = own_runs[i];
        std::uint32_t rank = i;
        for (unsigned j = 0; j < job_.input.count; ++j) {
          if (j == k) continue;
          rank += shared_.parts[j].runs.first(
              0, [&](const DecodedRun<T>& other) { return j < k ? run < other : !(other < run); });
        }
        write_run_head(to + 2 + rank * each, run.start_and_length, run.hold, is_wide);
        write_run_value(to + 2 + rank * each, run.value, is_wide);
      }
    }
    return to + 2 + runs * each;
  }

  // Copies layers in units of 16 bits, because a stored frame of 16-bit floats may end within a word.
  TAUT_DEVICE std::uint16_t* append_layers(std::uint16_t* to, std::uint32_t layers) const {
    if (group_.thread() == 0) store_halves(to, layers);
    to += 2;
    for (unsigned k = 0; k < job_.input.count; ++k) {
      const ExactPart<T> part = shared_.parts[k];
      const auto halves = static_cast<std::uint32_t>(part.layers * n_ * sizeof(T) / 2);
      const auto* const from = reinterpret_cast<const std::uint16_t*>(part.words.data) + part.layers_at / 2;
      for (std::uint32_t i = group_.thread(); i < halves; i += chunk_threads) to[i] = from[i];
      to += halves;
    }
    return to;
  }

  ChunkThreads<Simt> group_;
  SumExactShared<T>& shared_;
  const SumJob<T>& job_;
  std::uint32_t n_ = 0;
};

template <class T>
struct SumExactKernel {
  using Job = SumJob<T>;
  using Shared = SumExactShared<T>;
  static constexpr BlockShape shape{chunk_threads, 2};
  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    ExactAdder<T, Simt>(simt, shared, job).run();
  }
};

}  // namespace taut::planes::cuda
