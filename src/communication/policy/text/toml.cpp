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

class TomlParser {
 public:
  explicit TomlParser(const SourceText& source) : source_(source), text_(source.text) {}

  std::vector<TomlTable> parse();

 private:
  [[noreturn]] void reject(std::size_t offset, const std::string& reason) const {
    source_.reject(offset, reason);
  }
  char now() const noexcept { return at_ < text_.size() ? text_[at_] : '\n'; }
  bool done() const noexcept { return at_ >= text_.size(); }
  bool at_line_end() const noexcept { return now() == '\n' || (now() == '\r' && next_is('\n')); }
  bool next_is(char c) const noexcept { return at_ + 1 < text_.size() && text_[at_ + 1] == c; }

  void check_text() const;
  void skip_blanks() noexcept;
  void skip_comment();
  void skip_lines();
  void end_line();
  SourceWord bare_key();
  TomlTable header();
  TomlEntry entry();
  void array(TomlEntry& entry);
  TomlValue value();
  SourceWord string(char quote);
  void escape(std::string& out);
  TomlValue scalar();

  const SourceText& source_;
  std::string_view text_;
  std::size_t at_ = 0;
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
  while (!done() && (now() == ' ' || now() == '\t')) ++at_;
}

void TomlParser::skip_comment() {
  skip_blanks();
  if (!done() && now() == '#') at_ = std::min(text_.find('\n', at_), text_.size());
}

void TomlParser::skip_lines() {
  for (skip_comment(); !done() && at_line_end(); skip_comment()) at_ += now() == '\r' ? 2 : 1;
}

void TomlParser::end_line() {
  skip_comment();
  if (!at_line_end()) reject(at_, "the line should end here; begin a new one");
}

SourceWord TomlParser::bare_key() {
  SourceWord key{"", at_};
  while (!done() && is_bare(now())) key.text += text_[at_++];
  if (!key.text.empty()) return key;
  reject(at_, now() == '"' || now() == '\'' ? "keys are written without quotes"
                                            : "a key should stand here, as in bound = \"abs:1e-4\"");
}

// Reads the header of a table: [[name]].
TomlTable TomlParser::header() {
  constexpr const char* remedy = "tables are written [[rule]], one for each rule";
  const std::size_t begin = at_;
  if (!next_is('[')) reject(begin, remedy);
  at_ += 2;
  skip_blanks();
  TomlTable table{bare_key(), {}};
  skip_blanks();
  if (now() != ']' || !next_is(']')) reject(at_, remedy);
  at_ += 2;
  end_line();
  return table;
}

void TomlParser::escape(std::string& out) {
  constexpr std::string_view names = "btnfr\"\\", meanings = "\b\t\n\f\r\"\\";
  const std::size_t found = ++at_ < text_.size() ? names.find(text_[at_]) : std::string_view::npos;
  if (found == std::string_view::npos)
    reject(at_ - 1, "this escape is not read; write the character itself, or the string in '...'");
  out += meanings[found];
}

// Reads a string in these quotes. Strings in double quotes may have escapes.
SourceWord TomlParser::string(char quote) {
  SourceWord word{"", at_++};
  if (now() == quote && next_is(quote))
    reject(word.offset, "strings over several lines are not read; write it on one");
  for (; now() != quote; ++at_) {
    if (done() || now() == '\n')
      reject(word.offset, std::string("this string has no end; put a ") + quote + " behind it");
    if (quote == '"' && now() == '\\')
      escape(word.text);
    else
      word.text += now();
  }
  ++at_;
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

TomlValue TomlParser::scalar() {
  SourceWord word{"", at_};
  while (!done() && (is_bare(now()) || now() == '+' || now() == '.' || now() == ':'))
    word.text += text_[at_++];
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

TomlValue TomlParser::value() {
  if (now() == '"' || now() == '\'') return {TomlValue::Kind::string, string(now())};
  if (now() == '{') reject(at_, "inline tables are not read; write NAME = VALUE lines under [[rule]]");
  return scalar();
}

// Reads an array: ["a", "b"], possibly over several lines.
void TomlParser::array(TomlEntry& entry) {
  const std::size_t begin = at_++;
  entry.array = true;
  for (skip_lines(); now() != ']' || done(); skip_lines()) {
    if (done()) reject(begin, "this array has no end; put a ] behind it");
    if (now() != '"' && now() != '\'') reject(at_, "arrays are of strings here: [\"a\", \"b\"]");
    entry.values.push_back(value());
    skip_lines();
    if (done()) continue;
    if (now() == ',')
      ++at_;
    else if (now() != ']')
      reject(at_, "a comma or ] should stand here");
  }
  ++at_;
}

TomlEntry TomlParser::entry() {
  TomlEntry entry{bare_key(), {}, false};
  skip_blanks();
  if (now() == '.') reject(at_, "keys with points are not read; write the key under its [[rule]]");
  if (done() || now() != '=') reject(at_, "a = should stand here");
  ++at_;
  skip_blanks();
  if (!done() && now() == '[')
    array(entry);
  else
    entry.values.push_back(value());
  end_line();
  return entry;
}

std::vector<TomlTable> TomlParser::parse() {
  check_text();
  std::vector<TomlTable> tables;
  for (skip_lines(); !done(); skip_lines()) {
    if (now() == '[') {
      tables.push_back(header());
      continue;
    }
    const std::size_t begin = at_;
    TomlEntry entry = this->entry();
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
