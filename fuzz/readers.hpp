// Each registered codec with each kernel set of this processor. Any instance decodes and adds all frames of
// its codec.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "core/codec.hpp"

namespace taut::fuzz {

struct Reader {
  const CodecInfo* info;
  std::vector<std::unique_ptr<Codec>> kernel_sets;  // at least one
};

const std::vector<Reader>& readers();
const Reader& reader_of(std::uint8_t frame_id);  // of an unknown number: some reader

DType posted_type(std::uint8_t number) noexcept;  // of an unknown number: some type

// Values that a receiver posted, in memory that is exactly as large as they are.
class Posted {
 public:
  Posted(DType type, std::size_t count)
      : type_(type), count_(count), memory_(new std::byte[count * size_of(type)]) {
    for (std::size_t i = 0; i < bytes(); ++i)
      memory_[i] = std::byte(i % 61);  // finite numbers of moderate size
  }
  Slice slice() noexcept { return {{memory_.get(), count_, type_}}; }
  std::size_t bytes() const noexcept { return count_ * size_of(type_); }
  bool operator==(const Posted& other) const noexcept {
    return type_ == other.type_ && count_ == other.count_ &&
           (count_ == 0 || std::memcmp(memory_.get(), other.memory_.get(), bytes()) == 0);
  }

 private:
  DType type_;
  std::size_t count_;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace taut::fuzz
