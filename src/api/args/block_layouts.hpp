// Counts and displacements of MPI's vector calls as the layout of blocks.
#pragma once

#include <mpi.h>

#include <memory>

#include "core/blocks.hpp"

namespace taut::api {

using Layout = std::shared_ptr<const BlockLayout>;

// Null where MPI has something to complain about: no counts, or negative ones. Without displacements one
// block follows the other.
Layout layout_of(const MPI_Count* counts, const MPI_Aint* displacements, int blocks);

// Values of all blocks.
std::size_t values_of(const BlockLayout& layout) noexcept;

}  // namespace taut::api
