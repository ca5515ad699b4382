// Hierarchical collectives, for nodes with several ranks each. Values travel uncompressed within a node,
// through memory, and as frames between nodes. The algorithm between nodes runs once for each place on a
// node: the ranks with that place run it on their part of the message. All ranks of a node thus use its
// links, and each value is coded once a node. In an alltoall these ranks exchange the blocks of their nodes:
// N-1 messages a rank in place of NL-1. In a gather or scatter one rank of each node collects or hands out
// the blocks of its node, which are one message to or from the root. Larger blocks of an alltoall, and those
// between neighbours, are not packed: values on the node, and a frame for each rank elsewhere. On nodes of
// unequal size only the leaders hold parts of the message; this serves allreduce, reduce and bcast.
#pragma once

#include "communication/team/algorithm.hpp"
#include "communication/team/call.hpp"
#include "communication/team/nodes.hpp"

namespace taut {

// Returns true if calls with `count` values in all blocks can run by nodes.
bool runs_by_nodes(Collective collective, std::size_t count, int ranks, bool equal_nodes = true,
                   bool any_blocks = false) noexcept;

// Returns true if by nodes the blocks of a node are one message, which one rank of the node codes.
bool joins_blocks(Collective collective) noexcept;

// Returns true if such a call moves blocks from rank to rank, uncompressed within nodes: `between` of its
// operands must then be the nodes, and the algorithm serves all ranks. Packing blocks saves messages, and
// copies all values.
bool moves_between_ranks(const Call& call) noexcept;

// Memory of one rank by nodes for one segment, in values, beside that of the algorithm. 0: no buffer.
struct MemoryByNodes {
  std::size_t kept = 0;      // buffer that is in use while the algorithm runs
  std::size_t passing = 0;   // buffer of steps on the node
  std::size_t message = 0;   // largest message on the node
  std::size_t messages = 2;  // number of them in flight: a send and a receive
  bool between = true;       // the rank runs the algorithm
};
// `works`: the transport itself moves and reduces the values of a node.
MemoryByNodes memory_by_nodes(const Call& call, const Nodes& nodes, int rank, const Operands& data,
                              int segments, bool works = false) noexcept;

// Bytes of the values that a rank encodes and decodes between nodes, at their places in a history. Places of
// alltoall and reduce_scatter depend on the number of segments.
struct BytesBetweenNodes {
  std::size_t sent = 0, received = 0;
};
BytesBetweenNodes bytes_between_nodes(Collective collective, const Nodes& nodes, int rank,
                                      const Operands& data) noexcept;

// Returns true if an algorithm of all ranks has fewer messages between nodes when it runs over the ranks of
// one node after the other: rings, chains and trees do where ranks are placed on the nodes in turn. The order
// of the ranks must not change the bits of the result.
bool follows_nodes(const AlgorithmInfo& algorithm, const Nodes& nodes, Arithmetic how) noexcept;

// Call of all ranks in the order of their nodes.
struct OrderedCall {
  Team team;
  Operands data;
};
OrderedCall in_order_of_nodes(const AlgorithmInfo& algorithm, const Nodes& nodes, Team team, Operands data);

// Runs the algorithm by nodes, if runs_by_nodes() allows it.
Task<> by_nodes(const AlgorithmInfo& algorithm, const Nodes& nodes, Team team, Operands data);

}  // namespace taut
