// Reports (docs/observe.md) as `taut advise` needs them: kinds of calls, and of messages sent, over all ranks
// and communicators.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "comm/statistics.hpp"

namespace taut::cli {

struct SeenCalls {
  Collective collective = Collective::allreduce;
  DType type{};
  Reduction op{};  // Reduction{}: none
  int ranks = 0;   // of the communicator
  std::uint64_t least_bytes = 0;

  // By the rank that made the most of them.
  double calls = 0, message_bytes = 0;
  // Left to plain MPI; on the rank that took least for it. Messages are not timed.
  double plain_calls = 0, plain_seconds = 0;
  // By the rank whose values compress least. 0: not sampled.
  std::array<double, Compressibility::bounds> ratios{}, seconds_a_byte{};

  bool packed = false;  // some rank's samples showed packed integers

  bool messages() const noexcept { return collective == Collective::send; }
  bool sampled() const noexcept {
    return std::ranges::any_of(ratios, [](double ratio) { return ratio > 0; });
  }
};

struct SeenProgram {
  int ranks = 1;
  std::size_t files = 0;
  double seconds = 0;  // that the rank ran which ran longest; 0: not known
  std::vector<SeenCalls> kinds;
  std::map<std::string, double> unserved;  // calls that Taut does not serve, by name; of the rank with most
};

// The report of one rank, or those of all: of `name`, or else name.0, name.1, ... Throws Failure.
SeenProgram read_reports(const std::vector<std::string>& names);

}  // namespace taut::cli
