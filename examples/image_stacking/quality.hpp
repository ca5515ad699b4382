// How far a stacked image is from the exact sum, and whether all ranks hold the same one.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stacking {

struct Quality {
  double max_error = 0;  // of the finite values
  double nrmse = 0;      // root mean square error / range
  double psnr = 0;       // dB: -20 log10(nrmse); infinite if there is no error
  bool within = true;    // every value within the bound, give or take the rounding to its own type
  double range = 0;      // of the finite values of the exact sum
};

// The sum over all ranks in double precision, on rank 0 (empty elsewhere). Collective.
template <class T>
std::vector<double> exact_sum(std::span<const T> share, MPI_Comm comm);

template <class T>
Quality compare(std::span<const T> result, std::span<const double> exact, double bound);

// Depends on every bit and on the place of every value.
std::uint64_t hash(std::span<const std::byte> bytes);

// Do all ranks hold the same bytes? The same answer everywhere. Collective.
bool same_everywhere(std::span<const std::byte> bytes, MPI_Comm comm);

}  // namespace stacking
