#include "communication/policy/text/toml.hpp"

#include <algorithm>

#include "compressor/base/option_parser.hpp"

namespace taut {
namespace {

bool is_bare(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool is_control(char c) noexcept {
  const auto u = static_cast<unsigned char>(c);
  return (u < ' ' && c != '\t') || u == 0x7F;
}

// Returns the length of the UTF-8 sequence that `text` starts with; 0 if there is none.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t n) {
    for (std::size_t i = 1; i < n; ++i)
      if ((byte(i) & 0xC0) != 0x80) return std::size_t{0};
    return n;
  };
  if (byte(0) < 0x80) return 1;
  if (byte(0) >= 0xC2 && byte(0) < 0xE0) return follows(2);
  const bool surrogate = byte(0) == 0xED && byte(1) >= 0xA0, overlong = byte(0) == 0xE0 && byte(1) < 0xA0;
  if (byte(0) >= 0xE0 && byte(0) < 0xF0) return surrogate || overlong ? 0 : follows(3);
  const bool beyond = byte(0) == 0xF4 && byte(1) >= 0x90, too_long = byte(0) == 0xF0 && byte(1) < 0x90;
  return byte(0) >= 0xF0 && byte(0) < 0xF5 && !beyond && !too_long ? follows(4) : 0;
}

// Parser of one text, from the offset on. The functions move the offset past what they read.
class TomlParser {
 public:
  explicit TomlParser(const SourceText& source) : source_(source), text_(source.text) {}

  std::vector<TomlTable> parse();

 private:
  [[noreturn]] void reject(std::size_t offset, const std::string& reason) const {
    source_.reject(offset, reason);
  }
  // Returns the character at the offset; a line end after the text.
  char current() const noexcept { return offset_ < text_.size() ? text_[offset_] : '\n'; }
  bool at_end() const noexcept { return offset_ >= text_.size(); }
  bool at_line_end() const noexcept { return current() == '\n' || (current() == '\r' && next_is('\n')); }
  bool next_is(char c) const noexcept { return offset_ + 1 < text_.size() && text_[offset_ + 1] == c; }

  void check_text() const;
  void skip_blanks() noexcept;
  void skip_comment();
  void skip_lines();
  void end_line();
  SourceWord read_bare_key();
  TomlTable read_header();
  TomlEntry read_entry();
  void read_array(TomlEntry& entry);
  TomlValue read_value();
  SourceWord read_string(char quote);
  void read_escape(std::string& out);
  TomlValue read_scalar();

  const SourceText& source_;
  std::string_view text_;
  std::size_t offset_ = 0;
};

// Rejects characters that TOML allows nowhere.
void TomlParser::check_text() const {
  for (std::size_t i = 0; i < text_.size();) {
    const std::size_t n = sequence_length(text_.substr(i));
    if (n == 0) reject(i, "this byte is no UTF-8; save the file as UTF-8");
    const bool line_end =
        text_[i] == '\n' || (text_[i] == '\r' && i + 1 < text_.size() && text_[i + 1] == '\n');
    if (!line_end && is_control(text_[i])) reject(i, "a control character; delete it");
    i += n;
  }
}

void TomlParser::skip_blanks() noexcept {
  while (!at_end() && (current() == ' ' || current() == '\t')) ++offset_;
}

void TomlParser::skip_comment() {
  skip_blanks();
  if (!at_end() && current() == '#') offset_ = std::min(text_.find('\n', offset_), text_.size());
}

void TomlParser::skip_lines() {
  for (skip_comment(); !at_end() && at_line_end(); skip_comment()) offset_ += current() == '\r' ? 2 : 1;
}

void TomlParser::end_line() {
  skip_comment();
  if (!at_line_end()) reject(offset_, "the line should end here; begin a new one");
}

SourceWord TomlParser::read_bare_key() {
  SourceWord key{"", offset_};
  while (!at_end() && is_bare(current())) key.text += text_[offset_++];
  if (!key.text.empty()) return key;
  reject(offset_, current() == '"' || current() == '\''
                      ? "keys are written without quotes"
                      : "a key should stand here, as in bound = \"abs:1e-4\"");
}

// Reads the header of a table: [[name]].
TomlTable TomlParser::read_header() {
  constexpr const char* remedy = "tables are written [[rule]], one for each rule";
  const std::size_t begin = offset_;
  if (!next_is('[')) reject(begin, remedy);
  offset_ += 2;
  skip_blanks();
  TomlTable table{read_bare_key(), {}};
  skip_blanks();
  if (current() != ']' || !next_is(']')) reject(offset_, remedy);
  offset_ += 2;
  end_line();
  return table;
}

void TomlParser::read_escape(std::string& out) {
  constexpr std::string_view names = "btnfr\"\\", meanings = "\b\t\n\f\r\"\\";
  const std::size_t found = ++offset_ < text_.size() ? names.find(text_[offset_]) : std::string_view::npos;
  if (found == std::string_view::npos)
    reject(offset_ - 1, "this escape is not read; write the character itself, or the string in '...'");
  out += meanings[found];
}

// Reads a string in these quotes. Strings in double quotes may have escapes.
SourceWord TomlParser::read_string(char quote) {
  SourceWord word{"", offset_++};
  if (current() == quote && next_is(quote))
    reject(word.offset, "strings over several lines are not read; write it on one");
  for (; current() != quote; ++offset_) {
    if (at_end() || current() == '\n')
      reject(word.offset, std::string("this string has no end; put a ") + quote + " behind it");
    if (quote == '"' && current() == '\\')
      read_escape(word.text);
    else
      word.text += current();
  }
  ++offset_;
  return word;
}

bool all_digits(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view without_sign(std::string_view text) noexcept {
  return text.substr(text.starts_with('+') || text.starts_with('-') ? 1 : 0);
}

// Returns true for decimal digits with an optional sign. No number but 0 may begin with 0.
bool is_decimal_integer(std::string_view text) noexcept {
  const std::string_view digits = without_sign(text);
  return all_digits(digits) && (digits.size() == 1 || digits[0] != '0');
}

bool is_decimal_number(std::string_view text) noexcept {
  const std::size_t e = std::min(text.find_first_of("eE"), text.size()), point = std::min(text.find('.'), e);
  if (e < text.size() && !all_digits(without_sign(text.substr(e + 1)))) return false;
  if (point < e && !all_digits(text.substr(point + 1, e - point - 1))) return false;
  return is_decimal_integer(text.substr(0, point));
}

TomlValue TomlParser::read_scalar() {
  SourceWord word{"", offset_};
  while (!at_end() && (is_bare(current()) || current() == '+' || current() == '.' || current() == ':'))
    word.text += text_[offset_++];
  if (word.text == "true" || word.text == "false") return {TomlValue::Kind::boolean, word};
  if (is_decimal_integer(word.text)) {
    long long number = 0;
    const std::string_view digits = std::string_view(word.text).substr(word.text[0] == '+' ? 1 : 0);
    if (!read_number(digits, number)) reject(word.offset, "this number is beyond 64 bits");
    return {TomlValue::Kind::integer, word};
  }
  if (is_decimal_number(word.text)) return {TomlValue::Kind::decimal, word};
  reject(word.offset, word.text.empty()
                          ? "a value should stand here: \"text\", a number, true or false"
                          : "'" + word.text + "' is no value that is read here; put it in quotes");
}

TomlValue TomlParser::read_value() {
  if (current() == '"' || current() == '\'') return {TomlValue::Kind::string, read_string(current())};
  if (current() == '{')
    reject(offset_, "inline tables are not read; write NAME = VALUE lines under [[rule]]");
  return read_scalar();
}

// Reads an array: ["a", "b"], possibly over several lines.
void TomlParser::read_array(TomlEntry& entry) {
  const std::size_t begin = offset_++;
  entry.array = true;
  for (skip_lines(); current() != ']' || at_end(); skip_lines()) {
    if (at_end()) reject(begin, "this array has no end; put a ] behind it");
    if (current() != '"' && current() != '\'') reject(offset_, "arrays are of strings here: [\"a\", \"b\"]");
    entry.values.push_back(read_value());
    skip_lines();
    if (at_end()) continue;
    if (current() == ',')
      ++offset_;
    else if (current() != ']')
      reject(offset_, "a comma or ] should stand here");
  }
  ++offset_;
}

TomlEntry TomlParser::read_entry() {
  TomlEntry entry{read_bare_key(), {}, false};
  skip_blanks();
  if (current() == '.') reject(offset_, "keys with points are not read; write the key under its [[rule]]");
  if (at_end() || current() != '=') reject(offset_, "a = should stand here");
  ++offset_;
  skip_blanks();
  if (!at_end() && current() == '[')
    read_array(entry);
  else
    entry.values.push_back(read_value());
  end_line();
  return entry;
}

std::vector<TomlTable> TomlParser::parse() {
  check_text();
  std::vector<TomlTable> tables;
  for (skip_lines(); !at_end(); skip_lines()) {
    if (current() == '[') {
      tables.push_back(read_header());
      continue;
    }
    const std::size_t begin = offset_;
    TomlEntry entry = read_entry();
    if (tables.empty()) reject(begin, "this key belongs to no rule; begin one with [[rule]]");
    const bool twice = std::ranges::any_of(
        tables.back().entries, [&](const TomlEntry& other) { return other.key.text == entry.key.text; });
    if (twice) reject(begin, "'" + entry.key.text + "' is there twice; leave one of them");
    tables.back().entries.push_back(std::move(entry));
  }
  return tables;
}

}  // namespace

std::vector<TomlTable> parse_toml(const SourceText& source) { return TomlParser(source).parse(); }

}  // namespace taut
