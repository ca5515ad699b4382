// Kernels of the general path: wide integers, and the exact values among the quantised ones. All sets produce
// the same bytes.
#pragma once

#include "compressor/codecs/planes/kernels/kernels.hpp"

namespace taut::planes {

// Bit mask of the values of a chunk: value i has bit i % 64 of words[i / 64]. A value whose bit is set is
// marked.
struct ChunkMask {
  std::uint64_t words[chunk_values / 64];
};

// Clears the marks beyond the chunk's n values.
inline void trim(ChunkMask& marks, std::size_t n) noexcept {
  if (n % 64 != 0) marks.words[n / 64] &= (std::uint64_t{1} << (n % 64)) - 1;
}

// Adds marks for packed integers; returns false if there are none.
template <class T>
bool mark_packed(const T* values, std::size_t n, ChunkMask& marks) noexcept {
  std::uint64_t any = 0;
  for (std::size_t first = 0; first < n; first += 64) {
    std::uint64_t bits = 0;
    for (std::size_t i = first; i < std::min(n, first + 64); ++i)
      bits |= std::uint64_t{is_packed(values[i])} << (i - first);
    marks.words[first / 64] |= bits;
    any |= bits;
  }
  return any != 0;
}

// Result of quantising a chunk.
struct QuantisedChunk {
  bool all_have_integers;  // no value was marked
  bool all_small;          // all values that have an integer are in the small range
};

// Compensated sums of a few numbers at each of up to 64 positions: sum + error. `lost` bounds the part that
// may be missing from `error`; `certain` is all ones where the rounded sum is certain to be the correct one.
struct CompensatedSums {
  static constexpr std::size_t positions = 64;
  alignas(64) double sum[positions], error[positions], lost[positions];
  alignas(64) std::uint64_t certain[positions];
};

// Kernels of the general path on values of type T; `q` are integers, `z` is the quantiser.
template <class T>
struct GeneralValueKernels {
  // q <- values / step for the large range, in double arithmetic. Marks the values that have to be stored
  // exactly, and sets or clears all marks.
  QuantisedChunk (*quantise)(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q,
                             ChunkMask& marks) noexcept;
  // Quantises to 43 bits. Values without an integer become `escaped`. Returns how many of the n values have
  // an integer.
  std::size_t (*quantise_wide)(const T* values, std::size_t n, const Quantiser<T>& z,
                               std::int64_t* q) noexcept;
  void (*dequantise_wide)(const std::int64_t* q, std::size_t n, const Quantiser<T>& z, T* values) noexcept;

  // to <- as_decoded(values).
  void (*decoded_forms)(const T* values, std::size_t n, const Quantiser<T>& z, T* to) noexcept;

  // Returns false if some value is NaN or its magnitude exceeds `limit`.
  bool (*all_below)(const T* values, std::size_t n, ComputedIn<T> limit) noexcept;
  // Writes the decoded forms of n values, of which those beyond `limit` and NaN have no integer. Returns the
  // number of values without an integer that differ from the value before, bit for bit.
  std::size_t (*write_forms)(const T* values, std::size_t n, ComputedIn<T> limit, const Quantiser<T>& z,
                             std::byte* out) noexcept;

  // Writes the runs of the marked values, and sets their entries in `q` to the integer before them. Returns
  // the number of runs; if the number is above max_runs, nothing is changed.
  std::size_t (*take_runs)(const T* values, std::size_t n, const ChunkMask& marks, std::size_t max_runs,
                           std::int32_t* q, std::byte* out) noexcept;
  std::size_t (*take_wide_runs)(const T* values, std::size_t n, const ChunkMask& marks, std::size_t max_runs,
                                std::int64_t* q, std::byte* out) noexcept;

  // to <- q and values <- value, n times.
  void (*repeat)(std::int32_t q, T value, std::size_t n, std::int32_t* to, T* values) noexcept;
  // values <- values + operand, as reduce_values().
  void (*add)(T* values, const T* operand, std::size_t n) noexcept;

  // values <- value at the marked positions.
  void (*put)(T* values, std::size_t n, const ChunkMask& marks, T value) noexcept;

  // compensated <- compensated + values, position by position. `positions`, here and below, is a multiple of
  // 8 and may exceed the number of positions in use.
  void (*add_compensated)(CompensatedSums& compensated, const T* values, std::size_t positions) noexcept;
  // values <- the sums, rounded; sets `certain`. Returns false if some position is not certain.
  bool (*round)(CompensatedSums& compensated, std::size_t positions, T* values) noexcept;
};

// The coded differences of a wide chunk, checked: `bytes` is as long as the sum of the widths.
struct WidePlanes {
  ConstBytes bytes;
  const Widths* widths;
  std::int64_t base;
};

struct GeneralKernels {
  ForEachType<GeneralValueKernels> values;

  // Mark the integers equal to the integer before, and set or clear all marks. Narrow: 32 bits, wide: 64.
  void (*mark_narrow_repeats)(const std::int32_t* q, std::size_t n, ChunkMask& marks) noexcept;
  void (*mark_wide_repeats)(const std::int64_t* q, std::size_t n, ChunkMask& marks) noexcept;

  // Marks the integers that are `escaped`.
  void (*mark_escaped)(const std::int64_t* q, std::size_t n, ChunkMask& marks) noexcept;

  // compensated <- multiples * step.
  void (*multiply)(CompensatedSums& compensated, const double* multiples, double step,
                   std::size_t positions) noexcept;

  // Writes the planes of 64-bit integers in complete blocks; returns their bytes. `out` has room for
  // max_plane_record.
  std::size_t (*pack)(const std::int64_t* q, std::size_t blocks, Predictor predictor, std::byte* out,
                      Widths& widths) noexcept;
  // q <- q + the integers of wide planes. Reads no byte beyond `in`.
  void (*unpack_add)(const WidePlanes& in, std::size_t blocks, Predictor predictor, std::int64_t* q) noexcept;
  // Writes the planes of the sum of 1 <= n <= max_operands chunks, as pack does. Reads no byte beyond `in`.
  std::size_t (*sum)(const WidePlanes* in, std::size_t n, std::size_t blocks, std::byte* out,
                     Widths& widths) noexcept;

  template <class T>
  const GeneralValueKernels<T>& for_type() const noexcept {
    return std::get<GeneralValueKernels<T>>(values);
  }
};

// Set: the instruction set scalar, avx2 or avx512.
template <class Set>
const GeneralKernels& general_kernels_with() noexcept;

}  // namespace taut::planes
