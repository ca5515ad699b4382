// Groups of calls (ncclGroupStart, ncclGroupEnd) of a thread of an unchanged program.
#pragma once

#include "nccl/dropin/operation.hpp"

namespace taut::nccl::dropin {

// Functions of NCCL's names. They return NCCL's results, and throw Error.
int start_group();
int end_group();

// Makes a call, now or at the end of the group.
int issue(const Operation& operation);

// Notes that the program has created a communicator, whose calls Taut may serve from the end of the group on.
int created(ncclComm** comms, int n);

}  // namespace taut::nccl::dropin
