// Kernel that decodes frames of the codec `blocks`: values <- frame, or values += frame. A thread block
// processes a chunk independently of the others: 64 codec blocks of values with a scale each. Frames that
// codecs/blocks rejects are rejected here, before any value of the chunk is written.
#pragma once

#include "compressor/gpu/blocks/chunk.hpp"
#include "compressor/gpu/simt/source.hpp"
#include "compressor/values/reduction.hpp"

namespace taut::blocks::cuda {

// A Target is what a decoder does with a row, 4 neighbouring values of a thread (chunk.hpp): Replace writes
// them over those in memory, Add adds them as reduce_values() does.
template <class T>
struct Replace {
  using Value = T;

  TAUT_DEVICE static void put(const OwnValues<T>& own, unsigned k, const T (&x)[row_values]) {
    own.store(k, x);
  }
};

template <class T>
struct Add {
  using Value = T;

  TAUT_DEVICE static void put(const OwnValues<T>& own, unsigned k, const T (&x)[row_values]) {
    T sums[row_values];
    own.load(k, sums);
    for (unsigned i = 0; i < row_values; ++i) sums[i] = combine(Reduction::sum, sums[i], x[i]);
    own.store(k, sums);
  }
};

// Contents of an opened frame's header.
struct OpenFrame {
  std::uint32_t status;  // not 0: the other member is invalid
  std::uint32_t bits;    // of a code
};

template <class T>
struct DecodeJob {
  Source source;
  T* values;
  std::uint64_t count;
  DType type;
  std::uint32_t grid;  // thread blocks of this kernel
  ScratchHead* scratch;
  ResultPlace result;
};

struct DecodeShared {
  OpenFrame frame;
};

// Returns the bits of a code in a frame with this header; 0 if no frame of the codec has its bound.
TAUT_DEVICE unsigned bits_of(const HeaderView& h) {
  const double rate = h.bound();
  const bool is_rate = h.bound_kind() == static_cast<unsigned>(Bound::Kind::rate);
  return !is_rate ? 0 : rate == 8 ? 8 : rate == 6 ? 6 : rate == 4 ? 4 : 0;
}

template <class Target>
struct DecodeKernel {
  using T = typename Target::Value;
  using Job = DecodeJob<T>;
  using Shared = DecodeShared;
  static constexpr BlockShape shape = chunk_shape;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    if (simt.thread() < warp_lanes) {
      const OpenFrame opened = open_frame(simt, job);
      if (simt.thread() == 0) shared.frame = opened;
    }
    simt.barrier();
    std::uint32_t failure = shared.frame.status;
    if (failure == 0 && !decode_chunk(simt, job, shared.frame.bits)) failure = code(Status::corrupt_frame);
    if (failure != 0 && simt.thread() == 0) simt.atomic_max(&job.scratch->control.failure, failure);
    end_call_if_last(simt, *job.scratch, job.grid, job.result);
  }

 private:
  // Called by a whole warp.
  template <class Simt>
  TAUT_DEVICE static OpenFrame open_frame(const Simt& simt, const Job& job) {
    const HeaderView h{job.source.frame};
    const std::uint32_t status =
        check_header(simt, job.scratch->crc, job.source.frame, job.source.bytes, frame_id);
    if (status != 0) return {status, 0};
    if (h.type() != static_cast<unsigned>(job.type) || h.count() != job.count)
      return {code(Status::frame_mismatch), 0};
    const unsigned bits = bits_of(h);
    const bool valid = !h.has(FrameHeader::stored) && h.addends() == 1 && bits != 0;
    if (!valid || h.payload_bytes() != payload_bytes(job.count, bits))
      return {code(Status::corrupt_frame), 0};
    return {0, bits};
  }

  // Returns false, in all threads of the block, if a scale is not finite.
  template <class Simt>
  TAUT_DEVICE static bool decode_chunk(const Simt& simt, const Job& job, unsigned bits) {
    const unsigned lane = simt.thread() % block_lanes;
    const std::uint64_t block = std::uint64_t{simt.block()} * chunk_blocks + simt.thread() / block_lanes,
                        blocks = blocks_of(job.count);
    const auto* const payload = reinterpret_cast<const std::uint8_t*>(job.source.frame + header_words);
    const bool has_block = block < blocks;
    const std::uint32_t scale = has_block ? reinterpret_cast<const std::uint16_t*>(payload)[block] : 0u;
    if (simt.barrier_any((scale & ~std::uint32_t{has_specials}) >= infinite_scale)) return false;
    if (!has_block) return true;
    const std::uint8_t* const codes = payload + scales_bytes(blocks) + block * code_bytes(bits) + 4 * lane;
    CodeWords words{};
    TAUT_UNROLLED
    for (unsigned j = 0; j < rows; ++j)
      if (j < words_of(bits)) words.word[j] = load_as<std::uint32_t>(codes + j * word_stride_bytes);
    put(job, block, lane, unpacked(words, bits), scale, bits);
    return true;
  }

  TAUT_DEVICE static void put(const Job& job, std::uint64_t block, unsigned lane, const Codes& codes,
                              std::uint32_t scale, unsigned bits) {
    const float step = scale_value(scale & ~std::uint32_t{has_specials});
    const OwnValues<T> own(job.values, job.count, block, lane);
    TAUT_UNROLLED
    for (unsigned k = 0; k < rows; ++k) {
      T x[row_values];
      for (unsigned i = 0; i < row_values; ++i) {
        const int own_code = code_at(codes.row[k], i, bits);
        const float product = product_of<T>(own_code, step);
        const bool special = (scale & has_specials) != 0;
        x[i] = rounded_to<T>(special ? value_or_special(own_code, product, max_code(bits)) : product);
      }
      Target::put(own, k, x);
    }
  }
};

}  // namespace taut::blocks::cuda
