// Estimate of the gain of rules, from the observed calls of a program. Pure functions.
#pragma once

#include <set>

#include "cli/jobs/report_reader.hpp"
#include "communication/policy/plan/cost_model.hpp"
#include "compressor/values/bound.hpp"

namespace taut::cli {

// ---- Ratio of calls under any bound, from samples under bounds relative to the range

// A bound, and the options of a policy that decide what it leaves to each rank.
struct AskedBound {
  Bound bound{Bound::Kind::range, 1e-4};
  bool on_input = false;     // on=input: a sum does not share the bound among its ranks
  bool names_codec = false;  // codec=: sums under a rate are compressed
  bool has_history = false;  // history=: the rules need not be told
};

struct RatioForecast {
  double ratio = 0;  // 0: unknown, or the calls go to plain MPI
  double seconds_a_byte = 0;
};

// Returns the ratio and time of encoding. Between two samples the ratio is interpolated. Below the least
// sampled bound, each halving costs a bit a value. Under `pwrel`, the ratio without loss stands for a ratio
// that is at least as large; under `rate`, the ratio follows from the rate.
RatioForecast forecast_ratio(const SeenCalls& seen, const AskedBound& asked, int ranks) noexcept;

// ---- Gain

struct Circumstances {
  AskedBound asked;
  std::optional<double> link;  // bytes a second; nothing: taken from the program's own calls
  std::optional<int> ranks;    // number of ranks; nothing: as the program ran
  int ranks_a_node = 1;
  NodeMemory memory;

  // Returns true if the link and the nodes are those of the run.
  bool as_it_ran(const SeenProgram& program) const noexcept {
    return !link && !ranks && ranks_a_node == program.ranks_a_node;
  }
};

// Estimate for one kind of call, over all of its calls.
struct Outlook {
  SeenCalls seen;
  double ratio = 0;          // 0: unknown, or no gain under the bound
  double plain_seconds = 0;  // without rules
  double coded_seconds = 0;  // with rules, the trials of plain MPI included
  bool exact = false;        // lossless coding under any bound: integers, or packed integers among the values
  double ratio_alone = 0;    // without a history, where the forecast is with one; 0: it is without
  std::string history = {};  // options of a policy for the history: "history=auto"; "": it would gain nothing
  // Gain of a history under an absolute bound, which sums need for one; 0: the bound stays, or it gains
  // nothing.
  double absolute_gain = 0, absolute_bound = 0;

  bool has_unlike_sites =
      false;  // calls at other sites differ in `exact`, even if nothing is known of their gain

  bool known() const noexcept { return ratio > 0; }
  double history_gain() const noexcept { return ratio_alone > 0 ? ratio / ratio_alone : 1; }
  double gain() const noexcept { return plain_seconds / coded_seconds; }
  bool gains() const noexcept;
  bool loses() const noexcept { return known() && gain() < 1; }
  double saved() const noexcept { return plain_seconds - coded_seconds; }
};

// Returns the bandwidth of the link in bytes a second, as the program's calls show it: that of the fastest
// large call. 0 if there was none.
double link_seen(const SeenProgram& program, int ranks_a_node) noexcept;

// Return true if one rule would serve both kinds of calls: the same collective, type and operator. alike: and
// the same call site.
bool of_one_family(const SeenCalls& a, const SeenCalls& b) noexcept;
bool alike(const SeenCalls& a, const SeenCalls& b) noexcept;

// Returns the estimates for the sampled kinds of calls, the greatest saving first. The times of messages and
// of nonblocking calls follow from the link.
std::vector<Outlook> outlooks(const SeenProgram& program, const Circumstances& circumstances);

// Returns the seconds of all calls without and with rules: coded where coding gains, plain elsewhere. The
// first coded call of a process takes longer.
double seconds_plain(const std::vector<Outlook>& all) noexcept;
double seconds_with_rules(const std::vector<Outlook>& all) noexcept;

// Proposed settings for the calls that gain, under `policy`: a bound, then options. Where call sites of one
// collective, type and operator differ in their gain, or in whether a bound may apply, rules name the sites.
struct Settings {
  std::string rules;            // rules in one line; "" if nothing gains
  std::set<std::string> needs;  // other settings without which some rules do nothing: "TAUT_MESSAGES=1"
};
Settings settings_for(const std::vector<Outlook>& all, std::string_view policy);

}  // namespace taut::cli
