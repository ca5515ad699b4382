// Places that run out of memory.
#pragma once

#include <iterator>
#include <set>

#include "communication/team/place.hpp"
#include "compressor/base/status.hpp"

namespace taut::test {

// A place without memory at one request for scratch memory.
class ShortPlace final : public Place {
 public:
  explicit ShortPlace(int fails_at) : fails_at_(fails_at) {}
  Buffer scratch(std::size_t bytes) override {
    if (requests++ == fails_at_) throw Error(Status::out_of_memory, "as the test wants it");
    return host_.scratch(bytes);
  }
  void reserve(std::size_t, std::size_t) override {}
  void stop_failing() noexcept { fails_at_ = -1; }
  int requests = 0;

 private:
  void recycle(std::byte* data, std::size_t capacity) noexcept override { Buffer(&host_, data, capacity); }
  HostPlace host_;
  int fails_at_;
};

// A place that gives no more memory than was reserved before.
class StrictPlace final : public Place {
 public:
  Buffer scratch(std::size_t bytes) override {
    const auto best = free_.lower_bound(bytes);
    if (best == free_.end()) throw Error(Status::out_of_memory, "more than was reserved");
    const std::size_t capacity = *best;
    free_.erase(best);
    return Buffer(this, new std::byte[capacity + 1], capacity);
  }
  void reserve(std::size_t bytes, std::size_t blocks) override {
    for (; static_cast<std::size_t>(std::distance(free_.lower_bound(bytes), free_.end())) < blocks;
         reserved += bytes)
      free_.insert(bytes);
  }
  std::size_t reserved = 0;  // bytes of all blocks

 private:
  void recycle(std::byte* data, std::size_t capacity) noexcept override {
    delete[] data;
    free_.insert(capacity);
  }
  std::multiset<std::size_t> free_;  // capacities of the blocks
};

}  // namespace taut::test
