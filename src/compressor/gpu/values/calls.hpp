// Launches the kernels of each call on arrays of values. Launcher: see compressor/gpu/planes/calls.hpp.
#pragma once

#include <optional>

#include "compressor/gpu/values/failures.hpp"
#include "compressor/gpu/values/range.hpp"
#include "compressor/gpu/values/residual.hpp"

namespace taut::values::cuda {

// Computes values <- values op other.
template <class T, class Launcher>
void combine(Launcher& launcher, T* values, const T* other, std::uint64_t count, Reduction op) {
  const std::uint32_t blocks = blocks_for<T>(count, max_blocks);
  if (blocks > 0) launcher.template launch<CombineKernel<T>>(blocks, {values, other, count, op, blocks});
}

// Computes result <- (operand 0 op operand 1 op ...) / divisor, in the wider type; the n operands lie one
// after another.
template <class T, class Launcher>
void combine_widely(Launcher& launcher, const T* operands, std::uint32_t n, T* result, std::uint64_t count,
                    Reduction op, std::uint32_t divisor) {
  const std::uint32_t blocks = blocks_for<T>(count, max_blocks);
  if (blocks > 0)
    launcher.template launch<CombineWidelyKernel<T>>(blocks,
                                                     {operands, n, result, count, op, divisor, blocks});
}

// Computes result <- (operand 0 + operand 1 + ...) / divisor + residual, rounded to T; residual <- the same,
// not rounded.
template <class T, class Launcher>
void sum_with_residual(Launcher& launcher, const T* operands, std::uint32_t n, T* result,
                       ComputedIn<T>* residual, std::uint64_t count, std::uint32_t divisor) {
  const std::uint32_t blocks = blocks_for<T>(count, max_blocks);
  if (blocks > 0)
    launcher.template launch<SumWithResidualKernel<T>>(
        blocks, {operands, n, result, residual, count, divisor, blocks});
}

// Computes residual <- residual - values, 0 where that is not finite.
template <class T, class Launcher>
void subtract_from_residual(Launcher& launcher, ComputedIn<T>* residual, const T* values,
                            std::uint64_t count) {
  const std::uint32_t blocks = blocks_for<T>(count, max_blocks);
  if (blocks > 0)
    launcher.template launch<SubtractFromResidualKernel<T>>(blocks, {residual, values, count, blocks});
}

// Notes a result that is no success, and clears the header of a frame then.
template <class Launcher>
void note_failures(Launcher& launcher, const CallResult* results, std::uint32_t n, std::uint32_t* failed,
                   std::uint32_t* header) {
  if (n > 0) launcher.template launch<NoteFailuresKernel>(1, {results, n, failed, header});
}

// Computes values <- values / n.
template <class T, class Launcher>
void divide(Launcher& launcher, T* values, std::uint64_t count, int n) {
  const std::uint32_t blocks = blocks_for<T>(count, max_blocks);
  if (blocks > 0)
    launcher.template launch<DivideKernel<T>>(blocks, {values, count, static_cast<ComputedIn<T>>(n), blocks});
}

// Memory of a call of range(): one range for each thread block.
inline constexpr std::size_t range_scratch_bytes = max_range_blocks * sizeof(Extremes);

// Finds the range of `values`, without values that equal `fill` as rounded to T.
template <class T, class Launcher>
void range(Launcher& launcher, const T* values, std::uint64_t count, std::optional<double> fill,
           bool exact_bits, std::byte* scratch, RangeResult* result) {
  using Computed = ComputedIn<T>;
  const Computed excluded =
      fill ? static_cast<Computed>(static_cast<T>(*fill)) : std::numeric_limits<Computed>::quiet_NaN();
  auto* const parts = reinterpret_cast<Extremes*>(scratch);
  const std::uint32_t blocks = blocks_for<T>(count, max_range_blocks);
  if (blocks > 0)
    launcher.template launch<RangeKernel<T>>(blocks, {values, count, excluded, exact_bits, parts, blocks});
  launcher.template launch<RangeTotalKernel>(1, {parts, blocks, result});
}

}  // namespace taut::values::cuda
