// Description of an array of numbers in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compressor/values/dtype.hpp"

namespace taut::file {

// Format of the array file. The enum's values are stored in .taut files.
enum class Form : std::uint8_t {
  raw = 1,          // the values alone
  npy = 2,          // NumPy's format
  npy_fortran = 3,  // NumPy's format with fortran_order: NumPy's shape is the reverse of Array::shape
};
constexpr bool is_npy(Form form) noexcept { return form != Form::raw; }

inline constexpr std::size_t max_array_dims = 32;

struct Array {
  DType type = DType::f32;
  Form form = Form::raw;
  std::vector<std::uint64_t> shape;  // extents, slowest first, as in the file; empty: one value

  std::uint64_t count() const noexcept;  // number of values
  std::uint64_t bytes() const noexcept { return count() * size_of(type); }
};

// Array in a file, and the offset of its values in the file.
struct StoredArray {
  Array array;
  std::uint64_t values_at;
};

// Returns true if the array has at most max_array_dims extents and, with extents of 0 counted as 1, at most
// 2^62 bytes.
bool has_valid_size(const Array& array) noexcept;

// Returns the type of a name such as "f32", "float32" or "bfloat16"; nothing for other texts.
std::optional<DType> find_dtype(std::string_view name);
std::string dtype_names();

// Returns the extents of a text such as "120x225x225". Throws Failure(usage).
std::vector<std::uint64_t> read_shape(const std::string& text);
std::string text_of(const std::vector<std::uint64_t>& shape);

}  // namespace taut::file
