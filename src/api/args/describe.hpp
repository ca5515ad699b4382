// From MPI's arguments to the library's description of a collective call.
#pragma once

#include <optional>

#include "api/args/group.hpp"
#include "api/args/mpi_call.hpp"
#include "comm/collective_call.hpp"

namespace taut::api {

// Nothing where the arguments are for MPI to complain about. Arguments that do not matter on this rank are
// not read.
std::optional<CollectiveCall> describe(const MpiCall& call, const Group& group);

}  // namespace taut::api
