// The output of a run: a table for people, report.json and raw values for plot.py.
#pragma once

#include <string>

#include "run.hpp"

namespace wave3d {

// The differences between a variant and plain MPI.
struct Difference {
  double misfit = 0;        // of all seismograms: relative L2 norm
  double worst_misfit = 0;  // of the station with the greatest misfit
  double energy_drift = 0;  // greatest difference in energy, over the greatest energy
  bool same_bits = true;    // true if all seismograms and the slice are the same to the bit
};

Difference compare(const Outcome& outcome, const Outcome& plain, int stations);

void print_table(const Run& run, const Options& options);
void write_files(const Run& run, const Options& options);

// Returns false if a variant breaks a promise: a lossless variant changes the waves, or a seismogram is not
// finite. Prints the variants that do so.
bool keeps_promises(const Run& run);

}  // namespace wave3d
