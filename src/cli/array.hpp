// What a file holds: an array of numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"

namespace taut::cli {

// The numbers stand in .taut files.
enum class Form : std::uint8_t {
  raw = 1,          // the values alone
  npy = 2,          // NumPy's format
  npy_fortran = 3,  // the same with fortran_order: the shape in NumPy's eyes is the reverse of ours
};
constexpr bool is_npy(Form form) noexcept { return form != Form::raw; }

inline constexpr std::size_t max_array_dims = 32;

struct Array {
  DType type = DType::f32;
  Form form = Form::raw;
  std::vector<std::uint64_t> shape;  // slowest first, as the values lie in the file; none: one value

  std::uint64_t count() const noexcept;  // values
  std::uint64_t bytes() const noexcept { return count() * size_of(type); }
};

// False when there are more than 2^62 bytes of it, counting extents of 0 as 1, or too many extents.
bool is_possible(const Array& array) noexcept;

// "f32", "float32", "bfloat16", ...; nothing for other texts.
std::optional<DType> find_dtype(std::string_view name);
std::string dtype_names();

// "120x225x225"; throws Failure(usage).
std::vector<std::uint64_t> read_shape(const std::string& text);
std::string text_of(const std::vector<std::uint64_t>& shape);

}  // namespace taut::cli
