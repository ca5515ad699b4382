// The list of the communicators of an unchanged program whose calls Taut may serve.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "communication/nccl/dropin/ordered_calls.hpp"

namespace taut::nccl::dropin {

// Returns the queue of the calls of a communicator; null if NCCL serves them all.
std::shared_ptr<OrderedCalls> find_calls(ncclComm* comm);

// Starts to serve the calls of communicators that the program has just created, if there are rules.
// Collective over each communicator: the ranks compare their rules. Returns NCCL's result for the creation.
// `policy`: replaces the rules of the environment. Throws Error.
int start_serving(std::span<ncclComm* const> created, const std::optional<std::string>& policy = {});

// Notes a communicator that the program creates with blocking = 0: NCCL serves all its calls, and those of
// parts of it. `rank`: of this process; -1: not known. `ranks`: of the communicator; 0: not known. Rank 0
// prints a notice if there are rules.
void leave_nonblocking(ncclComm* comm, int rank, int ranks);

// Returns true if leave_nonblocking() has noted the communicator.
bool is_nonblocking(ncclComm* comm);

// Completes the calls of a communicator that the program is about to destroy, and removes it from the list.
void release(ncclComm* comm);

// Removes a communicator from the list, stops Taut's thread for its calls, for which it waits a limited time
// only, and calls `end`, a function of NCCL such as ncclCommAbort. NCCL serves what follows. Returns the
// result of `end` without waiting for other ranks.
int abandon(ncclComm* comm, const std::function<int(ncclComm*)>& end);

// Prints the reason of a failed call, and returns NCCL's result for it.
int report_failure(const char* why) noexcept;

}  // namespace taut::nccl::dropin
