// What rules would gain, from what a program was seen to do. Pure.
#pragma once

#include "cli/report_reader.hpp"
#include "core/bound.hpp"

namespace taut::cli {

struct Circumstances {
  Bound bound{Bound::Kind::range, 1e-4};  // relative to the range, or exact
  std::optional<double> link;             // bytes a second; nothing: as the program's own calls show
  std::optional<int> ranks;               // on nodes of their own; nothing: as the program ran
};

// A kind of call, all of its calls together.
struct Outlook {
  SeenCalls seen;
  double ratio = 0;  // 0: nothing to be said, or nothing to be gained under the bound
  double plain_seconds = 0, coded_seconds = 0;
  bool exact =
      false;  // no loss is proposed, whatever the bound: integers, or some are packed into the values

  bool known() const noexcept { return ratio > 0; }
  double gain() const noexcept { return plain_seconds / coded_seconds; }
  bool gains() const noexcept;
  bool loses() const noexcept { return known() && gain() < 1; }
  double saved() const noexcept { return plain_seconds - coded_seconds; }
};

// Bytes a second of the link, as the calls of the program show it: the fastest of the large ones. 0: none
// were.
double link_seen(const SeenProgram& program) noexcept;

// Calls that a rule for these would serve as well: of the same collective, type and operator.
bool alike(const SeenCalls& a, const SeenCalls& b) noexcept;

// Those that were sampled, what would be saved most first. Times of messages follow from the link.
std::vector<Outlook> outlooks(const SeenProgram& program, const Circumstances& circumstances);

// What to set for what gains.
struct Settings {
  std::string rules;      // in one line; "": nothing gains
  bool messages = false;  // TAUT_MESSAGES=1: some of the rules are for messages
};
Settings settings_for(const std::vector<Outlook>& all, Bound bound);

}  // namespace taut::cli
