// Coding of a dataset's chunks. A coded chunk is the contents of a .taut file (docs/spec/file.md).
#pragma once

#include <cstdlib>
#include <memory>

#include "compressor/hdf5/options.hpp"
#include "compressor/values/slice.hpp"

namespace taut::hdf5 {

// Memory that HDF5 frees by free().
struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};
struct Buffer {
  std::unique_ptr<std::byte, Free> data;
  std::size_t bytes = 0;
  std::size_t capacity = 0;
};

// Throws Failure if the bound is invalid, or cannot be met for values of this type.
void check_coding(DType type, const std::string& coding);

// Encodes the values of a chunk; throws Failure.
Buffer encode_chunk(const ChunkOptions& options, ConstBytes values);

// Decodes a chunk; throws Failure if it is damaged, or is not the chunk that the options describe.
Buffer decode_chunk(const ChunkOptions& options, ConstBytes coded);

}  // namespace taut::hdf5
