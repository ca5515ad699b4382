// Statistics as JSON (docs/observe.md), and as a table.
#pragma once

#include <string>

#include "comm/statistics.hpp"

namespace taut {

// This process among all of the program.
struct ProcessRank {
  int rank = 0, ranks = 1;
  double seconds = 0;  // that it has run, as far as this library knows
};

// What is known of a communicator when its calls are reported.
struct CommReport {
  using Name = std::array<char, 64>;  // cut to what fits

  std::string policy = {};  // empty: several communicators, of which there was no room for each
  Name name = {};           // as MPI knows it
  int ranks = 0;
  std::uint64_t communicators = 1;
  bool freed = false;
  CallTable calls = {};
};

// Calls of a function of MPI that Taut does not serve.
struct UnservedCalls {
  const char* name;
  std::uint64_t calls;
};

// `pattern` with the rank for each %r; without one with ".RANK" behind it, if there are several ranks.
std::string file_name(const std::string& pattern, const ProcessRank& process);

std::string report_json(std::span<const CommReport* const> communicators, const ProcessRank& process,
                        std::span<const UnservedCalls> unserved = {});

// A line for each kind of call, over all communicators; at most 20. Then one for calls that are not served.
std::string summary_table(std::span<const CommReport* const> communicators, const ProcessRank& process,
                          std::span<const UnservedCalls> unserved = {});

}  // namespace taut
