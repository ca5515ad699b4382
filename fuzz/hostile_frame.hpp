// A frame made of any bytes, in memory exactly as large as they are. The input selects repairs, by which
// mutations pass the checks of the header and reach the decoder behind it.
#pragma once

#include "compressor/frame/codec.hpp"
#include "exact_memory.hpp"

namespace taut::fuzz {

enum Repair : std::uint8_t {
  seal = 1,         // sets magic, version, reserved field and header checksum
  whole = 2,        // sets the payload's length to all bytes behind the header
  checksummed = 4,  // sets the payload's checksum
};

class HostileFrame {
 public:
  HostileFrame(ConstBytes bytes, std::uint8_t repairs);
  ConstBytes bytes() const noexcept { return memory_.bytes(); }
  FrameHeader header() const noexcept;  // default fields if the frame cannot be read

 private:
  ExactMemory memory_;
};

inline constexpr std::uint8_t all_repairs = seal | whole | checksummed;

}  // namespace taut::fuzz
