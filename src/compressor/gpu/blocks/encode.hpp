// Encodes values: a thread block processes a chunk, and none waits for another one. Writes the same bytes as
// codecs/blocks.
#pragma once

#include "compressor/gpu/blocks/chunk.hpp"

namespace taut::blocks::cuda {

template <class T>
struct EncodeJob {
  const T* values;
  std::uint64_t count;
  std::uint32_t* frame;
  ScratchHead* scratch;
  ResultPlace result;
  std::uint32_t bits, grid;            // bits: of a code; grid: thread blocks of this kernel
  std::uint32_t header[header_words];  // without payload_bytes, checksum

  TAUT_DEVICE std::uint16_t* scales() const { return reinterpret_cast<std::uint16_t*>(frame + header_words); }
  TAUT_DEVICE std::uint8_t* codes(std::uint64_t block) const {
    return reinterpret_cast<std::uint8_t*>(scales()) + scales_bytes(blocks_of(count)) +
           block * code_bytes(bits);
  }
};

struct EncodeShared {
  std::uint32_t header[header_words];
};

// The data that determine the scale of a block: take() collects them from a lane's values, share() from the
// lanes of the block.
struct Magnitudes {
  std::uint32_t max_size = 0;  // greatest finite magnitude, as magnitude_bits() returns it
  bool special = false;        // some value is not finite

  TAUT_DEVICE void take(float x) {
    const std::uint32_t size = magnitude_bits(x);
    special |= size >= infinity_bits;
    max_size = size < infinity_bits && size > max_size ? size : max_size;
  }

  // Called by whole warps.
  template <class Simt>
  TAUT_DEVICE void share(const Simt& simt) {
    const unsigned lane = simt.thread() % warp_lanes;
    for (unsigned by = 1; by < block_lanes; by *= 2) {
      const std::uint32_t other = simt.shuffle(max_size, lane ^ by);
      max_size = other > max_size ? other : max_size;
    }
    special = (simt.ballot(special) >> (lane / block_lanes * block_lanes) & ((1u << block_lanes) - 1)) != 0;
  }
};

template <class T>
struct EncodeKernel {
  using Job = EncodeJob<T>;
  using Shared = EncodeShared;
  static constexpr BlockShape shape = chunk_shape;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared& shared, const Job& job) {
    const unsigned lane = simt.thread() % block_lanes;
    const std::uint64_t block = std::uint64_t{simt.block()} * chunk_blocks + simt.thread() / block_lanes;
    const OwnValues<const T> own(job.values, job.count, block, lane);
    float x[rows][row_values];
    Magnitudes magnitudes;
    TAUT_UNROLLED
    for (unsigned k = 0; k < rows; ++k) {
      T row[row_values];
      own.load(k, row);
      for (unsigned i = 0; i < row_values; ++i) {
        x[k][i] = static_cast<float>(row[i]);
        magnitudes.take(x[k][i]);
      }
    }
    magnitudes.share(simt);
    if (block < blocks_of(job.count)) write(job, block, lane, x, magnitudes);
    if (simt.block() == 0) write_head(simt, shared, job);
    end_call_if_last(simt, *job.scratch, job.grid, job.result);
  }

 private:
  TAUT_DEVICE static void write(const Job& job, std::uint64_t block, unsigned lane,
                                const float (&x)[rows][row_values], const Magnitudes& magnitudes) {
    const int greatest = max_code(job.bits);
    const bool special = magnitudes.special;
    const std::uint16_t scale =
        scale_of(std::bit_cast<float>(magnitudes.max_size), special ? greatest - 1 : greatest);
    const float divisor = scale == 0 ? 1 : scale_value(scale);
    Codes codes{};
    TAUT_UNROLLED
    for (unsigned k = 0; k < rows; ++k)
      for (unsigned i = 0; i < row_values; ++i) {
        const std::uint8_t code =
            special ? code_or_special(x[k][i], scale, greatest) : code_of(x[k][i], divisor);
        codes.row[k] |= std::uint32_t{code} << (8 * i);
      }
    const CodeWords words = packed(codes, job.bits);
    std::uint8_t* const to = job.codes(block) + 4 * lane;
    TAUT_UNROLLED
    for (unsigned j = 0; j < rows; ++j)
      if (j < words_of(job.bits)) store_as(to + j * word_stride_bytes, words.word[j]);
    if (lane == 0) job.scales()[block] = special ? scale | has_specials : scale;
  }

  // Writes the header, and the zeros behind the scales.
  template <class Simt>
  TAUT_DEVICE static void write_head(const Simt& simt, Shared& shared, const Job& job) {
    const std::uint64_t blocks = blocks_of(job.count);
    if (simt.thread() >= warp_lanes) return;
    if (2 * (blocks + simt.thread()) < scales_bytes(blocks)) job.scales()[blocks + simt.thread()] = 0;
    if (simt.thread() < header_words) shared.header[simt.thread()] = job.header[simt.thread()];
    simt.sync_warp();
    write_header(simt, job.scratch->crc, shared.header, payload_bytes(job.count, job.bits), job.frame,
                 job.result);
  }
};

}  // namespace taut::blocks::cuda
