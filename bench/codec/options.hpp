// Command line of taut_bench_codec.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "field.hpp"

namespace bench {

struct Options {
  std::vector<taut::DType> types{std::begin(measured_types), std::end(measured_types)};
  std::vector<std::size_t> sizes;       // bytes of values; empty: the default sizes
  std::vector<std::string> fields;      // field classes; empty: all
  std::vector<std::string> codecs;      // codecs and peers; empty: the default ones
  std::vector<std::string> sets;        // kernel sets and peers; empty: all
  std::vector<std::string> operations;  // empty: all
  std::string input;                    // file to read in place of the generated classes
  double bound = 0;                     // bound of the file: absolute, or
  bool of_range = false;                // true: in units of the range
  double seconds = 0.04;                // duration of one figure
  std::string json = "bench-out/codec.json";
  std::string commit;  // label for the report
  bool help = false;
};

// Removes its options from argv and leaves those that begin with --benchmark_. Throws std::invalid_argument.
Options parse(int& argc, char** argv);

const char* usage();

}  // namespace bench
