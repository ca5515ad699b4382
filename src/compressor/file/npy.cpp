#include "compressor/file/npy.hpp"

#include <algorithm>
#include <cstring>

#include "compressor/base/option_parser.hpp"
#include "compressor/file/failure.hpp"

namespace taut::file {
namespace {

constexpr std::string_view magic{"\x93NUMPY", 6};
constexpr std::size_t longest_header = 1 << 20;

struct Code {
  std::string_view text;  // type text without the byte order
  DType type;
};
constexpr Code codes[] = {
    {"f2", DType::f16},   {"f4", DType::f32}, {"f8", DType::f64}, {"V2", DType::bf16}, {"c8", DType::c64},
    {"c16", DType::c128}, {"i1", DType::i8},  {"u1", DType::u8},  {"i2", DType::i16},  {"u2", DType::u16},
    {"i4", DType::i32},   {"u4", DType::u32}, {"i8", DType::i64}, {"u8", DType::u64},
};

// Parser of the header's dictionary, a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3,
// 4), }
class Literal {
 public:
  Literal(std::string_view text, const std::string& path) : left_(text), path_(path) {}

  struct Header {
    std::string descr;
    bool fortran = false;
    std::vector<std::uint64_t> shape;
  };
  Header read() {
    Header header;
    unsigned found = 0;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        header.descr = descr();
        found |= 1;
      } else if (key == "fortran_order") {
        header.fortran = boolean();
        found |= 2;
      } else if (key == "shape") {
        header.shape = tuple();
        found |= 4;
      } else {
        broken();
      }
      if (!take(',') && !left_.starts_with('}')) broken();
      skip_spaces();
    }
    if (found != 7) broken();
    return header;
  }

 private:
  [[noreturn]] void broken() const { fail(path_ + ": its .npy header cannot be read; save the array again"); }
  void skip_spaces() { left_.remove_prefix(std::min(left_.find_first_not_of(" \t\n\r"), left_.size())); }
  bool take(char c) {
    skip_spaces();
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    skip_spaces();
    return true;
  }
  void expect(char c) {
    if (!take(c)) broken();
  }
  std::string quoted() {
    skip_spaces();
    const char quote = left_.empty() ? 0 : left_[0];
    const std::size_t end = quote == '\'' || quote == '"' ? left_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) broken();
    const std::string text(left_.substr(1, end - 1));
    left_.remove_prefix(end + 1);
    skip_spaces();
    return text;
  }
  std::string descr() {
    if (left_.starts_with('['))
      fail(path_ + ": holds records of several fields; save each field as an array of its own");
    return quoted();
  }
  bool boolean() {
    const bool value = left_.starts_with("True");
    if (!value && !left_.starts_with("False")) broken();
    left_.remove_prefix(value ? 4 : 5);
    skip_spaces();
    return value;
  }
  std::vector<std::uint64_t> tuple() {
    std::vector<std::uint64_t> shape;
    expect('(');
    while (!take(')')) {
      const std::size_t digits = std::min(left_.find_first_not_of("0123456789"), left_.size());
      if (!read_number(left_.substr(0, digits), shape.emplace_back())) broken();
      left_.remove_prefix(digits);
      if (!take(',') && !left_.starts_with(')')) broken();
      if (shape.size() > max_array_dims) broken();
    }
    return shape;
  }

  std::string_view left_;
  const std::string& path_;
};

DType type_of(const std::string& descr, std::optional<DType> wanted, const std::string& path) {
  const bool has_order = !descr.empty() && std::strchr("<>|=", descr[0]) != nullptr;
  const std::string_view code = std::string_view(descr).substr(has_order ? 1 : 0);
  const auto* const known = std::ranges::find(codes, code, &Code::text);
  if (known == std::end(codes))
    fail(path + ": holds values of type '" + descr + "'; save them as one of " + dtype_names());
  if (descr[0] == '>' && code != "i1" && code != "u1")
    fail(path + ": is big-endian ('" + descr + "'); save array.astype(array.dtype.newbyteorder('<'))");
  if (wanted && *wanted != known->type)
    reject(std::string("--dtype ") + name_of(*wanted) + ": " + path + " holds " + name_of(known->type) +
           "; leave --dtype out");
  if (known->type == DType::bf16 && !wanted)
    fail(path + ": holds 2 bytes a value without saying what they mean ('" + descr +
         "'); if they are bfloat16, say --dtype bf16");
  return known->type;
}

}  // namespace

bool is_npy(const InputFile& file) {
  char start[magic.size()] = {};
  if (file.size() < sizeof start) return false;
  file.read(0, std::as_writable_bytes(std::span(start)));
  return std::string_view(start, sizeof start) == magic;
}

StoredArray read_npy(const InputFile& file, std::optional<DType> wanted) {
  std::uint8_t start[12] = {};
  file.read(0, std::as_writable_bytes(std::span(start, 10)));
  const std::uint8_t version = start[6];
  if (version < 1 || version > 3)
    fail(file.path() + ": is of .npy version " + std::to_string(version) + "; save the array again");
  if (version > 1) file.read(0, std::as_writable_bytes(std::span(start)));
  const std::size_t begin = version > 1 ? 12 : 10;
  std::size_t length = std::size_t{start[8]} | std::size_t{start[9]} << 8;
  if (version > 1) length |= std::size_t{start[10]} << 16 | std::size_t{start[11]} << 24;
  if (length > longest_header)
    fail(file.path() + ": its .npy header is longer than 1 MiB; save the array again");
  std::string text(length, 0);
  file.read(begin, std::as_writable_bytes(std::span(text)));

  const Literal::Header header = Literal(text, file.path()).read();
  StoredArray result{{type_of(header.descr, wanted, file.path()),
                      header.fortran ? Form::npy_fortran : Form::npy, header.shape},
                     begin + length};
  Array& array = result.array;
  if (header.fortran) std::ranges::reverse(array.shape);
  if (!has_valid_size(array) || array.bytes() > file.size() - result.values_at)
    fail(file.path() + ": is shorter than its .npy header says (shape " + text_of(header.shape) + ")");
  return result;
}

std::string npy_header(const Array& array) {
  std::vector<std::uint64_t> shape = array.shape;
  if (array.form == Form::npy_fortran) std::ranges::reverse(shape);
  std::string extents;
  for (const std::uint64_t extent : shape)
    extents.append(extents.empty() ? "" : " ").append(std::to_string(extent)).append(",");
  if (shape.size() > 1) extents.pop_back();

  const auto* const code = std::ranges::find(codes, array.type, &Code::type);
  const char* const order = size_of(array.type) == 1 ? "|" : "<";
  std::string text = std::string("{'descr': '") + order + std::string(code->text) +
                     "', 'fortran_order': " + (array.form == Form::npy_fortran ? "True" : "False") +
                     ", 'shape': (" + extents + "), }";
  constexpr std::size_t start = magic.size() + 4, unit = 64;  // values are aligned
  text.resize((start + text.size() + 1 + unit - 1) / unit * unit - start - 1, ' ');
  text += '\n';
  return std::string(magic) + '\x01' + '\0' + static_cast<char>(text.size() & 0xFF) +
         static_cast<char>(text.size() >> 8) + text;
}

}  // namespace taut::file
