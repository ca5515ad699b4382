// Common parts of the C functions of taut_nccl.h: errors (guard()), and the states of communicators.
#pragma once

#include <memory>

#include "communication/nccl/comm_state.hpp"
#include "compressor/base/guarded.hpp"

namespace taut::nccl {

// Returns the state of a communicator; null if there is none.
std::shared_ptr<CommState> find_state(ncclComm* comm);

}  // namespace taut::nccl
