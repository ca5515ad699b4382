// Estimate of the gain of rules, from the observed calls of a program. Pure functions.
#pragma once

#include <set>

#include "cli/jobs/ratio_forecast.hpp"

namespace taut::cli {

struct Circumstances {
  AskedBound asked;
  std::optional<double> link;  // bytes a second; nothing: taken from the program's own calls
  std::optional<int> ranks;    // number of ranks, one on each node; nothing: as the program ran
};

// Estimate for one kind of call, over all of its calls.
struct Outlook {
  SeenCalls seen;
  double ratio = 0;  // 0: unknown, or no gain under the bound
  double plain_seconds = 0, coded_seconds = 0;
  bool exact = false;  // lossless coding under any bound: integers, or packed integers among the values

  bool known() const noexcept { return ratio > 0; }
  double gain() const noexcept { return plain_seconds / coded_seconds; }
  bool gains() const noexcept;
  bool loses() const noexcept { return known() && gain() < 1; }
  double saved() const noexcept { return plain_seconds - coded_seconds; }
};

// Returns the bandwidth of the link in bytes a second, as the program's calls show it: that of the fastest
// large call. 0 if there was none.
double link_seen(const SeenProgram& program) noexcept;

// Returns true if one rule would serve both kinds of calls: the same collective, type and operator.
bool alike(const SeenCalls& a, const SeenCalls& b) noexcept;

// Returns the estimates for the sampled kinds of calls, the greatest saving first. The times of messages and
// of nonblocking calls follow from the link.
std::vector<Outlook> outlooks(const SeenProgram& program, const Circumstances& circumstances);

// Proposed settings for the calls that gain, under `policy`: a bound, then options.
struct Settings {
  std::string rules;            // rules in one line; "" if nothing gains
  std::set<std::string> needs;  // other settings without which some rules do nothing: "TAUT_MESSAGES=1"
};
Settings settings_for(const std::vector<Outlook>& all, std::string_view policy);

}  // namespace taut::cli
