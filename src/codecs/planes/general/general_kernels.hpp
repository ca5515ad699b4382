// Kernels of the general path: wide integers, and the exact values among the quantised ones. The same bytes
// from every set.
#pragma once

#include "codecs/planes/kernels/kernels.hpp"

namespace taut::planes {

// One bit for each value of a chunk.
struct Marks {
  std::uint64_t of[chunk_values / 64];
};

// Forgets what was found behind the chunk's n values.
inline void trim(Marks& marks, std::size_t n) noexcept {
  if (n % 64 != 0) marks.of[n / 64] &= (std::uint64_t{1} << (n % 64)) - 1;
}

// Marks packed integers too; false when there are none.
template <class T>
bool mark_packed(const T* values, std::size_t n, Marks& marks) noexcept {
  std::uint64_t any = 0;
  for (std::size_t first = 0; first < n; first += 64) {
    std::uint64_t bits = 0;
    for (std::size_t i = first; i < std::min(n, first + 64); ++i)
      bits |= std::uint64_t{is_packed(values[i])} << (i - first);
    marks.of[first / 64] |= bits;
    any |= bits;
  }
  return any != 0;
}

struct Quantised {
  bool complete;  // no value was marked
  bool small;     // all others are in the small range
};

// Sums of a few numbers at each of up to 64 places, kept as sum + error; `lost` is what may be missing from
// the error.
struct Strip {
  static constexpr std::size_t places = 64;
  alignas(64) double sum[places], error[places], lost[places];
  alignas(64) std::uint64_t certain[places];
};

template <class T>
struct GeneralValueKernels {
  // q <- values / step for the large range, in double arithmetic, and marks what has to travel exactly
  // instead. Complete groups. Sets all marks.
  Quantised (*quantise)(const T* values, std::size_t groups, const Quantiser<T>& z, std::int32_t* q,
                        Marks& marks) noexcept;
  // The same for 43 bits, with `escaped` for marks; returns how many of the n values got an integer.
  std::size_t (*quantise_wide)(const T* values, std::size_t n, const Quantiser<T>& z,
                               std::int64_t* q) noexcept;
  void (*dequantise_wide)(const std::int64_t* q, std::size_t n, const Quantiser<T>& z, T* values) noexcept;

  // False: some |x| is beyond `limit` or no number.
  bool (*all_below)(const T* values, std::size_t n, ComputedIn<T> limit) noexcept;

  // Writes the runs of the marked values, and gives their places the integer before them. Returns the runs'
  // number; when that is above `most`, nothing is done.
  std::size_t (*take_runs)(const T* values, std::size_t n, const Marks& marks, std::size_t most,
                           std::int32_t* q, std::byte* out) noexcept;
  std::size_t (*take_wide_runs)(const T* values, std::size_t n, const Marks& marks, std::size_t most,
                                std::int64_t* q, std::byte* out) noexcept;

  // values <- value at the marked places.
  void (*put)(T* values, std::size_t n, const Marks& marks, T value) noexcept;

  // strip <- strip + values, place by place. All of `places` are multiples of 8 and may exceed what is used.
  void (*add)(Strip& strip, const T* values, std::size_t places) noexcept;
  // values <- the sums, correctly rounded where that is `certain`; false when it is not so everywhere.
  bool (*round)(Strip& strip, std::size_t places, T* values) noexcept;
};

// The coded differences of a wide chunk, checked: `bytes` holds the sum of the widths.
struct WidePlanes {
  ConstBytes bytes;
  const Widths* widths;
  std::int64_t base;
};

struct GeneralKernels {
  ForEachType<GeneralValueKernels> values;

  // Marks integers equal to the one before. Sets all marks.
  void (*mark_narrow_repeats)(const std::int32_t* q, std::size_t n, Marks& marks) noexcept;
  void (*mark_wide_repeats)(const std::int64_t* q, std::size_t n, Marks& marks) noexcept;

  // Marks the integers that are `escaped`.
  void (*mark_escaped)(const std::int64_t* q, std::size_t n, Marks& marks) noexcept;

  // strip <- multiples * step.
  void (*multiply)(Strip& strip, const double* multiples, double step, std::size_t places) noexcept;

  // Planes of 64-bit integers (complete blocks); returns their bytes. `out` has room for max_plane_record.
  std::size_t (*pack)(const std::int64_t* q, std::size_t blocks, Predictor predictor, std::byte* out,
                      Widths& widths) noexcept;
  // q <- q + the integers of wide planes.
  void (*unpack_add)(const WidePlanes& in, std::size_t blocks, Predictor predictor, std::int64_t* q) noexcept;
  // Planes of the sum of 1 <= n <= max_operands chunks, written as by pack. Neither reads a byte beyond `in`.
  std::size_t (*sum)(const WidePlanes* in, std::size_t n, std::size_t blocks, std::byte* out,
                     Widths& widths) noexcept;

  template <class T>
  const GeneralValueKernels<T>& of() const noexcept {
    return std::get<GeneralValueKernels<T>>(values);
  }
};

const GeneralKernels& scalar_general_kernels() noexcept;
const GeneralKernels& avx512_general_kernels() noexcept;

}  // namespace taut::planes
