// Options of the filter for a dataset: the words that HDF5 stores with the dataset (docs/spec/hdf5.md).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compressor/values/dtype.hpp"

namespace taut::hdf5 {

struct ChunkOptions {
  std::optional<DType> type;           // empty until HDF5 tells the type of the dataset
  std::vector<std::uint64_t> extents;  // extents of a chunk, slowest first
  std::string coding = "lossless";     // bound and options, docs/configuration.md
};

// Conversions between options and words. Both throw Failure.
ChunkOptions read_options(std::span<const unsigned> words);
std::vector<unsigned> words_of(const ChunkOptions& options);

}  // namespace taut::hdf5
