// Strict JSON reader for reports: RFC 8259, up to 32 levels deep.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace taut::cli {

struct JsonMember;

struct Json {
  enum class Kind { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  double number = 0;  // booleans: 0 or 1
  std::string text;
  std::vector<Json> items;
  std::vector<JsonMember> members;

  // Returns the member of an object; null if there is none of that name.
  const Json& operator[](std::string_view name) const noexcept;
  bool is_null() const noexcept { return kind == Kind::null; }
};

struct JsonMember {
  std::string name;
  Json value;
};

// Parses a text. Throws Failure that names `file` and the line.
Json read_json(const std::string& file, std::string_view text);

}  // namespace taut::cli
