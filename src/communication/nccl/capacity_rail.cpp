#include "communication/nccl/capacity_rail.hpp"

#include <utility>

namespace taut::nccl {

void CapacityMode::Rail::convert() {
  const std::span<const int> peers = nodes_.same_local_rank(rank_);
  call_.peers.assign(peers.begin(), peers.end());
  call_.my_index = nodes_.node(rank_);
  call_.first_block = peers.size() * static_cast<std::size_t>(local_rank_);
  call_.before.op = call_.after.op = call_.op;
  switch (call_.collective) {
    case Collective::allreduce: return allreduce();
    case Collective::reduce_scatter: return reduce_scatter();
    case Collective::allgather: return allgather();
    default: return bcast();
  }
}

Slice CapacityMode::Rail::allocate(std::size_t count) {
  const DType type = call_.out.type;
  return {{call_.memory.emplace_back(call_.scratch(count * size_of(type))).data(), count, type}};
}

void CapacityMode::Rail::exchange(NodeWork& work, int i, ConstSlice mine, Slice theirs) const {
  if (i == local_rank_) return;
  work.blocks.push_back({mine, {}, local_rank_, i});
  work.blocks.push_back({{}, theirs, i, local_rank_});
}

// Work before: local rank i sums part i of the node's values, in its part of the output. The rail adds the
// sums of the nodes. Work after: each rank gets the other parts.
void CapacityMode::Rail::allreduce() {
  const Slice mine = part(call_.out, local_rank_), values = call_.out;
  call_.before.kind = NodeWork::Kind::reduce;
  call_.after.kind = NodeWork::Kind::share;
  for (int i = 0; i < node_size_; ++i) {
    call_.before.blocks.push_back({part(call_.in, i), mine, local_rank_, i});
    call_.after.blocks.push_back({part(values, i), part(values, i), i, local_rank_});
  }
  call_.in = call_.out = mine;
  call_.residual = part(call_.residual, local_rank_);
}

// Work before: the blocks of all ranks of the rail are summed over the node. The rail adds the sums of the
// nodes.
void CapacityMode::Rail::reduce_scatter() {
  const auto N = static_cast<std::size_t>(nodes_.count());
  const Slice sums = allocate(N * call_.out.count);
  call_.before.kind = NodeWork::Kind::reduce;
  for (std::size_t n = 0; n < N; ++n)
    for (int i = 0; i < node_size_; ++i)
      call_.before.blocks.push_back(
          {block_of(call_.in, static_cast<int>(n), i), block(sums, n, N), local_rank_, i});
  call_.in = sums;
  call_.residual = {call_.residual.part(0, sums.count)};
}

// The rail gathers the blocks of its ranks. Work after: the ranks of a node exchange these blocks. A rank
// that keeps its own values, unrounded, decodes its frame into a copy, which the other ranks of its node get.
void CapacityMode::Rail::allgather() {
  const Slice values = call_.out, own = block_of(values, call_.my_index, local_rank_);
  if (std::exchange(call_.keeps_own, false)) call_.own_output = allocate(own.count);
  call_.after.kind = NodeWork::Kind::move;
  for (int i = 0; i < node_size_; ++i)
    for (int n = 0; n < nodes_.count(); ++n) {
      const bool decoded_apart = n == call_.my_index && call_.own_output.data != nullptr;
      exchange(call_.after, i, decoded_apart ? call_.own_output : block_of(values, n, local_rank_),
               block_of(values, n, i));
    }
}

// Work before: the root sends each rank of its node one part. Each rail broadcasts its part. Work after: the
// ranks of a node exchange the parts. A root that keeps its values, unrounded, decodes its part into a copy,
// and receives the other parts in memory that nobody reads.
void CapacityMode::Rail::bcast() {
  const int root = nodes_.local_rank(call_.root), root_node = nodes_.node(call_.root);
  const bool at_root = rank_ == call_.root;
  const bool keeps = std::exchange(call_.keeps_own, false);
  const Slice mine = part(call_.out, local_rank_);
  call_.before.kind = call_.after.kind = NodeWork::Kind::move;
  if (call_.my_index == root_node && !at_root) call_.before.blocks.push_back({{}, mine, root, local_rank_});
  for (int i = 0; at_root && i < node_size_; ++i)
    if (i != root) call_.before.blocks.push_back({part(call_.in, i), {}, root, i});
  Slice unread;
  if (keeps) {
    call_.own_output = allocate(mine.count);
    unread = allocate(part(call_.out, 0).count);
  }
  for (int i = 0; i < node_size_; ++i) {
    Slice theirs = part(call_.out, i);
    if (keeps) theirs.data = unread.data;
    exchange(call_.after, i, keeps ? call_.own_output : mine, theirs);
  }
  call_.in = at_root ? part(call_.in, local_rank_) : ConstSlice(mine);
  call_.out = mine;
  call_.root = root_node;
}

}  // namespace taut::nccl
