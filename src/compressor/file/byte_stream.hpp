// Interfaces to the bytes of a .taut file, which lie in a file or in memory.
#pragma once

#include <cstdint>
#include <string>

#include "compressor/values/slice.hpp"

namespace taut::cli {

// Bytes with random access.
class ByteSource {
 public:
  virtual const std::string& path() const noexcept = 0;  // name in messages
  virtual std::uint64_t size() const noexcept = 0;
  // Fills `out` with the bytes from `offset` on; throws Failure if the source ends before.
  virtual void read(std::uint64_t offset, Bytes out) const = 0;

 protected:
  ~ByteSource() = default;
};

// Bytes that are appended.
class ByteTarget {
 public:
  virtual std::uint64_t written() const noexcept = 0;
  virtual void write(ConstBytes bytes) = 0;

 protected:
  ~ByteTarget() = default;
};

}  // namespace taut::cli
