// Plan: how a call is served, as a pure function of data that is equal on all ranks.
#pragma once

#include "communication/policy/plan/measured_choice.hpp"
#include "communication/policy/plan/policy.hpp"
#include "communication/team/call.hpp"
#include "compressor/frame/candidates.hpp"

namespace taut {

// Reason why a call falls back to plain MPI.
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
  trial,         // measures the time of plain MPI
  sender,        // a message that its sender did not compress
  credit,        // a message whose receiver has not given credit (p2p/credits.hpp)
  device,        // values in memory of a GPU, on some rank
  packed,        // large integers packed into the values, which bits=exact cannot tell one by one
  mismatch,      // under rules: the ranks' calls differ, which MPI may tolerate
  arguments,     // under rules: a rank cannot serve its arguments, and MPI says what is wrong with them
  failed         // a codec or the GPU of a rank failed before anything was sent
};
inline constexpr std::size_t fallback_reasons = 17;

// Route: one way to serve a kind of call, compared with others by trials.
struct Route {
  const AlgorithmInfo* algorithm = nullptr;  // null: the plan chooses
  std::optional<bool> by_nodes = {};         // communication/team/hierarchical.hpp; empty: the plan chooses
  bool on_devices = false;  // some rank has its values on a GPU, as all ranks know from an earlier call
  MeasuredChoice coding = {};

  friend bool operator==(const Route&, const Route&) = default;
};

// Plan of one collective call.
struct Plan {
  Route route() const noexcept { return {algorithm, by_nodes, on_devices, coding}; }

  Fallback fallback = Fallback::none;  // the other members are valid only for `none`
  const AlgorithmInfo* algorithm = nullptr;
  Arithmetic arithmetic =
      Arithmetic::values;       // of a reduction: on frames or on values (communication/team/team.hpp)
  bool by_nodes = false;        // the algorithm serves one rank of each node, and their part of the message
  bool frames_on_node = false;  // as in Operands
  bool on_devices = false;      // as in the route
  MeasuredChoice coding;        // as in the route
  int segments = 1;
  Bound bound;  // bound of one coding, for the codec
  Promise promise;
  std::span<const Coding> candidates;
  double min_ratio = 0;  // plain MPI serves the call if the ranks estimate a lower ratio
};

// Least ratio that pays for coding.
inline constexpr double worthwhile_ratio = 1.2;

// Fraction of the values' bytes that references have to save for messages, under when=profitable: a sender
// does not know the time of a message. Two cores need about as long for a history as a link of 1 Gbit/s for a
// tenth of the values.
inline constexpr double worthwhile_saving = 0.1;

// Returns true if the call adds the ranks' values in a wider type, in the order of the ranks (sum=wide).
bool sums_widely(const Policy& policy, const Call& call) noexcept;

// Returns true if the policy allows to compress a sum without loss where the values of all ranks have a
// common unit (compressor/frame/common_unit.hpp): every order of additions then gives the same bits. The
// bound of such a plan is bound_of_exact_sums() of these units. Sums of other values go to plain MPI.
bool may_sum_exactly(const Policy& policy, const Call& call) noexcept;

// Returns the fallback that is known without the type of the call. `bytes`: size of the whole message.
Fallback early_fallback(const Policy& policy, std::size_t bytes, int ranks) noexcept;

// Returns the absolute bound that a relative bound means for values of a range. With a history it is rounded
// down to a power of 2^(1/4), so that calls whose ranges differ a little have the same step.
Bound resolved_bound(const Policy& policy, Bound bound, const ValueRange& range) noexcept;

// Returns the call that the algorithm of a plan serves: the whole call, or the part for one rank of each
// node.
Call call_of_algorithm(const Call& call, bool by_nodes) noexcept;

// Returns true if every algorithm gives the same result as the plan's, bit by bit.
bool gives_same_bits(const Call& call, const Plan& plan) noexcept;

inline constexpr std::size_t max_alternatives = 8;

// Writes to `found` the routes that would serve the call within the same bound and may be as fast as the plan
// on some link, at most as many as fit. Returns those written. Under on=input each route has a bound of its
// own, at most the number of ranks times E. Other algorithms are among the routes if they give the same
// result, bit by bit. Routes of both ways, by nodes and not, are among them if measured times decide anyway
// whether the call is compressed. The first route is then what the plan would choose the other way.
std::span<const Route> alternatives(const Policy& policy, const Call& call, const Plan& plan,
                                    std::span<Route> found) noexcept;

// Returns the coding and transfer of a planned call, for fastest_coding().
CodingWork coding_work(const Policy& policy, const Call& call, const Plan& plan,
                       double plain_seconds_per_byte) noexcept;

// Returns the candidates that serve a call by `algorithm` under a measured choice; none if no codec does.
std::span<const Coding> candidates_of(const Policy& policy, const Call& call, const AlgorithmInfo& algorithm,
                                      Bound bound, MeasuredChoice choice, CandidateTable& table);

// Makes the plan of a call. `bound`: the policy's bound; a relative one is already converted to an absolute
// one. `table`: the candidates of this policy. `route`: used if it can serve the call. Integers that a call
// moves are coded without loss.
Plan make_plan(const Policy& policy, const Call& call, Bound bound, CandidateTable& table, Route route = {});

// How one point-to-point message is sent, plain or compressed. The sender decides this alone.
struct MessagePlan {
  Fallback fallback = Fallback::none;  // the other members are valid for `none`
  Bound bound;
  std::span<const Coding> candidates;
  double min_ratio = 0;    // the message is sent plain if samples show a lower ratio
  std::size_t frames = 1;  // number of frames for the values
};

// Makes the plan of a message of `count` values. `bound`: the policy's bound; a relative one is already
// converted to an absolute one. `table`: the candidates of this policy. A message is coded once, so the bound
// holds for each value that arrives. Integers are coded without loss.
MessagePlan plan_message(const Policy& policy, std::size_t count, DType type, Bound bound,
                         CandidateTable& table);

}  // namespace taut
