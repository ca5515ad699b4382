#include "compressor/file/array.hpp"

#include <algorithm>

#include "compressor/base/option_parser.hpp"
#include "compressor/file/failure.hpp"

namespace taut::file {

std::uint64_t Array::count() const noexcept {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  return count;
}

bool has_valid_size(const Array& array) noexcept {
  std::uint64_t bytes = size_of(array.type);
  for (const std::uint64_t extent : array.shape)
    if (__builtin_mul_overflow(bytes, std::max<std::uint64_t>(extent, 1), &bytes)) return false;
  return array.shape.size() <= max_array_dims && bytes <= std::uint64_t{1} << 62;
}

std::optional<DType> find_dtype(std::string_view name) {
  constexpr struct {
    std::string_view full, brief;
  } kinds[] = {{"float", "f"}, {"bfloat", "bf"}, {"complex", "c"}, {"int", "i"}, {"uint", "u"}};
  std::string brief(name);
  for (const auto& kind : kinds)
    if (name.starts_with(kind.full)) brief.replace(0, kind.full.size(), kind.brief);
  for (std::uint8_t code = 1; code <= dtypes; ++code)
    if (brief == name_of(DType{code})) return DType{code};
  return std::nullopt;
}

std::string dtype_names() {
  std::string names;
  for (std::uint8_t code = 1; code <= dtypes; ++code)
    names.append(names.empty() ? "" : code == dtypes ? " or " : ", ").append(name_of(DType{code}));
  return names;
}

std::vector<std::uint64_t> read_shape(const std::string& text) {
  std::vector<std::uint64_t> shape;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    if (!read_number(std::string_view(text).substr(begin, end - begin), shape.emplace_back()))
      reject("--shape: '" + text + "' is no shape; give extents, slowest first: 120x225x225");
    begin = end + 1;
  }
  return shape;
}

std::string text_of(const std::vector<std::uint64_t>& shape) {
  std::string text;
  for (const std::uint64_t extent : shape)
    text.append(text.empty() ? "" : "x").append(std::to_string(extent));
  return text.empty() ? "scalar" : text;
}

}  // namespace taut::file
