#include "communication/mpi/block_layouts.hpp"

#include <numeric>

namespace taut::api {

Layout layout_of(const MPI_Count* counts, const MPI_Aint* displacements, int blocks) {
  if (counts == nullptr) return nullptr;
  auto layout = std::make_shared<BlockLayout>();
  std::ptrdiff_t next = 0;
  for (int i = 0; i < blocks; ++i) {
    if (counts[i] < 0) return nullptr;
    layout->counts.push_back(static_cast<std::size_t>(counts[i]));
    layout->offsets.push_back(displacements != nullptr ? displacements[i] : next);
    next += static_cast<std::ptrdiff_t>(counts[i]);
  }
  return layout;
}

std::size_t values_of(const BlockLayout& layout) noexcept {
  return std::accumulate(layout.counts.begin(), layout.counts.end(), std::size_t{0});
}

}  // namespace taut::api
