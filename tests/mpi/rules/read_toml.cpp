// Reads TOML documents from stdin, each preceded by a line with its length in bytes. Writes a line of JSON
// for each: a list of [table, {key: value}], or "rejected".
#include <cstdio>
#include <iostream>

#include "communication/policy/text/toml.hpp"
#include "compressor/base/json.hpp"

namespace taut {
namespace {

std::string escaped(std::string_view text) {
  std::string result = "\"";
  char code[8];
  for (const char c : text) {
    std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    const bool plain = static_cast<unsigned char>(c) >= ' ' && c != '"' && c != '\\' && c != 0x7F;
    plain ? result.push_back(c) : void(result.append(code));
  }
  result.push_back('"');
  return result;
}

std::string json_of(const TomlValue& value) {
  const bool signed_plus = value.kind != TomlValue::Kind::string && value.word.text[0] == '+';
  return value.kind == TomlValue::Kind::string ? escaped(value.word.text)
                                               : value.word.text.substr(signed_plus);
}

std::string json_of(const TomlTable& table) {
  json::Object object;
  for (const TomlEntry& entry : table.entries)
    object.add_text(entry.key.text,
                    entry.array ? json::list(entry.values, [](const TomlValue& v) { return json_of(v); })
                                : json_of(entry.values[0]));
  return std::string("[")
      .append(json::quoted(table.name.text))
      .append(", ")
      .append(object.text())
      .append("]");
}

std::string answer(const std::string& document) {
  try {
    return json::list(parse_toml({"document", document}), [](const TomlTable& t) { return json_of(t); });
  } catch (const Error&) {
    return "\"rejected\"";
  }
}

}  // namespace
}  // namespace taut

int main() {
  std::size_t bytes = 0;
  while (std::cin >> bytes) {
    std::cin.ignore(1);
    std::string document(bytes, '\0');
    std::cin.read(document.data(), static_cast<std::streamsize>(bytes));
    std::puts(taut::answer(document).c_str());
  }
}
