// Kernels that reduce two arrays of values, values <- values op other, and divide an array by a number. The
// bits are those of reduction.cpp and place.cpp.
#pragma once

#include "compressor/gpu/values/groups.hpp"

namespace taut::values::cuda {

template <class T>
struct CombineJob {
  T* values;
  const T* other;
  std::uint64_t count;
  Reduction op;
  std::uint32_t blocks;
};

template <class T>
struct CombineKernel {
  using Job = CombineJob<T>;
  struct Shared {};
  static constexpr BlockShape shape = usual_shape;

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
      T y[group_values<T>], x[group_values<T>];
      load_block<T>(job.values + first, n, y);
      load_block(job.other + first, n, x);
      for (unsigned i = 0; i < group_values<T>; ++i) y[i] = combine(op, y[i], x[i]);
      store_block(job.values + first, n, y);
    });
  }
};

template <class T>
struct DivideJob {
  T* values;
  std::uint64_t count;
  ComputedIn<T> divisor;
  std::uint32_t blocks;
};

// Returns the quotient; a NaN is made quiet, but keeps its other bits, as on CPUs.
template <class T>
TAUT_DEVICE T quotient(T x, ComputedIn<T> divisor) {
  const auto number = static_cast<ComputedIn<T>>(x);
  return static_cast<T>(number == number ? number / divisor : made_quiet(number));
}

template <class T>
struct DivideKernel {
  using Job = DivideJob<T>;
  struct Shared {};
  static constexpr BlockShape shape = usual_shape;

  template <class Simt>
  TAUT_DEVICE static void run(Simt simt, Shared&, const Job& job) {
    each_group<T>(simt, job.count, job.blocks, [&](std::uint64_t first, unsigned n) {
      T y[group_values<T>];
      load_block<T>(job.values + first, n, y);
      for (unsigned i = 0; i < group_values<T>; ++i) y[i] = quotient(y[i], job.divisor);
      store_block(job.values + first, n, y);
    });
  }
};

}  // namespace taut::values::cuda
