// Quality of a stacked image: its distance from the exact sum, and whether all ranks hold the same image.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stacking {

struct Quality {
  double max_error = 0;  // greatest error of the finite values
  double nrmse = 0;      // root mean square error / range
  double psnr = 0;       // dB: -20 log10(nrmse); infinite if there is no error
  bool within = true;    // true if every value is within the bound plus the rounding to its type
  double range = 0;      // range of the finite values of the exact sum
};

// Returns the sum over all ranks in double precision, on rank 0 (empty on other ranks). Collective.
template <class T>
std::vector<double> exact_sum(std::span<const T> share, MPI_Comm comm);

template <class T>
Quality compare(std::span<const T> result, std::span<const double> exact, double bound);

// Returns a hash that depends on every bit and on the position of every value.
std::uint64_t hash(std::span<const std::byte> bytes);

// Returns true if all ranks hold the same bytes; all ranks get the same answer. Collective.
bool same_everywhere(std::span<const std::byte> bytes, MPI_Comm comm);

}  // namespace stacking
