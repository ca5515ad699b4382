// What goes wrong in a call, and to whom.
#pragma once

#include "robustness/random/policies.hpp"
#include "transports/loopback.hpp"

namespace taut::test {

enum class Fault : std::uint8_t {
  frames,       // of one rank, damaged on their way
  agreement,    // a message of it damaged; ends the job, as not all ranks learn of it
  death,        // of a rank
  delay,        // of a rank, or of its messages
  other_call,   // one rank means another one
  null_buffer,  // on one rank
  no_scratch,   // one rank's place has no memory at one request
  no_memory,    // nor has its operator new, from one allocation on
};
inline constexpr int faults = static_cast<int>(Fault::no_memory) + 1;
const char* name_of(Fault fault) noexcept;

struct Scenario {
  Scenario(Draw& draw, Fault what);

  bool is(Fault what) const noexcept { return fault == what; }
  // Of the victim alone.
  bool other_policy() const noexcept { return is(Fault::other_call) && variant % 6 == 5; }
  // A change of payloads that no checksum would tell.
  bool may_pass_unseen() const { return !parse_policy(policy).coding.checksum; }

  Fault fault;
  int P, victim, at;  // at: the message, operation, request or allocation
  bool threads, often;
  int repeats;  // of the call that follows
  std::uint64_t variant, seed;
  std::string policy, policy_of_victim;
  Call call, next;
};
std::ostream& operator<<(std::ostream& out, const Scenario& scenario);

// Damages messages of the call, or of its agreement, and counts them.
void damage_messages(LoopbackHub& hub, const Scenario& scenario, int& damaged);

// Whether the request has become another one.
bool make_other(CollectiveCall& request, const Scenario& scenario);

// Whether a buffer with values was taken away.
bool take_buffer(CollectiveCall& request);

}  // namespace taut::test
