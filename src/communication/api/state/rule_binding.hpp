// Rule binding: communicators without a policy take the rules of the process (TAUT_RULES, TAUT_CONFIG).
#pragma once

#include "communication/api/state/comm_registry.hpp"
#include "communication/comm/settings.hpp"

namespace taut::api {

// Returns the rules of this process for `comm`, without rules that depend on nodes, which one rank cannot
// decide alone. They are bound once, and valid as long as the communicator. Local; throws.
const Rules& local_rules(MPI_Comm comm);

// Returns true if rules of this process depend on names of communicators, which are set after creation.
bool rules_match_names();

// Returns true if a rule of this process names messages.
bool rules_name_messages();

// Returns the greatest history_bytes of the rules of this process that give messages a history; 0: none does.
std::size_t history_bytes_of_messages();

// Returns TAUT_CHECK, or 0 if it differs between the ranks.
int check_of(const Settings& agreed, int rank) noexcept;

// Merges the settings of all ranks. Returns an MPI error code, already passed to the error handler.
// Collective over `comm`.
int agree_on(MPI_Comm comm, Settings& settings);

// Compares the rules of the ranks and returns the resulting CommState. Null: no rules, and nothing to
// observe. Collective over `comm`.
std::shared_ptr<CommState> bind_rules(MPI_Comm comm);

// Attaches the result of bind_rules() to `comm`, if rules can apply to it.
void attach_rules(MPI_Comm comm);

// Compares the rules of all ranks of MPI_COMM_WORLD, in MPI_Init. The result holds for all communicators
// among them unless rules depend on names or nodes. Returns true if all ranks have the same rules. Throws.
bool compare_rules_in_world();

// Says on rank 0, once in a process, that plain MPI serves a call whose arguments differ between the ranks.
void tell_of_mismatch(const char* call, int rank) noexcept;

// Prints warnings about the environment to stderr, once in a process.
void print_warnings_once(int rank) noexcept;

// Prints a line to stderr if the launcher is of another MPI, so that the ranks of the job do not see each
// other.
void print_wrong_launcher() noexcept;

}  // namespace taut::api
