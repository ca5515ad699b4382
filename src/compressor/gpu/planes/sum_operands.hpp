// The operands of a sum: the records of a chunk in all frames, and what they have in common.
#pragma once

#include "compressor/gpu/planes/open_sum.hpp"
#include "compressor/gpu/planes/record_reader.hpp"
#include "compressor/gpu/planes/record_writer.hpp"
#include "compressor/gpu/simt/sink.hpp"

namespace taut::planes::cuda {

template <class T>
struct SumJob {
  SumInput input;
  Sink sink;
  Scratch* scratch;
  ChunkState* deferred;  // chunks for sum_exact.hpp; Control::deferred is their number
  std::uint32_t blocks;  // blocks of the kernel of sum_exact.hpp
};

inline constexpr unsigned sum_threads = 128;         // threads of a chunk
inline constexpr unsigned resident_sum_blocks = 10;  // number of blocks of the kernel on a multiprocessor

// Properties of a chunk's records in all sources together.
struct Operands {
  bool good;                    // the heads of all records are valid
  bool alike;                   // all records have the predictor of the sum
  std::uint8_t flags;           // flags of all records, combined by or
  std::uint8_t stored_sources;  // sources with uncompressed values, each of which is added as a raw layer
  std::uint8_t coded_records;   // number of records with planes
  std::uint8_t form;            // flags `wide` and `large` of the sum
};

// Place of a thread's blocks in a record, and their widths (packed_widths.hpp).
struct alignas(8) PlacedBlocks {
  std::uint32_t blocks_at, widths;
};

template <class T>
struct SumShared {
  ChunkThreadsShared threads;
  OpenedSources opened;
  std::uint32_t chunk, n, record_at;  // n: number of values in the chunk
  std::uint32_t runs, layers;         // numbers of runs and raw layers of all records
  std::uint32_t max_width;            // of any block in any record of the chunk
  std::int64_t base;                  // of the sum
  Operands operands;
  RecordHead heads[max_sources];
  PlanesShared planes;
  union {
    PlacedBlocks blocks[max_sources][sum_threads];
    std::uint32_t record[max_plane_record<std::int32_t> / 4];  // wide records go straight to the frame
  };
};

// Returns `sink` with index and records moved past the lags of its frame, for which it has room.
TAUT_DEVICE Sink behind_lags(Sink sink, const OpenFrame& frame) {
  const unsigned lags = frame.prediction.lags.n;
  sink.index += lags;
  sink.records += lags;
  sink.capacity -= lags;
  return sink;
}

// Finds the record of a chunk in each source. Called by the first warp; each lane handles one source.
template <class T, class Simt>
TAUT_DEVICE void find_records(const Simt& simt, const SumJob<T>& job, std::uint32_t chunk,
                              SumShared<T>& shared) {
  const unsigned k = simt.thread();
  const OpenFrame& total = shared.opened.total;
  if (total.status != 0) return;
  RecordHead head;  // head of a stored frame: that of a chunk of zeros
  bool good = true, alike = true, stored = false;
  if (k <= job.input.count && k < max_sources) shared.heads[k] = {};  // find_simple_blocks() reads pairs
  if (chunk < job.sink.chunks && k < job.input.count) {
    const OpenFrame& frame = shared.opened.sources[k];
    stored = frame.stored;
    alike = stored || frame.prediction.inner == total.prediction.inner;
    Words words;
    good = stored || (find_record(behind_lags(job.input.sources[k], frame), frame.record_words,
                                  job.sink.chunks, chunk, words) &&
                      read_head(words, frame.prediction, head));
    shared.heads[k] = head;
  }
  const auto flags = static_cast<std::uint8_t>(simt.reduce_or(head.flags));
  const unsigned form = (flags & (wide | large)) | (fits_narrow(flags, total.addends) ? 0u : unsigned{wide});
  const Operands all{simt.ballot(!good) == 0,
                     simt.ballot(!alike) == 0,
                     flags,
                     static_cast<std::uint8_t>(simt.popcount(simt.ballot(stored))),
                     static_cast<std::uint8_t>(simt.popcount(simt.ballot(head.has(has_planes)))),
                     static_cast<std::uint8_t>(form)};
  const std::uint32_t base = simt.reduce_add(static_cast<std::uint32_t>(head.base));
  if (k != 0) return;
  const std::uint64_t left = job.input.expected.values - std::uint64_t{chunk} * chunk_values;
  shared.chunk = chunk;
  shared.n =
      left < chunk_values ? static_cast<std::uint32_t>(left) : static_cast<std::uint32_t>(chunk_values);
  shared.base = static_cast<std::int32_t>(base);
  shared.runs = 0;
  shared.layers = all.stored_sources;
  shared.max_width = 0;
  shared.operands = all;
}

}  // namespace taut::planes::cuda
