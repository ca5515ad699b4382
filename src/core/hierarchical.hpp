// Collectives on nodes with several ranks each: values are exchanged as they are on a node, through memory,
// and coded between nodes. An algorithm for the ranks of different nodes runs once for each place on a node,
// on the part of the message that these ranks have in common: so all ranks of a node drive its links, and
// each value is coded once a node.
#pragma once

#include "core/algorithm.hpp"
#include "core/nodes.hpp"

namespace taut {

// Whether there is a text for calls with `count` values in all blocks.
bool runs_by_nodes(Collective collective, std::size_t count, int ranks) noexcept;

// Scratch memory of one rank for a reduction, beside that of the algorithm: each for a rank's part of a
// segment.
inline constexpr int buffers_by_nodes = 2;

// The algorithm by nodes, of which there are several with equally many ranks.
Task<> by_nodes(const AlgorithmInfo& algorithm, const Nodes& nodes, Team team, Operands data);

}  // namespace taut
