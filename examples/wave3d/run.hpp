// Run of all variants, which advance step by step in turn: disturbances of the machine meet all alike.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halo.hpp"
#include "options.hpp"

namespace wave3d {

// The outcome of a variant, on rank 0.
struct Outcome {
  std::string name, policy;  // the policy is empty for plain MPI
  Way way = Way::messages;
  std::vector<double> halo_seconds, step_seconds;  // of each step, of the slowest rank
  std::vector<double> halo_without_core;           // seconds of a step in which some rank had no core
  double plain_bytes = 0, sent_bytes = 0;          // of the busiest rank, in all steps
  double coded_share = 0;                          // of the values of all ranks
  std::vector<double> energies;                    // at equal distances
  std::vector<float> seismograms;                  // stations x 3 components x steps
  std::vector<float> slice;                        // vx in a vertical plane, in the middle of the run
};

// The result of a run; the outcomes are those of rank 0.
struct Run {
  Triple whole{}, ranks{};
  int stations = 0;
  int slice_step = 0, energy_interval = 1;
  std::vector<Outcome> outcomes;     // plain messages first
  std::vector<std::string> refused;  // reasons why variants were left out
};

Run run(const Options& options, MPI_Comm world);

}  // namespace wave3d
