#include "communication/team/nodes.hpp"

#include <algorithm>

namespace taut {

Nodes::Nodes(std::span<const int> node_of) {
  std::vector<int> ids(node_of.begin(), node_of.end());
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  const auto several = [](std::size_t n) { return n > 1; };
  const std::size_t nodes = ids.size();
  if (!several(nodes) || node_of.size() % nodes != 0 || !several(node_of.size() / nodes)) return;

  const std::size_t ranks_per_node = node_of.size() / nodes;
  std::vector<std::size_t> filled(nodes);
  std::vector<Place> places;
  std::vector<int> by_node(node_of.size()), by_local_rank(node_of.size());
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    const auto node = static_cast<std::size_t>(std::ranges::lower_bound(ids, node_of[rank]) - ids.begin());
    const std::size_t local_rank = filled[node]++;
    if (local_rank == ranks_per_node) return;
    places.push_back({static_cast<int>(node), static_cast<int>(local_rank)});
    by_node[node * ranks_per_node + local_rank] = by_local_rank[local_rank * nodes + node] =
        static_cast<int>(rank);
  }
  ranks_per_node_ = static_cast<int>(ranks_per_node);
  places_ = std::move(places);
  by_node_ = std::move(by_node);
  by_local_rank_ = std::move(by_local_rank);
}

}  // namespace taut
