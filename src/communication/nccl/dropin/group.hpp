// The groups of calls (ncclGroupStart, ncclGroupEnd) of a thread of an unchanged program.
#pragma once

#include "communication/nccl/dropin/operation.hpp"

namespace taut::nccl::dropin {

// ncclGroupStart and ncclGroupEnd under the drop-in. Both return NCCL's results, and throw Error.
int start_group();
int end_group();

// ncclGroupSimulateEnd under the drop-in: ends the group, and NCCL estimates the time of its calls in place
// of making them. `estimate`: NCCL's ncclSimInfo_t. Returns NCCL's result, and throws Error.
int simulate_group(int (*simulate_end)(void* estimate), void* estimate);

// Makes a call, now or at the end of the group.
int issue(const Operation& operation);

// Notes `n` communicators that the program has created. Taut may serve their calls after the group.
int note_created(ncclComm** comms, int n);

}  // namespace taut::nccl::dropin
