// From a call to the way it is served: a pure function of facts that are equal on all ranks.
#pragma once

#include "core/call.hpp"
#include "policy/plan/policy.hpp"
#include "policy/tuning/route.hpp"

namespace taut {

// Why a call goes to plain MPI.
enum class Fallback : std::uint8_t {
  none,
  off,           // the policy says so, or TAUT=0
  unsupported,   // the policy promises nothing for such a call, or no codec or algorithm serves it
  small,         // below min_bytes
  no_gain,       // its samples compress too little
  communicator,  // a single rank, or an intercommunicator
  type,          // a type or operator that is not compressed under this policy
  memory,        // some rank lacks memory
  slower,        // plain MPI has proved to be faster
  trial,         // to see how plain MPI does
  sender,        // a message that its sender did not compress
  device,        // values in memory of a GPU, on some rank
  packed         // large integers packed into the values, which bits=exact cannot tell one by one
};
inline constexpr std::size_t fallback_reasons = 13;

struct Plan {
  Route route() const noexcept { return {algorithm, by_nodes}; }

  Fallback plain = Fallback::none;  // the rest is meant for `none`
  const AlgorithmInfo* algorithm = nullptr;
  Arithmetic how = Arithmetic::values;
  bool by_nodes = false;  // the algorithm is for one rank of each node, and their part of the message
  int segments = 1;
  Bound bound;  // of one value, for the codec
  std::span<const Candidate> candidates;
  double least_ratio = 0;  // go plain if the ranks' estimate is below
};

// A gain smaller than this does not pay for coding.
inline constexpr double worthwhile_ratio = 1.2;

// What can be said without looking at the call's type: `bytes` of the whole message, on `ranks` ranks.
Fallback early_fallback(const Policy& policy, std::size_t bytes, int ranks) noexcept;

// What the algorithm of the plan has to do: the call, or what there is of it for one rank of each node.
Call call_of_algorithm(const Call& call, bool by_nodes) noexcept;

// Ways that would serve the call under the same promise: other algorithms where that gives the same results,
// bit by bit; by nodes too, and not by nodes, where time decides in any case whether there are frames. At
// most as many as `found` holds.
inline constexpr std::size_t most_alternatives = 8;
std::span<const Route> alternatives(const Policy& policy, const Call& call, const Plan& plan,
                                    std::span<Route> found) noexcept;

// `bound` is the policy's, not relative any more; `table` is of this policy; `route` is taken if it can serve
// the call.
Plan make_plan(const Policy& policy, const Call& call, Bound bound, CandidateTable& table, Route route = {});

}  // namespace taut
