// Nodes: the map from the ranks of a communicator to nodes and local ranks.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

namespace taut {

class Nodes {
 public:
  Nodes() = default;  // no nodes are known
  // `node_of[r]`: identifier of the node of rank r; the same identifier means the same node.
  explicit Nodes(std::span<const int> node_of);

  // Returns true if there are at least two nodes, all with the same number of ranks, at least two. The
  // functions below are valid only then.
  bool uniform() const noexcept { return ranks_per_node_ > 1; }

  int count() const noexcept { return static_cast<int>(places_.size()) / ranks_per_node_; }

  int node(int rank) const noexcept { return places_[static_cast<std::size_t>(rank)].node; }
  // Returns the position of a rank among the ranks on its node, in rank order.
  int local_rank(int rank) const noexcept { return places_[static_cast<std::size_t>(rank)].local_rank; }
  int rank(int node, int local_rank) const noexcept {
    return by_local_rank_[index(local_rank, count()) + index(node)];
  }

  // Return the ranks of one node after the other, the place of a rank among them, and true if that is the
  // order of their numbers.
  std::span<const int> in_order() const noexcept { return by_node_; }
  int place_in_order(int rank) const noexcept { return node(rank) * ranks_per_node_ + local_rank(rank); }
  bool are_consecutive() const noexcept { return std::ranges::is_sorted(by_node_); }

  // Return the ranks on the node of `rank`, and the ranks with the same local rank, one on each node.
  std::span<const int> same_node(int rank) const noexcept {
    return std::span(by_node_).subspan(index(node(rank), ranks_per_node_), index(ranks_per_node_));
  }
  std::span<const int> same_local_rank(int rank) const noexcept {
    return std::span(by_local_rank_).subspan(index(local_rank(rank), count()), index(count()));
  }

 private:
  struct Place {
    int node, local_rank;
  };
  static std::size_t index(int i, int rows = 1) noexcept {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(rows);
  }

  int ranks_per_node_ = 1;
  std::vector<Place> places_;                 // by rank; empty unless uniform
  std::vector<int> by_node_, by_local_rank_;  // ranks by node and local rank, and by local rank and node
};

}  // namespace taut
