// Payload format of the mpc codec: constants and sizes. The format is specified in spec.md beside this file.
//
//   payload = grid, unit, base, states, lags: each only if the frame has it
//           | index: u32 offset[chunks + 1], in 4-byte words from the end of the index
//           | records, one a chunk of 4096 bytes; offset[i] == offset[i + 1]: a chunk of zeros
//   record  = planes | 0..3 bytes of 0 | coded | flags | heads | u64 top
//             or a sparse record (sparse.hpp), or the words themselves
//   block   = 8 consecutive differences as bit planes: a byte a plane, top plane first; bit j is word j
#pragma once

#include <bit>
#include <cstring>

#include "compressor/base/unaligned.hpp"
#include "compressor/frame/frame.hpp"
#include "compressor/values/slice.hpp"

namespace taut::mpc {

inline constexpr std::uint8_t frame_id = 3;
inline constexpr std::size_t max_count = max_frame_values;  // values in a frame
inline constexpr std::size_t chunk_bytes = 4096;
// Bytes that a kernel processes at a time; the bitmap of a vector has 64 bits.
inline constexpr std::size_t vector_bytes = 64;
inline constexpr std::size_t chunk_vectors = chunk_bytes / vector_bytes;
inline constexpr std::size_t block_words = 8;
// Greatest distance, in words, between a word and the word of its chunk that predicts it.
inline constexpr unsigned max_distance = 8;
// Kernels may read and write this many bytes past a record.
inline constexpr std::size_t overrun = 64;
inline constexpr std::size_t index_unit = 4;  // bytes
// Minimum bytes of a message that is sampled: the sample has to be small compared with the message.
inline constexpr std::size_t min_sampled_bytes = std::size_t{1} << 18;

constexpr std::size_t chunks_of(std::size_t bytes) noexcept {
  return (bytes + chunk_bytes - 1) / chunk_bytes;
}
constexpr std::size_t vectors_of(std::size_t bytes) noexcept {
  return (bytes + vector_bytes - 1) / vector_bytes;
}
constexpr std::size_t units_of(std::size_t bytes) noexcept { return (bytes + index_unit - 1) / index_unit; }
constexpr std::size_t index_bytes(std::size_t chunks) noexcept { return index_unit * (chunks + 1); }

// Size of the largest record plus the overrun of a kernel.
inline constexpr std::size_t max_record_bytes = chunk_bytes + chunk_bytes / 8 + chunk_bytes / 64 +
                                                max_distance * sizeof(std::uint64_t) + sizeof(std::uint64_t) +
                                                index_unit + overrun;

}  // namespace taut::mpc
