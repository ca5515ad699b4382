// Cache of the core of one virtual rank: which of the rank's scratch memory stays in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace simulation {

// Blocks of at most an eighth of the cache stay in it while all of them fill at most half: between two uses
// of such a block, an algorithm passes a few blocks of that size through the cache.
class CoreCache {
 public:
  explicit CoreCache(double bytes = 0) noexcept : bytes_(bytes) {}

  void add(const std::byte* data, std::size_t bytes) {
    if (8 * static_cast<double>(bytes) > bytes_) return;
    blocks_.push_back({data, data + bytes});
    held_ += static_cast<double>(bytes);
  }
  void remove(const std::byte* data) noexcept {
    const auto found = std::ranges::find(blocks_, data, &Block::begin);
    if (found == blocks_.end()) return;
    held_ -= static_cast<double>(found->end - found->begin);
    blocks_.erase(found);
  }
  bool holds(const void* data) const noexcept {
    const auto has = [at = static_cast<const std::byte*>(data)](const Block& block) {
      return !std::less()(at, block.begin) && std::less()(at, block.end);
    };
    return 2 * held_ <= bytes_ && std::ranges::any_of(blocks_, has);
  }

  // Return the bytes that pass the memory of the host for each byte read, or written: a write to memory reads
  // the line first.
  double read(const void* data) const noexcept { return holds(data) ? 0 : 1; }
  double write(const void* data) const noexcept { return holds(data) ? 0 : 2; }

 private:
  struct Block {
    const std::byte *begin, *end;
  };
  double bytes_, held_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace simulation
