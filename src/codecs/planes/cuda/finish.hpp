// The last kernel of each call: the header of the frame, and scratch made ready for the next call.
#pragma once

#include "codecs/planes/cuda/sink.hpp"
#include "codecs/planes/cuda/values.hpp"
#include "core/frame.hpp"

namespace taut::planes::cuda {

inline constexpr unsigned header_words = frame_header_bytes / 4;

// CRC-32C of a header is linear in its bits: what each one of them adds, and the sum of a header of zeros.
struct HeaderCrc {
  std::uint32_t of_bit[header_words - 1][warp_lanes];
  std::uint32_t of_zeros;
};

// A frame as far as its header says what it is, or slots as the host does.
struct OpenFrame {
  double step;
  std::uint32_t status;  // not 0: nothing else holds
  std::uint32_t addends;
  Predictor predictor;
  bool stored;
  std::uint32_t record_words;  // of all records
};

inline constexpr unsigned max_sources = 8;

// What stands at the start of scratch memory; followed by ChunkWords.
struct Scratch {
  Control control;
  HeaderCrc crc;
  OpenFrame opened[max_sources], total;  // total: of the sum; its status is the first one that is not ok
  std::uint32_t header[header_words];    // of the sum, but for payload_bytes and checksum
};

// What a call comes to; in memory that the GPU writes, and the host may poll: `done` is written last.
struct CallResult {
  std::uint64_t bytes;
  std::uint32_t status;
  std::uint32_t done;
};

// Of the first 60 bytes, by a whole warp.
template <class Simt>
TAUT_DEVICE std::uint32_t header_crc(const Simt& simt, const HeaderCrc& crc, const std::uint32_t* header) {
  const unsigned lane = simt.thread() % warp_lanes;
  std::uint32_t sum = 0;
  for (unsigned i = 0; i + 1 < header_words; ++i)
    sum ^= (header[i] >> lane & 1) != 0 ? crc.of_bit[i][lane] : 0;
  for (unsigned by = 1; by < warp_lanes; by *= 2) sum ^= simt.shuffle(sum, lane ^ by);
  return sum ^ crc.of_zeros;
}

template <class T>
struct FinishJob {
  std::uint32_t* frame;  // null: slots, which have no header
  const T* values;       // encoded
  std::uint64_t count;
  Quantiser<T> z;
  Scratch* scratch;
  CallResult* result;
  std::uint32_t chunks, blocks;        // blocks: of this kernel
  bool may_be_stored;                  // an encoding, where all chunks are layers; never a sum
  bool of_sum;                         // the header stands in scratch
  std::uint32_t header[header_words];  // but for flag `stored`, payload_bytes, predictor, checksum
};

struct FinishShared {
  std::uint32_t header[header_words];
};

template <class T, class Simt>
TAUT_DEVICE void write_frame_header(Simt simt, FinishShared& shared, const FinishJob<T>& job, bool stored) {
  const Control& control = job.scratch->control;
  const unsigned lane = simt.thread();
  const std::uint64_t bytes =
      stored ? job.count * sizeof(T) : 4 * (job.chunks + std::uint64_t{1} + control.words);
  for (unsigned i = lane; lane == 0 && i < header_words; ++i)
    shared.header[i] = job.of_sum ? job.scratch->header[i] : job.header[i];
  if (lane == 0) {
    if (stored) {
      shared.header[1] |= std::uint32_t{FrameHeader::stored} << 24;
    } else if (!job.of_sum) {
      shared.header[11] |= static_cast<std::uint32_t>(job.z.predictor);
    }
    shared.header[8] = static_cast<std::uint32_t>(bytes);
    shared.header[9] = static_cast<std::uint32_t>(bytes >> 32);
  }
  simt.sync_warp();
  const std::uint32_t crc = header_crc(simt, job.scratch->crc, shared.header);
  if (lane < header_words) job.frame[lane] = lane + 1 < header_words ? shared.header[lane] : crc;
  if (lane == 0) job.result->bytes = frame_header_bytes + bytes;
}

template <class T>
struct FinishKernel {
  using Job = FinishJob<T>;
  using Shared = FinishShared;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    Control& control = job.scratch->control;
    if (job.of_sum && job.scratch->total.status != 0) return close(simt, job);
    const bool stored = job.frame != nullptr && job.may_be_stored && control.coded == 0;
    if (simt.block() == 0 && simt.thread() < warp_lanes && job.frame != nullptr)
      write_frame_header(simt, shared, job, stored);
    if (stored) {
      T* const to = reinterpret_cast<T*>(job.frame + header_words);
      const std::uint64_t step = std::uint64_t{job.blocks} * crew_threads;
      for (std::uint64_t i = std::uint64_t{simt.block()} * crew_threads + simt.thread(); i < job.count;
           i += step)
        to[i] = job.z.step == 0 ? job.values[i] : value_as_decoded(job.values[i], job.z);
    }
    close(simt, job);
  }

 private:
  // The last block that comes here leaves the scratch ready.
  template <class Simt>
  TAUT_DEVICE static void close(Simt simt, const Job& job) {
    Control& control = job.scratch->control;
    simt.fence();
    simt.barrier();
    if (simt.thread() != 0 || simt.add(&control.done, 1) + 1 != job.blocks) return;
    const std::uint32_t opening = job.scratch->total.status;
    job.result->status = opening != 0 ? opening : control.failure;
    job.scratch->total.status = 0;
    simt.fence();
    job.result->done = 1;
    ++control.epoch;
    control.ticket = control.coded = control.failure = control.words = control.done = control.left = 0;
  }
};

}  // namespace taut::planes::cuda
