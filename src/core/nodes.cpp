#include "core/nodes.hpp"

#include <algorithm>

namespace taut {

Nodes::Nodes(std::span<const int> node_of) {
  std::vector<int> names(node_of.begin(), node_of.end());
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  const auto several = [](std::size_t n) { return n > 1; };
  const std::size_t nodes = names.size();
  if (!several(nodes) || node_of.size() % nodes != 0 || !several(node_of.size() / nodes)) return;

  const std::size_t each = node_of.size() / nodes;
  std::vector<std::size_t> filled(nodes);
  std::vector<Place> places;
  std::vector<int> beside(node_of.size()), across(node_of.size());
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    const auto node =
        static_cast<std::size_t>(std::ranges::lower_bound(names, node_of[rank]) - names.begin());
    const std::size_t place = filled[node]++;
    if (place == each) return;
    places.push_back({static_cast<int>(node), static_cast<int>(place)});
    beside[node * each + place] = across[place * nodes + node] = static_cast<int>(rank);
  }
  each_ = static_cast<int>(each);
  places_ = std::move(places);
  beside_ = std::move(beside);
  across_ = std::move(across);
}

}  // namespace taut
