// Which ranks of a communicator share a node: these reach each other through memory, others by the network.
#pragma once

#include <span>
#include <vector>

namespace taut {

class Nodes {
 public:
  Nodes() = default;  // nothing is known
  // `node_of[r]`: a number that the ranks on a node have in common, and no others.
  explicit Nodes(std::span<const int> node_of);

  // There are several nodes, and on all of them equally many ranks, more than one. Else there is nothing to
  // ask for below.
  bool even() const noexcept { return each_ > 1; }

  int count() const noexcept { return static_cast<int>(places_.size()) / each_; }

  int node(int rank) const noexcept { return places_[static_cast<std::size_t>(rank)].node; }
  // Among the ranks on its node, in their order.
  int place(int rank) const noexcept { return places_[static_cast<std::size_t>(rank)].place; }
  int rank(int node, int place) const noexcept { return across_[index(place, count()) + index(node)]; }

  // The ranks on one's node; those that have the same place, one on each node.
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
