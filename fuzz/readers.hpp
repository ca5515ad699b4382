// The codecs that read the inputs of fuzz targets.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "compressor/frame/codec.hpp"
#include "exact_memory.hpp"

namespace taut::fuzz {

// A registered codec under a kind of bound that it serves, with each kernel set of this processor.
struct Reader {
  const CodecInfo* info;
  std::vector<std::unique_ptr<Codec>> kernel_sets;  // at least one
};

const std::vector<Reader>& readers();
const CodecInfo& codec_of(std::uint8_t frame_id);  // for an unknown number: some codec
DType posted_type(std::uint8_t number) noexcept;   // for an unknown number: some type

inline constexpr std::size_t most_values = 9000;  // posted values: two chunks of the planes codec and a part

// Values that a receiver posted, in memory of exactly their size.
class Posted {
 public:
  Posted(DType type, std::size_t count) : type_(type), count_(count), memory_(count * size_of(type)) {
    reset();
  }
  void reset() noexcept {  // sets finite numbers of moderate size
    if (count_ > 0) std::memset(memory_.data(), 0x3C, bytes());
  }
  Slice slice() noexcept { return {{memory_.data(), count_, type_}}; }
  std::size_t bytes() const noexcept { return count_ * size_of(type_); }
  bool operator==(const Posted& other) const noexcept {
    return type_ == other.type_ && count_ == other.count_ &&
           (count_ == 0 || std::memcmp(memory_.data(), other.memory_.data(), bytes()) == 0);
  }

 private:
  DType type_;
  std::size_t count_;
  ExactMemory memory_;
};

}  // namespace taut::fuzz
