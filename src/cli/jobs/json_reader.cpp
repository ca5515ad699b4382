#include "cli/jobs/json_reader.hpp"

#include <algorithm>

#include "compressor/base/option_parser.hpp"
#include "compressor/file/failure.hpp"

namespace taut::cli {
namespace {

constexpr int deepest = 32;

void append_utf8(std::string& text, unsigned code) {
  const auto byte = [&](unsigned bits) { text.push_back(static_cast<char>(bits)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | code >> 6);
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

class JsonReader {
 public:
  JsonReader(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  Json read() {
    Json json = value(0);
    skip_blanks();
    if (at_ != text_.size()) damaged();
    return json;
  }

 private:
  [[noreturn]] void damaged() const {
    const auto line = 1 + std::ranges::count(text_.substr(0, at_), '\n');
    file::fail(file_ + ": is no JSON at line " + std::to_string(line) + "; get the file again");
  }
  char now() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() noexcept {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char c) noexcept {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) damaged();
  }
  Json word(std::string_view word, Json made) {
    if (!text_.substr(at_).starts_with(word)) damaged();
    at_ += word.size();
    return made;
  }

  Json value(int depth);
  Json number();
  std::string string();
  void escape(std::string& out);
  Json array(int depth);
  Json object(int depth);

  const std::string& file_;
  std::string_view text_;
  std::size_t at_ = 0;
};

Json JsonReader::value(int depth) {
  if (depth > deepest) damaged();
  skip_blanks();
  switch (now()) {
    case '{': return object(depth);
    case '[': return array(depth);
    case '"': return {Json::Kind::string, 0, string(), {}, {}};
    case 'n': return word("null", {});
    case 't': return word("true", {Json::Kind::boolean, 1, {}, {}, {}});
    case 'f': return word("false", {Json::Kind::boolean, 0, {}, {}, {}});
    default: return number();
  }
}

Json JsonReader::number() {
  const std::size_t begin = at_;
  while (std::string_view("+-.eE0123456789").find(now()) != std::string_view::npos && now() != '\0') ++at_;
  const std::string_view all = text_.substr(begin, at_ - begin);
  const std::string_view digits = all.substr(all.starts_with('-') ? 1 : 0);
  const bool begins = !digits.empty() && digits[0] >= '0' && digits[0] <= '9';
  const bool zeros = digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
  Json json;
  json.kind = Json::Kind::number;
  if (!begins || zeros || all.back() == '.' || !read_number(all, json.number)) damaged();
  return json;
}

void JsonReader::escape(std::string& out) {
  constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
  const char c = now();
  ++at_;
  if (const std::size_t found = names.find(c); found != std::string_view::npos && c != '\0') {
    out.push_back(meanings[found]);
    return;
  }
  unsigned code = 0;
  const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (c != 'u' || error != std::errc() || end != digits.data() + 4) damaged();
  at_ += 4;
  append_utf8(out, code);
}

std::string JsonReader::string() {
  std::string text;
  for (++at_; now() != '"';) {
    if (at_ >= text_.size() || static_cast<unsigned char>(now()) < ' ') damaged();
    const char c = text_[at_++];
    if (c == '\\')
      escape(text);
    else
      text.push_back(c);
  }
  ++at_;
  return text;
}

Json JsonReader::array(int depth) {
  Json json;
  json.kind = Json::Kind::array;
  expect('[');
  if (take(']')) return json;
  do json.items.push_back(value(depth + 1));
  while (take(','));
  expect(']');
  return json;
}

Json JsonReader::object(int depth) {
  Json json;
  json.kind = Json::Kind::object;
  expect('{');
  if (take('}')) return json;
  do {
    skip_blanks();
    if (now() != '"') damaged();
    std::string name = string();
    expect(':');
    json.members.push_back({std::move(name), value(depth + 1)});
  } while (take(','));
  expect('}');
  return json;
}

}  // namespace

const Json& Json::operator[](std::string_view name) const noexcept {
  static const Json none;
  const auto found = std::ranges::find(members, name, &JsonMember::name);
  return found == members.end() ? none : found->value;
}

Json read_json(const std::string& file, std::string_view text) { return JsonReader(file, text).read(); }

}  // namespace taut::cli
