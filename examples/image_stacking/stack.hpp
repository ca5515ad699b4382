// The stack: one allreduce, by plain MPI and by Taut under several bounds, in alternation.
#pragma once

#include <mpi.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "quality.hpp"

namespace stacking {

// The measurement of one variant and bound.
struct Row {
  std::string name;                  // plain, values, frames, policy-1
  std::string policy = {};           // policy of Taut; empty for plain MPI
  double relative_bound = 0;         // the requested bound; 0: none is checked
  double bound = 0;                  // in units of the image
  std::vector<double> seconds = {};  // seconds of each timed call on the slowest rank
  double wire_bytes = 0;             // bytes of a rank and call; plain MPI: those of an ideal ring
  bool compressed = false;           // true if frames were sent; else the call fell back to plain MPI
  double codec_ratio = 1;            // bytes of values / bytes of their frames
  Quality quality = {};
  bool identical = true;  // over all ranks and calls

  double median_seconds() const;
  bool checked() const { return policy.empty() || relative_bound > 0; }
  bool good() const { return !checked() || (quality.within && identical); }
};

// Function called on rank 0 for each variant with its image.
template <class T>
using Keep = std::function<void(const Row&, std::span<const T>)>;

// Variants that are compared with plain MPI: both ways to add under each bound, and further policies.
struct Compared {
  std::vector<double> relative_bounds;
  std::vector<std::string> policies;
};

// Stacks `share` over comm by every variant, `repeats` timed calls each. The rows are complete on rank 0;
// `good` is known to every rank.
template <class T>
std::vector<Row> stack_by_all(std::span<const T> share, const Compared& compared, int repeats, MPI_Comm comm,
                              const Keep<T>& keep);

}  // namespace stacking
