// The array in a file that is to be compressed.
#pragma once

#include "cli/arguments.hpp"
#include "cli/array.hpp"
#include "cli/files.hpp"

namespace taut::cli {

// Options that say what a file holds, where it does not say so itself.
inline constexpr Option dtype_option{"dtype", 0, "TYPE",
                                     "of raw values: f32, f64, f16, bf16, c64, c128, i8 ... u64;\n"
                                     "default: as the file's ending says (x.f32)"};
inline constexpr Option shape_option{"shape", 0, "AxBxC",
                                     "of raw values, slowest extent first; default: one row"};

struct Input {
  Array array;
  std::uint64_t values_at;  // offset of the values in the file
};

// NumPy's files are known by their first bytes; all others are raw values. Throws Failure.
Input read_input(const InputFile& file, const Arguments& arguments);

}  // namespace taut::cli
