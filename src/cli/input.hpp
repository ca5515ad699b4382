// Input of taut compress: the array in a file.
#pragma once

#include "cli/arguments.hpp"
#include "compressor/file/array.hpp"
#include "compressor/file/coding.hpp"
#include "compressor/file/files.hpp"

namespace taut::cli {

// Options that describe the array if the file itself does not.
inline constexpr Option dtype_option{"dtype", 0, "TYPE",
                                     "of raw values: f32, f64, f16, bf16, c64, c128, i8 ... u64;\n"
                                     "default: as the file's ending says (x.f32)"};
inline constexpr Option shape_option{"shape", 0, "AxBxC",
                                     "of raw values, slowest extent first; default: one row"};

// Reads the description of the array. NumPy files are recognised by their first bytes, and so are containers,
// which are refused. All other files hold raw values. Throws Failure.
StoredArray read_input(const InputFile& file, const Arguments& arguments);

// Values of a measurement, which one frame holds, and the name that its table shows.
struct Subject {
  std::string name;
  DType type;
  Piece piece;
  Room values;

  ConstSlice slice() const { return {{values.all().data(), piece.count(), type}}; }
};

// Returns the middle part of the array in a file, at most 2^22 values. Throws Failure.
Subject subject_of(const std::string& path, const Arguments& arguments);

// Returns the values for commands that are given no file: three waves plus noise of a thousandth, the same on
// every machine.
Subject built_in_subject();

}  // namespace taut::cli
