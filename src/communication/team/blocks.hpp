// Memory that consists of one block for each rank.
#pragma once

#include <concepts>
#include <numeric>
#include <vector>

#include "compressor/values/reduction.hpp"

namespace taut {

// Number of values and offset of each block, both in values. Blocks do not overlap. There may be other data
// between blocks.
struct BlockLayout {
  std::vector<std::size_t> counts;
  std::vector<std::ptrdiff_t> offsets;
};

template <class S>
struct Blocks : S {
  const BlockLayout* layout = nullptr;  // null: nearly equal blocks, one after another (part_range)

  Blocks() = default;
  template <std::convertible_to<S> T>
  Blocks(const T& slice, const BlockLayout* of_blocks = nullptr) : S(slice), layout(of_blocks) {}

  S at(std::size_t i, std::size_t blocks) const noexcept {
    if (layout == nullptr) return block(static_cast<const S&>(*this), i, blocks);
    return {{S::address(layout->offsets[i]), layout->counts[i], this->type}};
  }

  // Returns the number of values in all blocks.
  std::size_t values() const noexcept {
    return layout == nullptr ? this->count
                             : std::accumulate(layout->counts.begin(), layout->counts.end(), std::size_t{0});
  }

  // Returns the largest block if there is a layout, otherwise the whole memory.
  S most() const noexcept {
    if (layout == nullptr) return *this;
    const auto& counts = layout->counts;
    if (counts.empty()) return {{nullptr, 0, this->type}};
    const auto largest = std::max_element(counts.begin(), counts.end()) - counts.begin();
    return at(static_cast<std::size_t>(largest), counts.size());
  }
};

// Returns part i of this memory, ignoring the layout.
template <class S>
S block(const Blocks<S>& slice, std::size_t i, std::size_t parts) noexcept {
  return block(static_cast<const S&>(slice), i, parts);
}

}  // namespace taut
