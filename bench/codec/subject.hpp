// The input of an operation: the values of one field, and frames of them.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>

#include "compressor/frame/codec.hpp"
#include "field.hpp"

namespace bench {

// Memory whose pages are untouched until they are used: a frame's capacity is far beyond its size.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size)
      : memory_(static_cast<std::byte*>(std::aligned_alloc(64, (size + 63) / 64 * 64))), size_(size) {
    if (memory_ == nullptr) throw std::bad_alloc();
  }
  taut::Bytes bytes() const noexcept { return {memory_.get(), size_}; }
  std::byte* data() const noexcept { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t size_ = 0;
};

inline constexpr std::uint32_t most_addends = 8;

struct Subject {
  // Encodes `operands` frames by `codec`. Throws taut::Error if the codec does not serve these values.
  Subject(const Field& field, taut::DType type, std::size_t bytes, const taut::Codec& codec,
          std::size_t operands);

  taut::ConstSlice source() const noexcept { return {{values.data(), count, type}}; }
  taut::Slice decoded() const noexcept { return {{target.data(), count, type}}; }
  std::size_t bytes() const noexcept { return count * size_of(type); }
  double ratio() const noexcept {
    return static_cast<double>(bytes()) / static_cast<double>(frames[0].size());
  }

  const Field& field;
  taut::DType type;
  std::size_t count;
  Buffer values;  // values of operand 0
  Buffer target;  // output of decodings
  Buffer copy;    // output of memcpy
  Buffer out;     // output of encodings and sums
  std::vector<Buffer> memory;
  std::vector<taut::ConstBytes> frames;
};

}  // namespace bench
