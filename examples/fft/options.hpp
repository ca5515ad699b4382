// Command line of fft.
#pragma once

#include <string>
#include <vector>

#include "exchange.hpp"

namespace fft {

struct Options {
  Triple shape{128, 128, 128};
  std::array<int, 2> ranks{0, 0};  // p0 x p1; 0: MPI chooses
  std::string data = "turbulence";
  std::vector<std::string> variants;
  int repeats = 7;
  std::string out = "fft-out", link;
  bool help = false;
};

Options parse(int argc, char** argv);  // throws std::invalid_argument
const char* usage();

}  // namespace fft
