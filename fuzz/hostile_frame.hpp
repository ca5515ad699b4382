// A frame made of any bytes, exactly as large as they are. Repairs that the input asks for let mutations get
// past the checks of the header, so that they reach the decoder behind it.
#pragma once

#include <memory>

#include "core/codec.hpp"

namespace taut::fuzz {

enum Repair : std::uint8_t {
  seal = 1,         // magic, version, reserved field and checksum of the header are right
  whole = 2,        // the payload is all that follows the header
  checksummed = 4,  // the payload's checksum is right
};

class HostileFrame {
 public:
  HostileFrame(ConstBytes bytes, std::uint8_t repairs);
  ConstBytes bytes() const noexcept { return {memory_.get(), size_}; }
  FrameHeader header() const noexcept;  // of a frame that cannot be read: all fields as by default

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t size_;
};

inline constexpr std::uint8_t all_repairs = seal | whole | checksummed;

}  // namespace taut::fuzz
