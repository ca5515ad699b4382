// What to measure: the command line of taut_bench_collectives.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct Options {
  std::vector<std::string> operations;  // names of collectives.hpp; empty: all
  std::size_t smallest = std::size_t{1} << 20, largest = std::size_t{16} << 20;  // bytes of the whole buffer
  int iterations = 9, warmup = 2;
  double bound = 1e-4;                // absolute, of the result
  std::vector<std::string> policies;  // more of Taut's, beside the bound and the uncompressed algorithm
  std::string data = "smooth";        // smooth, random, or a raw file
  double roughness = 4.6;             // of smooth data: noise, in units of the bound of one value
  bool doubles = false;
  std::string interface;  // whose counter of sent bytes to read; empty: none
  std::string json;       // file to write; empty: none
  std::string link = "shared memory";
  bool help = false;
};

Options parse(int argc, char** argv);  // throws std::invalid_argument
std::string usage();

}  // namespace bench
