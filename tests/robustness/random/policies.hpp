// Random policies, the calls that communicators make under them, and the promise of such a call.
#pragma once

#include "communication/comm/communicator.hpp"
#include "robustness/random/promise.hpp"

namespace taut::test {

// Returns a policy that can be served. `scale`: the magnitude of the values in most of its calls.
std::string draw_policy(Draw& draw, double scale);

// Returns true if the text is a policy of this build.
bool can_be_served(const std::string& policy);

// Draws a call on P ranks with these nodes.
Call draw_call(Draw& draw, int P, const std::vector<int>& node_of, double scale);

CollectiveCall request_of(Memory& memory, int rank);

// Reports the time of plain MPI after a call that ran alone, if it fell back.
void record_plain(const CollectiveCall& request, const Verdict& verdict, std::uint64_t nanoseconds);

// Returns the plan of the call by a route, if its values gain by compression. The plan refers to the table.
Plan plan_of(const Policy& policy, const Memory& memory, CandidateTable& table, Route route = {});

// Returns the promise of a call that was compressed: the weakest one of the routes that the tuner may choose.
Promise promise_of(const Policy& policy, const Memory& memory);

// Returns true if measured times decide whether the call goes by nodes; its bits then depend on these times.
bool may_go_by_nodes_or_not(const Policy& policy, const Memory& memory);

// Returns the promise of a message. Its memory is that of a broadcast from rank 0 to rank 1.
Promise promise_of_message(const Policy& policy, const Memory& memory, bool coded);

}  // namespace taut::test
