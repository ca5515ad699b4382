// Conversion of numbers to text, for people and for JSON, and JSON objects, whose members keep the order in
// which they are added.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>

namespace taut {

// Returns the shortest text that reads back as the same number.
inline std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

// Returns the number with `digits` significant digits; "-" if it is not finite.
inline std::string rounded(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::isfinite(value) ? text : "-";
}

namespace json {

inline std::string quoted(std::string_view plain) {
  std::string result = "\"";
  for (const char c : plain) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  return result + '"';
}

inline std::string text(double value) { return std::isfinite(value) ? shortest(value) : "null"; }
inline std::string text(bool value) { return value ? "true" : "false"; }
inline std::string text(std::integral auto value) { return std::to_string(value); }
inline std::string text(std::string_view value) { return quoted(value); }
inline std::string text(const char* value) { return quoted(value); }

class Object {
 public:
  Object& add(std::string_view name, const auto& value) { return add_text(name, json::text(value)); }
  Object& add_text(std::string_view name, const std::string& text) {
    text_ += (text_.empty() ? "" : ", ") + quoted(name) + ": " + text;
    return *this;
  }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

// Returns the JSON array [text(items[0]), ...].
std::string list(const auto& items, auto text) {
  std::string result;
  for (const auto& item : items) result += (result.empty() ? "" : ", ") + text(item);
  return "[" + result + "]";
}

}  // namespace json
}  // namespace taut
