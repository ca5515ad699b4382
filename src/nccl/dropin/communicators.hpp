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

// Takes the calls of communicators that the program has just created, if there are rules. All ranks of a
// communicator do so at the same place, and compare their rules. Returns NCCL's result for the creation.
// `policy`: as of CommState.
int take(std::span<ncclComm* const> created, const std::optional<std::string>& policy = {});

// Completes the calls of a communicator that the program is about to destroy, and forgets it.
void release(ncclComm* comm);

// Forgets a communicator that the program aborts by `abort()`, which returns NCCL's result. Waits for no
// rank.
int abandon(ncclComm* comm, int (*abort)(ncclComm*));

// Prints why a call failed, and returns NCCL's result for it.
int refused(const char* why) noexcept;

}  // namespace taut::nccl::dropin
