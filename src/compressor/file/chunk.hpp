// Coding of arrays in memory. A coded chunk is the contents of a .taut file (docs/spec/file.md).
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "compressor/file/file_format.hpp"
#include "compressor/values/slice.hpp"

namespace taut::file {

// Memory that free() frees, as HDF5 does with what a filter returns.
struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
struct Buffer {
  std::unique_ptr<std::byte, Free> data;
  std::size_t bytes = 0;
  std::size_t capacity = 0;

  ConstBytes all() const noexcept { return {data.get(), bytes}; }
};

// Throws std::bad_alloc.
void reserve(Buffer& buffer, std::size_t bytes);

// Throws Failure if the coding is invalid, or its bound cannot be met for values of this type.
void check_coding(DType type, const std::string& coding);

// Returns the greatest size of a coded chunk in bytes; 0 if this build does not code values of the type.
std::size_t most_chunk_bytes(const Array& array, const std::string& coding);

// Encodes the values of an array; throws Failure. A bound that leaves little of them is warned of once in a
// process; the warning calls the values `what`.
Buffer encode_chunk(const Array& array, const std::string& coding, ConstBytes values, const char* what);

// Reader of a coded chunk. Both functions throw Failure if the chunk is damaged.
class ChunkReader {
 public:
  explicit ChunkReader(ConstBytes coded) : source_(coded), reader_(source_) {}

  const Array& array() const noexcept { return reader_.array(); }

  // Decodes the chunk into `out`, which has array().bytes() bytes.
  void decode(Bytes out);

 private:
  class MemorySource final : public ByteSource {
   public:
    explicit MemorySource(ConstBytes bytes) : bytes_(bytes) {}
    const std::string& path() const noexcept override { return name_; }
    std::uint64_t size() const noexcept override { return bytes_.size(); }
    void read(std::uint64_t offset, Bytes out) const override;

   private:
    ConstBytes bytes_;
    std::string name_ = "a chunk";
  };

  MemorySource source_;
  FrameReader reader_;
};

}  // namespace taut::file
