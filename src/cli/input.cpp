#include "cli/input.hpp"

#include <filesystem>

#include "compressor/file/coding.hpp"
#include "compressor/file/failure.hpp"
#include "compressor/file/files.hpp"
#include "compressor/file/npy.hpp"

namespace taut::cli {
namespace {

std::optional<DType> wanted_dtype(const Arguments& arguments) {
  const auto text = arguments.value("dtype");
  if (!text) return std::nullopt;
  const auto type = find_dtype(*text);
  if (!type) reject("--dtype: '" + *text + "' is no type; use " + dtype_names());
  return type;
}

DType raw_dtype(const InputFile& file, std::optional<DType> wanted) {
  if (wanted) return *wanted;
  const std::string ending = std::filesystem::path(file.path()).extension().string();
  const auto type = ending.empty() ? std::nullopt : find_dtype(ending.substr(1));
  if (!type) reject(file.path() + ": holds raw values of a type that is not given; say it with --dtype f32");
  return *type;
}

StoredArray read_raw(const InputFile& file, const Arguments& arguments) {
  StoredArray input{{raw_dtype(file, wanted_dtype(arguments)), Form::raw, {}}, 0};
  Array& array = input.array;
  const std::string type = name_of(array.type);
  const std::string holds = file.path() + " holds " + std::to_string(file.size()) + " bytes";
  if (file.size() % size_of(array.type) != 0)
    reject("--dtype " + type + ": " + holds + ", which is no multiple of " +
           std::to_string(size_of(array.type)));
  const auto shape = arguments.value("shape");
  if (!shape) {
    array.shape = {file.size() / size_of(array.type)};
    return input;
  }
  array.shape = read_shape(*shape);
  if (array.shape.size() > max_array_dims) reject("--shape: has more than 32 extents");
  if (!has_valid_size(array) || array.bytes() != file.size())
    reject("--shape " + *shape + ": " + holds + ", that is " +
           std::to_string(file.size() / size_of(array.type)) + " values of " + type +
           "; give extents whose product that is");
  return input;
}

}  // namespace

StoredArray read_input(const InputFile& file, const Arguments& arguments) {
  if (!is_npy(file)) {
    if (const auto container = container_of(file)) reject(file.path() + ": is " + *container);
    return read_raw(file, arguments);
  }
  if (arguments.has("shape"))
    reject("--shape: " + file.path() + " is a .npy file, which has its own; leave it out");
  return read_npy(file, wanted_dtype(arguments));
}

}  // namespace taut::cli
