// Measured cost of a run of an algorithm, to be compared with the declared cost.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "communication/team/algorithm.hpp"
#include "support/loopback.hpp"

namespace taut::test {

// Returns the cost as the ranks count it: without steps and frames, which ranks do not see.
inline Cost cost_of(const std::vector<CallCounters>& ledgers) {
  Cost cost;
  for (const CallCounters& counters : ledgers) {
    cost.messages += static_cast<int>(counters.sent_messages);
    cost.messages_a_rank = std::max(cost.messages_a_rank, static_cast<int>(counters.sent_messages));
    cost.encodes = std::max(cost.encodes, static_cast<int>(counters.encodes));
    cost.combines = std::max(cost.combines, static_cast<int>(counters.combines));
    cost.decodes = std::max(cost.decodes, static_cast<int>(counters.decodes));
  }
  return cost;
}

// Returns the least number of decodings that a rank saves by keeping its input in the memory of the result.
// `kept`: the values that each such rank keeps. A segment without values is decoded all the same: its frame
// may be an error frame.
inline int saved_decodings(const Cost& declared, int P, int segments, const std::vector<std::size_t>& kept) {
  if (declared.decodes == 0 || kept.size() != static_cast<std::size_t>(P)) return 0;
  return static_cast<int>(std::min(std::ranges::min(kept), static_cast<std::size_t>(segments)));
}

// The cost as the transport sees it, with encodings as the ranks count them.
struct Measured {
  Cost cost;
  std::size_t bytes = 0;
};

inline Measured measure(const LoopbackHub& hub, const std::vector<CallCounters>& ledgers) {
  Measured m{cost_of(ledgers)};
  m.cost.messages = m.cost.messages_a_rank = 0;
  std::map<int, int> sent;
  for (const LoopbackHub::Record& record : hub.records()) {
    m.cost.messages_a_rank = std::max(m.cost.messages_a_rank, ++sent[record.from]);
    m.cost.steps = std::max(m.cost.steps, record.step);
    m.bytes += record.bytes;
    ++m.cost.messages;
  }
  return m;
}

}  // namespace taut::test
