#include "communication/team/nodes.hpp"

#include <utility>

namespace taut {

Nodes::Nodes(std::span<const int> node_of) {
  std::vector<int> ids(node_of.begin(), node_of.end());
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  const std::size_t nodes = ids.size(), ranks = node_of.size();
  if (nodes < 2 || ranks == nodes) return;

  const auto number = [](std::size_t i) { return static_cast<int>(i); };
  std::vector<std::vector<int>> ranks_of(nodes);
  std::vector<Place> places;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto node = static_cast<std::size_t>(std::ranges::lower_bound(ids, node_of[rank]) - ids.begin());
    places.push_back({number(node), number(ranks_of[node].size())});
    ranks_of[node].push_back(number(rank));
  }
  const auto size = [](const std::vector<int>& node) { return node.size(); };
  const std::size_t leaders = std::ranges::min(ranks_of, {}, size).size();
  std::vector<int> first, by_node, by_local_rank(nodes * leaders);
  for (std::size_t node = 0; node < nodes; ++node) {
    first.push_back(number(by_node.size()));
    by_node.insert(by_node.end(), ranks_of[node].begin(), ranks_of[node].end());
    for (std::size_t i = 0; i < leaders; ++i) by_local_rank[i * nodes + node] = ranks_of[node][i];
  }
  first.push_back(number(ranks));
  leaders_ = number(leaders);
  places_ = std::move(places);
  first_ = std::move(first);
  by_node_ = std::move(by_node);
  by_local_rank_ = std::move(by_local_rank);
}

}  // namespace taut
