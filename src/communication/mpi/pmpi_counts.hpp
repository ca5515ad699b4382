// Functions of plain MPI, with large counts and persistent calls if this MPI has them.
#pragma once

#include <mpi.h>

#include <climits>
#include <vector>

#include "communication/mpi/errors.hpp"

namespace taut::api::pmpi {

#if MPI_VERSION >= 4
#define TAUT_PMPI(name) PMPI_##name##_c
#define TAUT_PMPI_INIT(name) PMPI_##name##_init_c
inline constexpr bool has_persistent = true, has_large_counts = true;
using Count = MPI_Count;
inline bool fits(MPI_Count) noexcept { return true; }
#else
#define TAUT_PMPI(name) PMPI_##name
#define TAUT_PMPI_INIT(name) [](auto...) { return MPI_ERR_UNSUPPORTED_OPERATION; }
inline constexpr bool has_persistent = false, has_large_counts = false;
using Count = int;
inline bool fits(MPI_Count count) noexcept { return count <= INT_MAX && count >= INT_MIN; }
#endif

// Returns a count in MPI's type; 0 if the count is not significant on this rank.
inline Count count(MPI_Count count, bool matters = true) noexcept {
  return matters ? static_cast<Count>(count) : Count{0};
}

// Copy of n numbers as another type. The copy of a null pointer is null.
template <class To, class From>
class ConvertedArray {
 public:
  ConvertedArray(const From* numbers, int n) : null_(numbers == nullptr) {
    numbers_.reserve(static_cast<std::size_t>(n) + 1);  // an array of no numbers is not null either
    for (int i = 0; i < (null_ ? 0 : n); ++i) {
      numbers_.push_back(static_cast<To>(numbers[i]));
      fit_ &= static_cast<From>(numbers_.back()) == numbers[i];
    }
  }
  bool fit() const noexcept { return fit_; }  // every number is the same as before
  const To* data() const noexcept { return null_ ? nullptr : numbers_.data(); }

 private:
  std::vector<To> numbers_;
  bool null_, fit_ = true;
};

// Counts or displacements of n blocks in the type of plain MPI. The array may be null.
#if MPI_VERSION >= 4
template <class Number>
class Numbers {
 public:
  Numbers(const Number* numbers, int) noexcept : numbers_(numbers) {}
  bool fit() const noexcept { return true; }
  const Number* data() const noexcept { return numbers_; }

 private:
  const Number* numbers_;
};
#else
template <class Number>
using Numbers = ConvertedArray<int, Number>;
#endif

}  // namespace taut::api::pmpi
