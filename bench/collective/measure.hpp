// Measures one collective at one size, plain MPI and Taut in alternation.
#pragma once

#include <string>
#include <vector>

#include "collectives.hpp"
#include "options.hpp"

namespace bench {

// Results of one variant of one collective at one size. They are complete on every rank.
struct Result {
  std::string operation;
  std::size_t bytes = 0;     // bytes of the whole buffer
  std::string variant;       // plain; taut; taut-raw: Taut's algorithm without compression; policy-1, ...
  std::string policy;        // empty for plain MPI
  double bound = 0;          // absolute bound of the result; 0: exact
  std::vector<double> us;    // latency of each timed call on the slowest rank
  bool compressed = false;   // true if frames were sent
  double ratio = 1;          // bytes of values / bytes of their frames, over all ranks
  double ideal_bytes = 0;    // least bytes that the busiest rank sends without compression
  double sent_bytes = 0;     // bytes of a call on the busiest rank, counted by Taut
  double coding_us = 0;      // encoding, combining and decoding of a call on the busiest rank
  double wire_bytes = -1;    // the same counted by the network interface; negative: not read
  double max_error = 0;      // greatest error on any rank
  bool within_bound = true;  // up to the rounding to the type
  bool identical = true;     // for calls in which all ranks receive the same values

  double average() const;
  double median() const;
  double least() const;
  double most() const;
};

std::vector<Result> measure(const Collective& collective, std::size_t bytes, const Options& options,
                            const Data& data);

}  // namespace bench
