// Command line of taut_bench_collectives.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct Options {
  std::vector<std::string> operations;  // names from collectives.hpp; empty: all
  std::size_t smallest = std::size_t{1} << 20, largest = std::size_t{16} << 20;  // bytes of the whole buffer
  int iterations = 9, warmup = 2;
  double bound = 1e-4;                // absolute bound of the result
  std::vector<std::string> policies;  // further policies, beside the bound and the uncompressed algorithm
  std::string data = "smooth";        // smooth, random, or a raw file
  double roughness = 4.6;             // noise of smooth data, in units of the bound of one value
  bool doubles = false;
  std::string interface;  // interface whose counter of sent bytes is read; empty: none
  std::string json;       // output file; empty: none
  std::string link = "shared memory";
  bool help = false;
};

Options parse(int argc, char** argv);  // throws std::invalid_argument
std::string usage();

}  // namespace bench
