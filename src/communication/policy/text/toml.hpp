// Parser of the part of TOML 1.0 that rules are written in: arrays of tables with bare keys, strings,
// integers, decimal numbers, booleans, arrays of strings, comments. Anything else is an error that says what
// to write instead. docs/adr/0007-own-toml.md says why no library is used.
#pragma once

#include <cstdint>
#include <vector>

#include "communication/policy/plan/source_text.hpp"

namespace taut {

struct TomlValue {
  enum class Kind : std::uint8_t { string, integer, decimal, boolean };
  Kind kind = Kind::string;
  SourceWord word;  // content of a string; other values as written
};

struct TomlEntry {
  SourceWord key;
  std::vector<TomlValue> values;  // one value, or the elements of an array
  bool array = false;
};

struct TomlTable {
  SourceWord name;  // "rule" of [[rule]]
  std::vector<TomlEntry> entries;
};

// Parses a TOML text. Throws Error(invalid_policy) that points at the fault.
std::vector<TomlTable> parse_toml(const SourceText& source);

}  // namespace taut
