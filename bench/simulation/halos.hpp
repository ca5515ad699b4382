// Halos: the neighbours of ranks in a periodic grid of three dimensions, of which each host has a brick.
#pragma once

#include <array>

#include "communication/team/collective.hpp"
#include "hosts.hpp"

namespace simulation {

// Returns three factors of n, as equal as they can be, the greatest one first.
std::array<int, 3> grid_of(int n);

// Returns the up to six neighbours of a rank. Hosts have equally many ranks, under block placement.
taut::Neighbours neighbours_of(const Hosts& hosts, int ranks, int rank);

}  // namespace simulation
