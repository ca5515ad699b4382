// Common parts of the C functions of taut_nccl.h: errors, and the states of communicators.
#pragma once

#include <memory>
#include <new>

#include "communication/nccl/comm_state.hpp"

namespace taut::nccl {

// Keeps the reason of an error for TAUT_Nccl_last_error. Returns the status as the C functions do.
int failed(Status status, const char* why) noexcept;

// Runs action(), and returns the status of what it throws.
template <class Action>
int guard(const Action& action) noexcept {
  try {
    action();
    return static_cast<int>(Status::ok);
  } catch (const Error& error) {
    return failed(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return failed(Status::out_of_memory, describe(Status::out_of_memory));
  } catch (...) {
    return failed(Status::internal, describe(Status::internal));
  }
}

// Returns the state of a communicator; null if there is none.
std::shared_ptr<CommState> find_state(ncclComm* comm);

}  // namespace taut::nccl
