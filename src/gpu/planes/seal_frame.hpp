// Last kernel of each call: writes the frame's header and prepares scratch memory for the next call.
#pragma once

#include "codecs/planes/lags/lags.hpp"
#include "gpu/planes/block_group.hpp"
#include "gpu/planes/values.hpp"
#include "gpu/simt/frame.hpp"

namespace taut::planes::cuda {

// Contents of an opened frame's header, or the description of slots that the host gives.
struct OpenFrame {
  double step;
  std::uint32_t status;  // not 0: the other members are invalid
  std::uint32_t addends;
  Prediction prediction;
  bool stored;
  std::uint32_t record_words;  // words of all records
};

inline constexpr unsigned max_sources = 8;

// Head of the scratch memory; followed by ChunkWords.
struct Scratch : ScratchHead {
  OpenFrame opened[max_sources], total;  // sources of the call; the sum, whose status is their first error
  std::uint32_t header[header_words];    // header of the sum, without payload_bytes and checksum
};

template <class T>
struct FinishJob {
  std::uint32_t* frame;  // null: slots, which have no header
  const T* values;       // values that were encoded
  std::uint64_t count;
  Quantiser<T> z;
  Scratch* scratch;
  CallResult* result;
  std::uint32_t chunks, blocks;        // blocks: of this kernel
  bool may_be_stored;                  // the frame is stored if all chunks are layers; false for a sum
  bool of_sum;                         // the header is in scratch memory
  Lags lags;                           // lags of an encoding that did not begin again
  std::uint32_t header[header_words];  // without flag `stored`, payload_bytes, predictor, checksum
};

struct FinishShared {
  std::uint32_t header[header_words];
};

template <class T, class Simt>
TAUT_DEVICE void write_frame_header(Simt simt, FinishShared& shared, const FinishJob<T>& job, bool stored) {
  const Control& control = job.scratch->control;
  const unsigned lane = simt.thread();
  const Lags lags = job.of_sum ? job.scratch->total.prediction.lags : control.again != 0 ? Lags{} : job.lags;
  const std::uint64_t bytes =
      stored ? job.count * sizeof(T) : 4 * (lags.n + job.chunks + std::uint64_t{1} + control.words);
  for (unsigned i = lane; lane == 0 && i < header_words; ++i)
    shared.header[i] = job.of_sum ? job.scratch->header[i] : job.header[i];
  if (lane == 0 && stored) {
    shared.header[1] |= std::uint32_t{FrameHeader::stored} << 24;
  } else if (lane == 0 && !job.of_sum) {
    shared.header[11] |= static_cast<std::uint32_t>(job.z.predictor) | lags.n << 8;
  }
  static_assert(max_lags == 2);  // no array is indexed by the lane: it would be placed in memory
  if (lane < lags.n) job.frame[header_words + lane] = lane == 0 ? lags.of[0] : lags.of[1];
  // The index of a frame without chunks is one word, which no block of another kernel writes.
  if (lane == 0 && !stored && job.chunks == 0) job.frame[header_words] = 0;
  write_header(simt, job.scratch->crc, shared.header, bytes, job.frame, job.result);
}

template <class T>
struct FinishKernel {
  using Job = FinishJob<T>;
  using Shared = FinishShared;
  static constexpr BlockShape shape{group_threads, 2};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    if (job.of_sum && job.scratch->total.status != 0) return close(simt, job);
    const bool stored = job.frame != nullptr && job.may_be_stored && job.scratch->control.coded == 0;
    if (simt.block() == 0 && simt.thread() < warp_lanes && job.frame != nullptr)
      write_frame_header(simt, shared, job, stored);
    if (stored) {
      T* const to = reinterpret_cast<T*>(job.frame + header_words);
      const std::uint64_t step = std::uint64_t{job.blocks} * group_threads;
      for (std::uint64_t i = std::uint64_t{simt.block()} * group_threads + simt.thread(); i < job.count;
           i += step)
        to[i] = job.z.step == 0 ? job.values[i] : value_as_decoded(job.values[i], job.z);
    }
    close(simt, job);
  }

 private:
  template <class Simt>
  TAUT_DEVICE static void close(const Simt& simt, const Job& job) {
    taut::cuda::close(simt, *job.scratch, job.blocks, job.result);
  }
};

}  // namespace taut::planes::cuda
