// Reader and writer of NumPy's file format [numpy.lib.format]: versions 1 to 3, little-endian numbers, C or
// Fortran order.
#pragma once

#include <optional>

#include "compressor/file/array.hpp"
#include "compressor/file/files.hpp"

namespace taut::file {

bool is_npy(const InputFile& file);

// Reads the header. Throws Failure on an unsupported header, and if the file is shorter than its header says.
// NumPy has no bfloat16: the type '<V2' that ml_dtypes stores is read as bfloat16 if `wanted` asks for it.
// Throws Failure if `wanted` differs from the file's type otherwise.
StoredArray read_npy(const InputFile& file, std::optional<DType> wanted);

// Returns a header of version 1.
std::string npy_header(const Array& array);

}  // namespace taut::file
