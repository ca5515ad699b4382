// CapacityMode::Rail: rewrites a call of all ranks as a call by nodes.
#pragma once

#include "communication/nccl/capacity_mode.hpp"
#include "communication/team/nodes.hpp"

namespace taut::nccl {

// A rail is the ranks with one local rank, one rank on each node. Frames travel along rails. Values travel on
// a node, by NCCL, before (`Call::before`) and after that (`Call::after`). As in hierarchical.cpp, a rail has
// one part of the message and of its residual, or the blocks of its ranks. All nodes have the same number of
// ranks.
class CapacityMode::Rail {
 public:
  Rail(Call& call, const Nodes& nodes, int rank) noexcept
      : call_(call),
        nodes_(nodes),
        rank_(rank),
        me_(nodes.local_rank(rank)),
        size_(static_cast<int>(nodes.same_node(rank).size())) {}

  // Replaces the ranks and operands of the call by those of this rank's rail, and adds the work on the node.
  // Throws Error if there is no memory.
  void convert();

 private:
  void allreduce();
  void reduce_scatter();
  void allgather();
  void bcast();

  // Returns part i of a message, which belongs to the rail with local rank i.
  template <class S>
  S part(const S& message, int i) const noexcept {
    return block(message, static_cast<std::size_t>(i), static_cast<std::size_t>(size_));
  }
  // Returns the block of the rank with local rank i on a node.
  template <class S>
  S chunk(const S& message, int node, int i) const noexcept {
    return block(message, static_cast<std::size_t>(nodes_.rank(node, i)),
                 static_cast<std::size_t>(call_.ranks));
  }
  // Appends two messages on the node: this rank sends `mine` to local rank i, which sends `theirs` back.
  void exchange(NodeWork& work, int i, ConstSlice mine, Slice theirs) const;
  Slice allocate(std::size_t count);

  Call& call_;
  const Nodes& nodes_;
  int rank_, me_, size_;
};

}  // namespace taut::nccl
