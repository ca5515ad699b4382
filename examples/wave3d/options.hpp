// Command line of wave3d.
#pragma once

#include <string>
#include <vector>

#include "box.hpp"

namespace wave3d {

struct Options {
  Triple cells{64, 64, 64};  // of each rank
  Triple ranks{1, 0, 0};     // along each axis; 0: MPI chooses
  int steps = 1000;
  int sponge = 16;  // cells
  bool free_surface = true;
  // Policies in the order of the table; "/collective" at the end: by TAUT_Neighbor_alltoallv.
  std::vector<std::string> variants;
  std::string plain =
      "plain";  // the variant that the others are compared with, "plain/collective" by a collective
  std::string out = "wave3d-out";
  std::string link;  // label of the network
  bool help = false;
};

Options parse(int argc, char** argv);  // throws std::invalid_argument
const char* usage();

}  // namespace wave3d
