// The stack: one allreduce, by plain MPI and by Taut under several bounds, in alternation.
#pragma once

#include <mpi.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "quality.hpp"

namespace stacking {

// One variant and bound, measured.
struct Row {
  std::string name;                  // plain, values, frames
  std::string policy = {};           // Taut's; empty for plain MPI
  double relative_bound = 0;         // as asked for
  double bound = 0;                  // in units of the image
  std::vector<double> seconds = {};  // of each timed call: the slowest rank's
  double wire_bytes = 0;             // a rank and call; for plain MPI what an ideal ring sends
  bool compressed = false;           // frames moved; else the call went to plain MPI
  double codec_ratio = 1;            // bytes of values / bytes of the frames they became
  Quality quality = {};
  bool identical = true;  // on all ranks, in every call

  double median_seconds() const;
  bool good() const { return quality.within && identical; }
};

// Called on rank 0 for each variant with its image.
template <class T>
using Keep = std::function<void(const Row&, std::span<const T>)>;

// Stacks `share` over comm by every variant, `repeats` timed calls each. The rows are complete on rank 0;
// `good` is known to every rank.
template <class T>
std::vector<Row> stack_by_all(std::span<const T> share, const std::vector<double>& relative_bounds,
                              int repeats, MPI_Comm comm, const Keep<T>& keep);

}  // namespace stacking
