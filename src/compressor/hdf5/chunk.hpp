// Coding of a dataset's chunks, whose type and shape must be those that the words of the filter name.
#pragma once

#include "compressor/file/chunk.hpp"
#include "compressor/hdf5/options.hpp"

namespace taut::hdf5 {

// Encodes the values of a chunk; throws Failure.
file::Buffer encode_chunk(const ChunkOptions& options, ConstBytes values);

// Decodes a chunk; throws Failure if it is damaged, or is not the chunk that the options describe.
file::Buffer decode_chunk(const ChunkOptions& options, ConstBytes coded);

}  // namespace taut::hdf5
