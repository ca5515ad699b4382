// One transposition of a distributed array: from blocks along one axis to blocks along another one.
#pragma once

#include <mpi.h>

#include <array>
#include <complex>
#include <vector>

namespace fft {

using Triple = std::array<int, 3>;  // axes 0, 1, 2; axis 2 varies fastest in memory
using Complex = std::complex<double>;

// The part of `n` indices that block `r` of `p` holds.
struct Part {
  int first, count;
};
inline Part part(int n, int p, int r) {
  const auto at = [&](int i) { return static_cast<int>(static_cast<long long>(n) * i / p); };
  return {at(r), at(r + 1) - at(r)};
}

inline std::size_t volume(const Triple& extent) {
  return static_cast<std::size_t>(extent[0]) * static_cast<std::size_t>(extent[1]) *
         static_cast<std::size_t>(extent[2]);
}

// Values go from arrays of extent `from`, in which axis `split` is whole, to arrays of extent `to`, in which
// axis `gathered` is whole. One MPI_Alltoallw with subarrays moves them (Dalcin, Mortensen, Keyes, JPDC
// 2019).
class Exchange {
 public:
  Exchange(MPI_Comm comm, const Triple& from, std::size_t split, const Triple& to, std::size_t gathered);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  // Moves the values by MPI's call, or by Taut's on a communicator that has a policy.
  void forward(const Complex* from, Complex* to, MPI_Comm taut = MPI_COMM_NULL) const;
  void backward(const Complex* from, Complex* to) const;  // by MPI's call

  double travelling() const { return travelling_; }  // values that this rank sends to other ranks

 private:
  MPI_Comm comm_;
  std::vector<int> counts_, displacements_;
  std::vector<MPI_Datatype> out_, in_;
  double travelling_ = 0;
};

}  // namespace fft
