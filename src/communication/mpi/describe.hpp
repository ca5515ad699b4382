// Translation of MPI's arguments into a CollectiveCall.
#pragma once

#include <optional>

#include "communication/comm/collective_call.hpp"
#include "communication/mpi/mpi_call.hpp"
#include "communication/mpi/rank_and_size.hpp"
#include "communication/mpi/topology.hpp"

namespace taut::api {

// Describes a call; returns nothing if MPI has to report an error in the arguments. Does not read arguments
// that are not significant on this rank. `topology`: that of the communicator, for neighbourhood collectives;
// it must outlive the call.
std::optional<CollectiveCall> describe(const MpiCall& call, const RankAndSize& group,
                                       const Topology* topology);

}  // namespace taut::api
