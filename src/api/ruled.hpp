// Communicators without a policy of their own: they take the rules of the process (TAUT_RULES, TAUT_CONFIG).
#pragma once

#include "api/attached.hpp"

namespace taut::api {

// What hangs on `comm`. Where nobody has asked for it yet, the ranks compare their rules first, once for each
// communicator; collective over `comm` then. Null: neither policy nor rules, and nothing to observe.
Attached* attached_or_ruled(MPI_Comm comm);

// While one lives, this thread asks nobody for rules: communicators that nothing hangs on yet are plain
// MPI's.
class WithoutRules {
 public:
  WithoutRules() noexcept;
  ~WithoutRules();
  WithoutRules(const WithoutRules&) = delete;
  WithoutRules& operator=(const WithoutRules&) = delete;
};

// What rules make of a communicator: they compare them. Null as above. Collective over `comm`.
std::shared_ptr<Attached> ruled(MPI_Comm comm);

// What is wrong with the environment, on stderr, once in a process.
void print_warnings_once(int rank) noexcept;

}  // namespace taut::api
