// Command line of image_stacking.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace stacking {

struct Options {
  // Options of the migration
  int nx = 401, nz = 161;  // points of the section
  int offsets = 32;        // subsurface offsets each way
  int shots = 24;          // shots of all ranks together
  // input files, in place of the migration
  std::vector<std::string> input;
  std::string dtype;  // "f32" or "f64"; empty: by the ending of the file's name
  std::vector<std::size_t> shape;
  // Options of the comparison
  std::vector<double> bounds{1e-2, 1e-3, 1e-4};  // bounds relative to the range of the result
  std::vector<std::string> policies;             // of further variants, whose results are not checked
  int repeats = 7;
  std::string out = "demo-out";
  std::string link;  // label of the network; empty: shared memory or a network, as it is
  double mbit = 0;   // rate of the emulated links, each way; 0: none emulated
  bool progress = false;
  bool help = false;
};

Options parse(int argc, char** argv);  // throws std::invalid_argument
const char* usage();

}  // namespace stacking
