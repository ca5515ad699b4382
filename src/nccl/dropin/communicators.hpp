// The communicators of an unchanged program whose calls Taut may serve.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "nccl/dropin/ordered_calls.hpp"

namespace taut::nccl::dropin {

// Returns the calls of a communicator; null if NCCL serves them all.
std::shared_ptr<OrderedCalls> find_calls(ncclComm* comm);

// Starts to serve the calls of communicators that the program has just created, if there are rules.
// Collective over each communicator: the ranks compare their rules. Returns NCCL's result for the creation.
// `policy`: in place of rules.
int take(std::span<ncclComm* const> created, const std::optional<std::string>& policy = {});

// Completes the calls of a communicator that the program is about to destroy, and removes it from the list.
void release(ncclComm* comm);

// Aborts a communicator by NCCL's function `abort`, and removes it from the list. Returns NCCL's result
// without waiting for other ranks.
int abandon(ncclComm* comm, int (*abort)(ncclComm*));

// Prints the reason of a failed call, and returns NCCL's result for it.
int refused(const char* why) noexcept;

}  // namespace taut::nccl::dropin
