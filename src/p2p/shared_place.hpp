// Pool of host memory for several threads: the thread that frees a message may not be the one that made it.
#pragma once

#include <algorithm>
#include <mutex>

#include "core/place.hpp"

namespace taut::p2p {

class SharedPlace final : public Place {
 public:
  Buffer scratch(std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    in_use_.reserve(in_use_.size() + 1);
    in_use_.push_back(pool_.scratch(bytes));
    return {this, in_use_.back().data(), in_use_.back().capacity()};
  }
  void reserve(std::size_t bytes, std::size_t blocks) override {
    const std::lock_guard lock(mutex_);
    pool_.reserve(bytes, blocks);
  }

 private:
  void recycle(std::byte* data, std::size_t) noexcept override {
    const std::lock_guard lock(mutex_);
    std::erase_if(in_use_, [data](const Buffer& one) { return one.data() == data; });
  }

  std::mutex mutex_;
  HostPlace pool_;
  std::vector<Buffer> in_use_;
};

}  // namespace taut::p2p
