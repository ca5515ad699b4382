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

  // Returns true if there are at least two nodes, and several ranks on at least one of them. The functions
  // below are valid only then.
  bool several() const noexcept { return leaders_ > 0; }

  int count() const noexcept { return static_cast<int>(first_.size()) - 1; }

  // Leaders of a node: its first ranks, as many as the smallest node has. Nodes are equal if every rank is a
  // leader.
  int leaders() const noexcept { return leaders_; }
  bool equal() const noexcept { return by_local_rank_.size() == places_.size(); }

  int node(int rank) const noexcept { return places_[index(rank)].node; }
  // Returns the position of a rank among the ranks on its node, in rank order.
  int local_rank(int rank) const noexcept { return places_[index(rank)].local_rank; }
  int rank(int node, int local_rank) const noexcept {
    return by_node_[index(first_[index(node)] + local_rank)];
  }

  // Return the ranks of one node after the other, the place of a rank among them, and true if that is the
  // order of their numbers.
  std::span<const int> in_order() const noexcept { return by_node_; }
  int place_in_order(int rank) const noexcept { return first_[index(node(rank))] + local_rank(rank); }
  bool are_consecutive() const noexcept { return std::ranges::is_sorted(by_node_); }

  // Return the ranks on the node of `rank`, and the leaders with the same local rank, one on each node; none
  // if `rank` is no leader.
  std::span<const int> same_node(int rank) const noexcept {
    const int first = first_[index(node(rank))], end = first_[index(node(rank)) + 1];
    return std::span(by_node_).subspan(index(first), index(end - first));
  }
  std::span<const int> same_local_rank(int rank) const noexcept {
    if (local_rank(rank) >= leaders_) return {};
    return std::span(by_local_rank_).subspan(index(local_rank(rank) * count()), index(count()));
  }

 private:
  struct Place {
    int node, local_rank;
  };
  static std::size_t index(int i) noexcept { return static_cast<std::size_t>(i); }

  int leaders_ = 0;
  std::vector<Place> places_;                 // by rank
  std::vector<int> first_;                    // of each node in by_node_, and the number of all ranks
  std::vector<int> by_node_, by_local_rank_;  // ranks by node and local rank, leaders by local rank and node
};

}  // namespace taut
