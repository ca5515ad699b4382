// Places that run out of memory.
#pragma once

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

}  // namespace taut::test
