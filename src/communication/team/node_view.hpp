// View of a call by nodes: what the collectives of hierarchical.cpp and blocks_by_nodes.cpp share, the ranks
// of a node, the leaders of all nodes, and steps on a node with one rank at one end.
#pragma once

#include "communication/team/hierarchical.hpp"
#include "communication/team/intra_node.hpp"

namespace taut::on_nodes {

using Kind = NodeWork::Kind;
using NodeBlocks = std::vector<NodeWork::Block>;

// Context of one segment of a call on one rank.
struct View {
  const AlgorithmInfo& algorithm;
  const Nodes& nodes;
  Team all;
  NodePeers node;
  Team across;  // leaders with the local rank of this one

  int me() const noexcept { return node.rank(); }
  int neighbour(int distance) const noexcept { return mod(me() + distance, node.size()); }
  int my_node() const noexcept { return nodes.node(all.rank()); }

  bool leads(int i) const noexcept { return i < nodes.leaders(); }
  bool leads() const noexcept { return leads(me()); }
  int if_leader(int i) const noexcept { return leads(i) ? i : NodePeers::no_rank; }
  int if_led(int i) const noexcept { return leads() ? i : NodePeers::no_rank; }
  static int if_any(const ConstSlice& values, int i) noexcept {
    return values.count > 0 ? i : NodePeers::no_rank;
  }

  // Returns the part of a message that rank i of a node is responsible for; an empty one unless it leads. On
  // GPUs the parts of a segment are one after the other, as NCCL needs them. Elsewhere the parts, and so the
  // order of sums on a node, do not depend on the segments.
  template <class S>
  S part(const S& message, int i) const noexcept {
    if (!leads(i)) return {message.part(0, 0)};
    const auto number = static_cast<std::size_t>(i), parts = static_cast<std::size_t>(nodes.leaders());
    return node.does_work() ? block(all.whole(message), number, parts)
                            : all.whole(block(message, number, parts));
  }
  // Returns the place of this segment in the part of this rank. Over NCCL, where parts differ, there are no
  // histories.
  std::size_t place_of_part(const ConstSlice& message) const noexcept {
    const auto number = static_cast<std::size_t>(me()), parts = static_cast<std::size_t>(nodes.leaders());
    return all.place_of_segment(block(message, number, parts));
  }
  // Returns the block of rank i of node `of_node`.
  template <class S>
  S chunk(const S& message, int of_node, int i) const noexcept {
    return all.chunk(message, nodes.rank(of_node, i));
  }
  // Appends the blocks that this rank and rank i of the node send each other; none if rank i is this one.
  void exchange(NodeBlocks& blocks, int i, ConstSlice mine, Slice theirs) const {
    if (i == me()) return;
    blocks.push_back({mine, {}, me(), i});
    blocks.push_back({{}, theirs, i, me()});
  }
};

// Scope in which the algorithm between nodes runs: a history knows the places of its operands.
class BetweenNodes {
 public:
  // `at`: place of the operands among the values that this rank encodes, and among those that it decodes.
  BetweenNodes(const View& view, ConstSlice sent, ConstSlice received, std::size_t at) noexcept
      : BetweenNodes(view, {OperandExtent(sent, at), OperandExtent(received, at), {}}) {}
  BetweenNodes(const View& view, const OperandMemory& memory) noexcept : team_(view.all) {
    team_.place(memory);
  }
  BetweenNodes(const BetweenNodes&) = delete;
  ~BetweenNodes() { team_.place({}); }

 private:
  const Team& team_;
};

// Every rank of a node sends `mine` to the rank `to` of the node, which receives theirs(i) of each other rank
// i. There is no message without values.
template <class Theirs>
Task<> collect(View& view, int to, ConstSlice mine, Theirs theirs) {
  if (view.node.does_work()) {
    NodeWork work = view.node.work(Kind::move, Reduction::sum, [&](NodeBlocks& blocks) {
      if (view.me() != to) blocks.push_back({mine, {}, view.me(), to});
      for (int i = 0; view.me() == to && i < view.node.size(); ++i)
        if (i != to) blocks.push_back({{}, theirs(i), i, to});
    });
    co_return co_await view.node.run(std::move(work));
  }
  if (view.me() != to) co_await view.node.send(mine, View::if_any(mine, to));
  for (int d = 1; view.me() == to && d < view.node.size(); ++d) {
    const int from = view.neighbour(d);
    const Slice values = theirs(from);
    co_await view.node.recv(values, View::if_any(values, from));
  }
}

// The rank `from` of a node sends theirs(i) to each other rank i of the node, which receives `mine`.
template <class Theirs>
Task<> hand_out(View& view, int from, Slice mine, Theirs theirs) {
  if (view.node.does_work()) {
    NodeWork work = view.node.work(Kind::move, Reduction::sum, [&](NodeBlocks& blocks) {
      if (view.me() != from) blocks.push_back({{}, mine, from, view.me()});
      for (int i = 0; view.me() == from && i < view.node.size(); ++i)
        if (i != from) blocks.push_back({theirs(i), {}, from, i});
    });
    co_return co_await view.node.run(std::move(work));
  }
  if (view.me() != from) co_await view.node.recv(mine, View::if_any(mine, from));
  for (int d = 1; view.me() == from && d < view.node.size(); ++d) {
    const int to = view.neighbour(d);
    const ConstSlice values = theirs(to);
    co_await view.node.send(values, View::if_any(values, to));
  }
}

// Collectives of blocks (blocks_by_nodes.cpp). move_between_ranks: with `data.between`.
Task<> allgather(View view, Operands data);
Task<> reduce_scatter(View view, Operands data);
Task<> gather(View view, Operands data);
Task<> scatter(View view, Operands data);
Task<> alltoall(View view, Operands data);
Task<> move_between_ranks(View view, Operands data);

}  // namespace taut::on_nodes
