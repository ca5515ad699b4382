// NumPy's file format [numpy.lib.format]: versions 1 to 3, little-endian numbers, C or Fortran order.
#pragma once

#include <optional>

#include "cli/array.hpp"
#include "cli/files.hpp"

namespace taut::cli {

bool is_npy(const InputFile& file);

struct NpyFile {
  Array array;
  std::uint64_t values_at;  // offset of the values
};

// Reads the header; throws Failure on what is not served, and when the file is shorter than it says. NumPy
// has no bfloat16: what ml_dtypes stores as '<V2' is one if `wanted` says so. Another `wanted` than the
// file's is refused.
NpyFile read_npy(const InputFile& file, std::optional<DType> wanted);

// A header of version 1.
std::string npy_header(const Array& array);

}  // namespace taut::cli
