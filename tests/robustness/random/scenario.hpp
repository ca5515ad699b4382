// A fault in a call, and the rank that it hits.
#pragma once

#include "robustness/random/machine.hpp"
#include "support/loopback.hpp"

namespace taut::test {

enum class Fault : std::uint8_t {
  frames,       // frames of one rank are damaged in transfer
  agreement,    // a message of the agreement is damaged; ends the job, as not all ranks learn of it
  death,        // a rank dies
  delay,        // a rank, or its messages, are late
  other_call,   // one rank makes another call
  null_buffer,  // on one rank
  no_scratch,   // one rank's place has no memory at one request
  no_memory,    // and its operator new fails, from one allocation on
  cuda_call,    // a call of CUDA's runtime fails
  kernel,       // a kernel faults; every call of the runtime fails from then on
  gpu_memory,   // no memory of a GPU, and no pinned memory, is left from one allocation on
};
inline constexpr int faults_of_hosts = static_cast<int>(Fault::no_memory) + 1;
inline constexpr int faults_of_gpus = static_cast<int>(Fault::gpu_memory) + 1;  // and of hosts
const char* name_of(Fault fault) noexcept;

struct Scenario {
  Scenario(Machine& machine, Draw& draw, Fault what);

  bool is(Fault what) const noexcept { return fault == what; }
  // True if the victim alone has another policy.
  bool other_policy() const noexcept { return is(Fault::other_call) && variant % 6 == 5; }
  // True if no checksum detects a change of payloads.
  bool may_pass_unseen() const { return !parse_policy(policy).coding.checksum; }

  Fault fault;
  int P, victim, at;  // at: the message, operation, request or allocation
  bool threads, often;
  int repeats;  // repeats of the following call
  std::uint64_t variant, seed;
  std::string policy, policy_of_victim;
  Call call, next;
};
std::ostream& operator<<(std::ostream& out, const Scenario& scenario);

// Damages messages of the call, or of its agreement, and counts them.
void damage_messages(LoopbackHub& hub, const Scenario& scenario, int& damaged);

// Changes the request into another one; returns true if it has changed.
bool make_other(CollectiveCall& request, const Scenario& scenario);

// Removes a buffer with values; returns true if there was one.
bool take_buffer(CollectiveCall& request);

}  // namespace taut::test
