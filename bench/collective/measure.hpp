// Plain MPI and Taut in alternation: one collective, one size.
#pragma once

#include <string>
#include <vector>

#include "collectives.hpp"
#include "options.hpp"

namespace bench {

// One variant of one collective at one size. Complete on every rank.
struct Result {
  std::string operation;
  std::size_t bytes = 0;     // of the whole buffer
  std::string variant;       // plain; taut; taut-raw: Taut's algorithm without compression; policy-1, ...
  std::string policy;        // empty for plain MPI
  double bound = 0;          // absolute, of the result; 0: exact
  std::vector<double> us;    // latency of each timed call: the slowest rank's
  bool compressed = false;   // frames moved
  double ratio = 1;          // bytes of values / bytes of the frames they became, all ranks together
  double ideal_bytes = 0;    // what the busiest rank must send without compression
  double sent_bytes = 0;     // a call, the busiest rank: counted by Taut
  double coding_us = 0;      // a call, the busiest rank: encoding, combining, decoding
  double wire_bytes = -1;    // a call, the busiest rank: counted by the network interface; negative: not read
  double max_error = 0;      // of all ranks
  bool within_bound = true;  // give or take the rounding to the type
  bool identical = true;     // where all ranks receive the same values

  double average() const;
  double median() const;
  double least() const;
  double most() const;
};

std::vector<Result> measure(const Collective& collective, std::size_t bytes, const Options& options,
                            const Data& data);

}  // namespace bench
