// Nodes of a communicator: the ranks that share each node. Ranks of a node reach each other through memory,
// ranks of different nodes by the network.
#pragma once

#include <span>
#include <vector>

namespace taut {

class Nodes {
 public:
  Nodes() = default;  // no nodes are known
  // `node_of[r]`: identifier of the node of rank r; ranks have the same identifier only if they share a node.
  explicit Nodes(std::span<const int> node_of);

  // Returns true if there are several nodes with equally many ranks each, more than one. The functions below
  // are valid only then.
  bool even() const noexcept { return each_ > 1; }

  int count() const noexcept { return static_cast<int>(places_.size()) / each_; }

  int node(int rank) const noexcept { return places_[static_cast<std::size_t>(rank)].node; }
  // Returns the position of a rank among the ranks on its node, in rank order.
  int place(int rank) const noexcept { return places_[static_cast<std::size_t>(rank)].place; }
  int rank(int node, int place) const noexcept { return across_[index(place, count()) + index(node)]; }

  // beside: the ranks on the node of `rank`. across: the ranks with the same place as `rank`, one on each
  // node.
  std::span<const int> beside(int rank) const noexcept {
    return std::span(beside_).subspan(index(node(rank), each_), index(each_));
  }
  std::span<const int> across(int rank) const noexcept {
    return std::span(across_).subspan(index(place(rank), count()), index(count()));
  }

 private:
  struct Place {
    int node, place;
  };
  static std::size_t index(int i, int rows = 1) noexcept {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(rows);
  }

  int each_ = 1;
  std::vector<Place> places_;         // by rank; empty unless even
  std::vector<int> beside_, across_;  // ranks by node and place, and by place and node
};

}  // namespace taut
