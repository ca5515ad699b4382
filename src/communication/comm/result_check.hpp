// Comparison of the results of served calls with those of plain MPI (TAUT_CHECK).
#pragma once

#include <cstdint>

#include "communication/policy/plan/policy.hpp"
#include "compressor/values/reduction.hpp"

namespace taut {

// The greatest error among values, measured by its share of the bound, and where it is.
struct GreatestError {
  double error = 0;           // |served - plain|; infinity: one of the two alone is finite
  double bound = 0;           // greatest error that the policy allows there; infinity: it promises nothing
  std::uint64_t element = 0;  // number of the value in the result

  double share() const noexcept;  // of the bound; infinity: the bound is 0 and the error is not
  // Keeps the greater of two errors.
  void merge(const GreatestError& other) noexcept;
};

// Sums over the checked calls of a kind.
struct ResultChecks {
  std::uint64_t calls = 0;
  std::uint64_t calls_over_bound = 0;  // in which some value broke the promise of the policy
  std::uint64_t nanoseconds = 0;       // that the program lost to the checks
  GreatestError greatest;

  ResultChecks& operator+=(const ResultChecks& other) noexcept;
};

// Comparison of the results of one call.
class ResultComparison {
 public:
  // `rounding`: greatest difference that the roundings of two sums may make, in addition to the promise.
  ResultComparison(const Promise& promise, double rounding) noexcept;

  // Compares the next values of the result; both slices have the same type and count.
  void add(ConstSlice plain, ConstSlice served) noexcept;

  // Counts the call. `nanoseconds`: that the program lost to its check.
  void count(ResultChecks& sums, std::uint64_t nanoseconds) const noexcept;

 private:
  template <class Number>
  void add_numbers(const void* plain, const void* served, std::size_t n, std::size_t parts) noexcept;

  Promise promise_;
  double rounding_;
  std::uint64_t elements_ = 0;
  bool over_bound_ = false;
  GreatestError greatest_;
};

// Returns true if call `number`, counted from 0, is checked where one in `one_in` is (0: none): the first
// one, and others at random, so that calls that alternate are all checked. The same on all ranks.
bool is_checked(std::uint64_t number, int one_in) noexcept;

// Returns the greatest difference that roundings make between two sums of the values of `ranks` ranks, each
// added in any order. `magnitude`: sum over the ranks of their greatest |value|.
double rounding_of_sums(DType type, int ranks, double magnitude) noexcept;

// Returns the greatest |value| among the finite values.
double greatest_magnitude(ConstSlice values) noexcept;

}  // namespace taut
