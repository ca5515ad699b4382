// Block layouts from the counts and displacements of MPI's vector calls.
#pragma once

#include <mpi.h>

#include <memory>

#include "communication/team/blocks.hpp"

namespace taut::api {

using Layout = std::shared_ptr<const BlockLayout>;

// Returns the layout of the blocks; null if MPI has to report an error: no counts, or negative ones. Without
// displacements, each block follows the previous one.
Layout layout_of(const MPI_Count* counts, const MPI_Aint* displacements, int blocks);

// Returns the number of values in all blocks.
std::size_t values_of(const BlockLayout& layout) noexcept;

}  // namespace taut::api
