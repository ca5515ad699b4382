// Communicators without a policy of their own: they take the rules of the process (TAUT_RULES, TAUT_CONFIG).
#pragma once

#include "api/state/comm_registry.hpp"

namespace taut::api {

// What hangs on `comm`. Where nobody has asked for it yet, the ranks compare their rules first, once for each
// communicator; collective over `comm` then. Null: neither policy nor rules, and nothing to observe.
CommState* find_or_bind_state(MPI_Comm comm);

// The same, but it asks nobody: null as well where the ranks have not compared their rules.
CommState* find_bound_state(MPI_Comm comm) noexcept;

// The rules of this process on `comm`, as one rank knows them alone: without those that ask for nodes. Local.
Rules local_rules(MPI_Comm comm);

// Whether rules of this process depend on the names of communicators, which get theirs after their making.
bool rules_match_names();

// Whether a rule of this process is for messages by name.
bool rules_name_messages();

// While one lives, calls of this thread are plain MPI's.
class RuleBypassScope {
 public:
  RuleBypassScope() noexcept;
  ~RuleBypassScope();
  RuleBypassScope(const RuleBypassScope&) = delete;
  RuleBypassScope& operator=(const RuleBypassScope&) = delete;
};

// What rules make of a communicator: they compare them. Null as above. Collective over `comm`.
std::shared_ptr<CommState> bind_rules(MPI_Comm comm);

// In MPI_Init, by all ranks of MPI_COMM_WORLD: compares their rules, once for all communicators among them
// unless rules ask for names or nodes. True: all ranks have the same. Throws.
bool compare_rules_in_world();

// What is wrong with the environment, on stderr, once in a process.
void print_warnings_once(int rank) noexcept;

}  // namespace taut::api
