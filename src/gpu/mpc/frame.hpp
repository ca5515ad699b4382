// First and last step of a call: check the frame's header, or write it.
#pragma once

#include "gpu/mpc/chunk.hpp"
#include "gpu/simt/source.hpp"

namespace taut::mpc::cuda {

// Contents of an opened frame's header.
struct OpenFrame {
  std::uint32_t status;  // not 0: the other members are invalid
  unsigned distance;
  bool stored;
  std::uint32_t record_words;  // words of all records
};

// Head of the scratch memory; followed by ChunkWords, one for each group of chunks.
struct Scratch : ScratchHead {
  OpenFrame opened;
};

struct OpenJob {
  Source source;
  std::uint64_t values;  // number of values that the frame must hold
  DType type;
  std::uint32_t chunks;
  Scratch* scratch;
};

struct NothingShared {};

struct OpenKernel {
  using Job = OpenJob;
  using Shared = NothingShared;
  static constexpr BlockShape shape{warp_lanes, 1};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    const Source& source = job.source;
    OpenFrame f{};
    f.status = check_header(simt, job.scratch->crc, source.frame, source.bytes, frame_id);
    if (f.status == 0) open({source.frame}, job, f);
    if (simt.thread() == 0) job.scratch->opened = f;
  }

 private:
  // Reads the header of an mpc frame whose common part is valid.
  TAUT_DEVICE static void open(const HeaderAt& h, const Job& job, OpenFrame& f) {
    const std::uint64_t bytes = h.payload_bytes();
    f.distance = h.parameter(0);
    f.stored = h.has(FrameHeader::stored);
    if (h.type() != static_cast<unsigned>(job.type) || h.count() != job.values) {
      f.status = code(Status::frame_mismatch);
    } else if (f.stored) {
      f.status = bytes == job.values * size_of(job.type) ? 0 : code(Status::corrupt_frame);
    } else {
      const std::uint64_t words = bytes / 4 - (job.chunks + std::uint64_t{1});
      f.record_words = static_cast<std::uint32_t>(words);
      const bool whole = bytes % 4 == 0 && bytes >= index_bytes(job.chunks) && words == f.record_words;
      const bool empty = job.chunks > 0 || (words == 0 && whole && h.word[header_words] == 0);
      const bool good = f.distance >= 1 && f.distance <= max_distance && h.addends() == 1 && whole && empty;
      f.status = good ? 0 : code(Status::corrupt_frame);
    }
  }
};

template <class Word>
struct FinishJob {
  std::uint32_t* frame;  // null: the call decodes
  const Word* values;
  std::uint64_t count;
  Rounding rounding;
  bool stored;             // the frame has no room for an index
  std::uint32_t capacity;  // words available for all records: a frame with more is stored
  Scratch* scratch;
  CallResult* result;
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
    const bool stored = job.stored || job.scratch->control.words > job.capacity;
    if (job.frame != nullptr && simt.block() == 0 && simt.thread() < warp_lanes)
      write(simt, shared.header, job, stored);
    if (job.frame != nullptr && stored) {
      auto* const to = reinterpret_cast<Word*>(job.frame + header_words);
      const std::uint64_t step = std::uint64_t{job.blocks} * block_threads;
      for (std::uint64_t i = std::uint64_t{simt.block()} * block_threads + simt.thread(); i < job.count;
           i += step)
        to[i] = taken(job.values[i], job.rounding);
    }
    close(simt, *job.scratch, job.scratch->opened.status, job.blocks, job.result);
  }

 private:
  template <class Simt>
  TAUT_DEVICE static void write(const Simt& simt, std::uint32_t* header, const Job& job, bool stored) {
    for (unsigned i = 0; simt.thread() == 0 && i < header_words; ++i) header[i] = job.header[i];
    if (simt.thread() == 0 && stored) header[1] |= std::uint32_t{FrameHeader::stored} << 24;
    const std::uint64_t coded = index_bytes(job.chunks) + std::uint64_t{4} * job.scratch->control.words;
    write_header(simt, job.scratch->crc, header, stored ? job.count * sizeof(Word) : coded, job.frame,
                 job.result);
  }
};

}  // namespace taut::mpc::cuda
