// Random policies, the calls that communicators make under them, and what such a call promises.
#pragma once

#include "comm/communicator.hpp"
#include "robustness/random/promise.hpp"

namespace taut::test {

// One that can be served. `scale`: of the values that calls are going to have, in most cases.
std::string draw_policy(Draw& draw, double scale);

// A call on P ranks and some nodes.
Call draw_call(Draw& draw, int P, int nodes, double scale);

CollectiveCall request_of(Memory& memory, int rank);

// After a call by itself: what plain MPI took, if it was tried.
void note_plain(Communicator& comm, const CollectiveCall& request, const Verdict& verdict,
                std::uint64_t nanoseconds);

// How the call is to be served, if its values gain by it. It refers to the table.
Plan plan_of(const Policy& policy, const Memory& memory, CandidateTable& table);

// Of a call that was served.
Promise promise_of(const Policy& policy, const Memory& memory);

// Of a message, which is a broadcast from rank 0 to rank 1 as far as its memory is concerned.
Promise promise_of_message(const Policy& policy, const Memory& memory, bool coded);

}  // namespace taut::test
