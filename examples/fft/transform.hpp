// A Fourier transform of a real array in pencils, unitary along each axis, so that norms are kept.
//
// The ranks form a grid of p0 x p1. Axis 2 is transformed first; a transposition among p1 ranks makes axis 1
// whole, another one among p0 ranks axis 0.
#pragma once

#include <span>

#include "exchange.hpp"

namespace fft {

// A communicator with a policy for each of the two transpositions.
struct TautComms {
  MPI_Comm rows = MPI_COMM_NULL, columns = MPI_COMM_NULL;
};

class Transform {
 public:
  Transform(MPI_Comm world, const Triple& whole, int p0, int p1);
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;
  ~Transform();

  const Triple& real_extent() const { return real_; }
  const Triple& real_first() const { return real_first_; }
  const Triple& result_extent() const { return columns_extent_; }
  const Triple& result_first() const { return result_first_; }
  MPI_Comm rows() const { return rows_; }        // the ranks of the first transposition
  MPI_Comm columns() const { return columns_; }  // the ranks of the second one

  // Transforms along axis 2. The result is the argument of `finish`.
  std::vector<Complex> start(std::span<const double> values) const;
  // Transposes and transforms along axes 1 and 0. Adds the seconds of the transpositions to `seconds`.
  std::vector<Complex> finish(const std::vector<Complex>& pencils, const TautComms& taut,
                              double& seconds) const;
  // Returns the values whose transform this is.
  std::vector<double> inverse(std::vector<Complex> result) const;

  // Returns the values that this rank sends to others in both transpositions: first, second.
  std::array<double, 2> travelling() const { return {to_rows_.travelling(), to_columns_.travelling()}; }

 private:
  struct Layout;
  Transform(MPI_Comm world, const Layout& layout);
  void along_axis_1(std::vector<Complex>& values, int sign) const;
  void along_axis_0(std::vector<Complex>& values, int sign) const;

  MPI_Comm rows_, columns_;
  Triple real_, real_first_, pencil_extent_, rows_extent_, columns_extent_, result_first_;
  Exchange to_rows_, to_columns_;
};

}  // namespace fft
