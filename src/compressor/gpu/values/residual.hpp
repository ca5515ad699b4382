// Kernels of error feedback: a residual, what the coding of values has lost, is added to the next values.
#pragma once

#include <limits>

#include "compressor/gpu/values/combine_widely.hpp"

namespace taut::values::cuda {

// Returns the greatest finite number of T, in another type.
template <class T, class Wide>
TAUT_DEVICE Wide greatest() {
  if constexpr (is_half<T>) {
    constexpr unsigned infinity = ((1u << T::layout.exponent_bits) - 1) << T::layout.fraction_bits;
    return static_cast<Wide>(T::of_bits(static_cast<std::uint16_t>(infinity - 1)));
  } else {
    return static_cast<Wide>(std::numeric_limits<T>::max());
  }
}

// Returns the number, or the finite number of T that is nearest if it exceeds them. `x` is no NaN.
template <class T, class Wide>
TAUT_DEVICE Wide limited(Wide x) {
  const Wide most = greatest<T, Wide>();
  return x > most ? most : x < -most ? -most : x;
}

template <class Float>
TAUT_DEVICE bool is_finite(Float x) {
  return x - x == 0;
}

template <class T>
struct SumWithResidualJob {
  const T* operands;  // one after another
  std::uint32_t n;
  T* result;
  ComputedIn<T>* residual;
  std::uint64_t count;
  std::uint32_t divisor;
  std::uint32_t blocks;
};

// Adds the operands as CombineWidelyKernel does, and the residual, which becomes the total before it is
// rounded to T. The residual makes no infinity of a finite sum. A sum that is not finite stays as it is, and
// replaces the residual.
template <class T>
struct SumWithResidualKernel {
  using Job = SumWithResidualJob<T>;
  struct Shared {};
  static constexpr BlockShape shape{block_threads, 4};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    each_group<T>(simt, job.count, job.blocks, [&](std::uint64_t first, unsigned n) {
      Wider<T> total[group_values<T>];
      combine_group<Reduction::sum>(job.operands, job.n, job.count, first, n, total);
      T x[group_values<T>];
      ComputedIn<T> residual[group_values<T>];
      load_block(job.residual + first, n, residual);
      for (unsigned i = 0; i < group_values<T>; ++i) add(total[i], job.divisor, x[i], residual[i]);
      store_block(job.result + first, n, x);
      store_block(job.residual + first, n, residual);
    });
  }

 private:
  TAUT_DEVICE static void add(Wider<T> total, std::uint32_t divisor, T& x, ComputedIn<T>& residual) {
    const Wider<T> sum = divided(total, divisor);
    x = converted<T>(sum);
    if (!is_finite(static_cast<ComputedIn<T>>(x))) {
      residual = static_cast<ComputedIn<T>>(x);
      return;
    }
    const Wider<T> with = sum + static_cast<Wider<T>>(residual);
    x = converted<T>(limited<T>(with));
    residual = converted<ComputedIn<T>>(limited<ComputedIn<T>>(with));
  }
};

template <class T>
struct SubtractFromResidualJob {
  ComputedIn<T>* residual;
  const T* values;
  std::uint64_t count;
  std::uint32_t blocks;
};

// residual <- residual - values; 0 where that is not finite.
template <class T>
struct SubtractFromResidualKernel {
  using Job = SubtractFromResidualJob<T>;
  struct Shared {};
  static constexpr BlockShape shape{block_threads, 4};

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    each_group<T>(simt, job.count, job.blocks, [&](std::uint64_t first, unsigned n) {
      T x[group_values<T>];
      ComputedIn<T> residual[group_values<T>];
      load_block(job.values + first, n, x);
      load_block(job.residual + first, n, residual);
      for (unsigned i = 0; i < group_values<T>; ++i) {
        const ComputedIn<T> rest = residual[i] - static_cast<ComputedIn<T>>(x[i]);
        residual[i] = is_finite(rest) ? rest : ComputedIn<T>{0};
      }
      store_block(job.residual + first, n, residual);
    });
  }
};

}  // namespace taut::values::cuda
