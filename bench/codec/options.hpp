// Command line of taut_bench_codec.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "field.hpp"

namespace bench {

struct Options {
  std::vector<taut::DType> types{std::begin(measured_types), std::end(measured_types)};
  std::vector<std::size_t> sizes;       // bytes of values; empty: the default ones
  std::vector<std::string> fields;      // classes; empty: all
  std::vector<std::string> codecs;      // and peers; empty: the default ones
  std::vector<std::string> sets;        // kernel sets and peers; empty: all there are
  std::vector<std::string> operations;  // empty: all
  std::string input;                    // a file in place of the classes
  double bound = 0;                     // of the file: absolute, or
  bool of_range = false;                // in units of its range
  double seconds = 0.04;                // for each figure
  std::string json = "bench-out/codec.json";
  std::string commit;  // a label
  bool help = false;
};

// Takes its options out of argv; what begins with --benchmark_ stays there. Throws std::invalid_argument.
Options parse(int& argc, char** argv);

const char* usage();

}  // namespace bench
