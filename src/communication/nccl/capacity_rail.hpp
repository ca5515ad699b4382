// CapacityMode::Rail rewrites a call of all ranks as a call by nodes.
#pragma once

#include "communication/nccl/capacity_mode.hpp"
#include "communication/team/nodes.hpp"

namespace taut::nccl {

// A rail is the ranks with one local rank, one rank on each node. Frames travel along rails. Before that
// (`SlotCall::before`) and after (`SlotCall::after`), NCCL moves values among the ranks of a node. As in
// hierarchical.cpp, a rail has one part of the message and of its residual, or the blocks of its ranks. All
// nodes have the same number of ranks.
class CapacityMode::Rail {
 public:
  Rail(SlotCall& call, const Nodes& nodes, int rank) noexcept
      : call_(call),
        nodes_(nodes),
        rank_(rank),
        local_rank_(nodes.local_rank(rank)),
        node_size_(static_cast<int>(nodes.same_node(rank).size())) {}

  // Replaces the ranks and operands of the call by those of this rank's rail, and adds the work on the node.
  // Throws Error if there is no memory.
  void convert();

 private:
  void allreduce();
  void reduce_scatter();
  void allgather();
  void bcast();

  // Returns part i of a message, which belongs to the rail with local rank i.
  template <class AnySlice>
  AnySlice part(const AnySlice& message, int i) const noexcept {
    return block(message, static_cast<std::size_t>(i), static_cast<std::size_t>(node_size_));
  }
  // Returns the block of the rank with local rank i on a node.
  template <class AnySlice>
  AnySlice block_of(const AnySlice& message, int node, int i) const noexcept {
    return block(message, static_cast<std::size_t>(nodes_.rank(node, i)),
                 static_cast<std::size_t>(call_.ranks));
  }
  // Appends two messages on the node: this rank sends `mine` to local rank i, and receives `theirs` from it.
  void exchange(NodeWork& work, int i, ConstSlice mine, Slice theirs) const;
  Slice allocate(std::size_t count);

  SlotCall& call_;
  const Nodes& nodes_;
  int rank_, local_rank_, node_size_;
};

}  // namespace taut::nccl
