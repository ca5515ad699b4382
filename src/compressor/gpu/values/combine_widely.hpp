// Kernel that reduces several operands, in their order, in a wider type, and rounds once. Results have the
// bits of wide_reduction.cpp.
#pragma once

#include "compressor/gpu/values/combine.hpp"
#include "compressor/values/reduction.hpp"

namespace taut::values::cuda {

// Returns the number in another type. A NaN becomes quiet and keeps its upper bits, as on CPUs.
template <class To, class From>
TAUT_DEVICE To converted(From x) {
  if constexpr (std::is_floating_point_v<To> && std::is_floating_point_v<From> &&
                sizeof(To) != sizeof(From)) {
    if (x == x) return static_cast<To>(x);
    using Long = std::uint64_t;
    constexpr Long exponent_bits = Long{0x7FF} << 52;
    if constexpr (sizeof(To) > sizeof(From)) {
      const Long bits = std::bit_cast<std::uint32_t>(x);
      return made_quiet(std::bit_cast<To>(bits >> 31 << 63 | exponent_bits | (bits & 0x7FFFFF) << 29));
    } else {
      const auto bits = std::bit_cast<Long>(x);
      const auto upper = static_cast<std::uint32_t>(bits >> 29 & 0x7FFFFF);
      return made_quiet(
          std::bit_cast<To>(static_cast<std::uint32_t>(bits >> 63) << 31 | 0x7F800000u | upper));
    }
  } else {
    return static_cast<To>(x);
  }
}

// Reduces a group of values of n operands, which lie one after another with `count` values each.
template <Reduction op, class T, std::size_t N>
TAUT_DEVICE void combine_group(const T* operands, std::uint32_t n, std::uint64_t count, std::uint64_t first,
                               unsigned values, Wider<T> (&total)[N]) {
  T x[N];
  load_block(operands + first, values, x);
  for (unsigned i = 0; i < N; ++i) total[i] = converted<Wider<T>>(x[i]);
  TAUT_ROLLED
  for (std::uint32_t k = 1; k < n; ++k) {
    load_block(operands + k * count + first, values, x);
    for (unsigned i = 0; i < N; ++i) total[i] = combine(op, total[i], converted<Wider<T>>(x[i]));
  }
}

template <class Wide>
TAUT_DEVICE Wide divided(Wide total, std::uint32_t divisor) {
  if constexpr (std::is_floating_point_v<Wide>)
    if (divisor != 1) return quotient(total, static_cast<Wide>(divisor));
  return total;
}

template <class T>
struct CombineWidelyJob {
  const T* operands;  // one after another
  std::uint32_t n;    // number of operands
  T* result;
  std::uint64_t count;
  Reduction op;
  std::uint32_t divisor;
  std::uint32_t blocks;
};

template <class T>
struct CombineWidelyKernel {
  using Job = CombineWidelyJob<T>;
  struct Shared {};
  static constexpr BlockShape shape{block_threads, 4};  // 64 registers a thread, as totals are wide

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    switch (job.op) {
      case Reduction::sum: return run_as<Reduction::sum>(simt, job);
      case Reduction::min: return run_as<Reduction::min>(simt, job);
      case Reduction::max: return run_as<Reduction::max>(simt, job);
    }
  }

 private:
  template <Reduction op, class Simt>
  TAUT_DEVICE static void run_as(const Simt& simt, const Job& job) {
    each_group<T>(simt, job.count, job.blocks, [&](std::uint64_t first, unsigned n) {
      T x[group_values<T>];
      Wider<T> total[group_values<T>];
      combine_group<op>(job.operands, job.n, job.count, first, n, total);
      for (unsigned i = 0; i < group_values<T>; ++i) x[i] = converted<T>(divided(total[i], job.divisor));
      store_block(job.result + first, n, x);
    });
  }
};

}  // namespace taut::values::cuda
