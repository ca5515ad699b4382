// The transform by plain MPI and by Taut, in turn, and the error of the transform beside its proven bound.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "transform.hpp"

namespace fft {

// Figures of one variant.
struct Row {
  std::string name, policy = {};  // the policy is empty for plain MPI
  double bound = -1;              // absolute, of each transposition; -1: none
  std::vector<double> transpose_seconds = {}, total_seconds = {};  // of the slowest rank
  double plain_bytes = 0, sent_bytes = 0;                          // of the busiest rank, for each transform
  double error = 0;                                                // of the transform, relative to its norm
  double proven = -1;   // docs/error-model.md, theorem 9; -1: no bound
  double greatest = 0;  // greatest error of a coefficient, over the root mean square of all
  bool good() const { return proven < 0 || error <= proven; }
};

// Runs all variants. The rows are complete on rank 0, and `good` is the same on all ranks. `refused`:
// policies that Taut does not accept. Throws std::invalid_argument.
std::vector<Row> compare(const Options& options, MPI_Comm world, std::vector<std::string>& refused);

}  // namespace fft
