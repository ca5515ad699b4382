// Translation of MPI's arguments into a CollectiveCall.
#pragma once

#include <optional>

#include "api/args/mpi_call.hpp"
#include "api/args/rank_and_size.hpp"
#include "api/args/topology.hpp"
#include "comm/collective_call.hpp"

namespace taut::api {

// Describes a call; returns nothing if MPI has to report an error in the arguments. Does not read arguments
// that are not significant on this rank. `topology`: that of the communicator, for neighbourhood collectives;
// it must outlive the call.
std::optional<CollectiveCall> describe(const MpiCall& call, const RankAndSize& group,
                                       const Topology* topology);

}  // namespace taut::api
