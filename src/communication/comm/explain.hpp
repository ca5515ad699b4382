// Statistics as text: the decision for each kind of call, and its reason.
#pragma once

#include <string>

#include "communication/comm/statistics.hpp"

namespace taut {

const char* describe(Fallback why) noexcept;  // a clause without its full stop; "" for `none`
const char* name_of(Fallback why) noexcept;   // a single word, as in reports

std::string text_of(const CallKey& key);        // "allreduce f32 sum 1MiB"; 1 MiB or more, below 2 MiB
std::string text_of(const Decision& decision);  // "planes/delta, ring by frames, 4 segments, abs:2.5e-05"
std::string size_text(std::uint64_t bytes);     // "1MiB", "1.5MiB", "12B"
std::string text_of(const PhaseTimes& times);   // "1.2 s: encode 12.0 %, wait 80.0 %"

// Returns the option of a policy by which frames may refer to calls at this distance: "history=auto".
std::string history_option(std::uint64_t period);

// Returns what a history would give calls that have none: "history=auto would make frames 3.2 times smaller";
// "" if that is little, or unknown.
std::string history_text(const CallRow& row);

// Returns one line about a row, without its newline.
std::string explain(const CallRow& row);

// Returns a text about a communicator: a line for all calls, then one for each kind of call, longest time
// first.
std::string explain(const CallTable& calls, const std::string& policy, int ranks);

// Returns the rows by time, longest first; rows without times are ordered by number of calls, most first.
std::vector<const CallRow*> in_order(const CallTable& calls);

}  // namespace taut
