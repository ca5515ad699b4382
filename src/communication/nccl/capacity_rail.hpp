// CapacityMode::Rail: turns a call in capacity mode into a call by nodes.
#pragma once

#include "communication/nccl/capacity_mode.hpp"
#include "communication/team/nodes.hpp"

namespace taut::nccl {

// The ranks with the same local rank, one on each node, exchange frames: a rail for each GPU of a node. As in
// hierarchical.cpp, each of them has a part of the message, or the blocks of ranks with its local rank.
// Nodes are equal.
class CapacityMode::Rail {
 public:
  Rail(Call& call, const Nodes& nodes, int rank) noexcept
      : call_(call),
        nodes_(nodes),
        rank_(rank),
        me_(nodes.local_rank(rank)),
        size_(static_cast<int>(nodes.same_node(rank).size())) {}

  // Replaces the operands of the call by those of the rail, and adds the work on the node before and after.
  // Throws Error if there is no memory.
  void convert();

 private:
  void allreduce();
  void reduce_scatter();
  void allgather();
  void bcast();

  // Returns the part of a message that rank i of the node is responsible for.
  template <class S>
  S part(const S& message, int i) const noexcept {
    return block(message, static_cast<std::size_t>(i), static_cast<std::size_t>(size_));
  }
  // Returns the block of rank i of a node.
  template <class S>
  S chunk(const S& message, int node, int i) const noexcept {
    return block(message, static_cast<std::size_t>(nodes_.rank(node, i)),
                 static_cast<std::size_t>(call_.ranks));
  }
  // Appends the messages by which this rank and rank i of the node send each other values.
  void exchange(NodeWork& work, int i, ConstSlice mine, Slice theirs) const;
  Slice allocate(std::size_t count);

  Call& call_;
  const Nodes& nodes_;
  int rank_, me_, size_;
};

}  // namespace taut::nccl
