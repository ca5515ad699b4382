// The part of TOML 1.0 that rules are written in: arrays of tables with bare keys, strings, integers, decimal
// numbers, booleans, arrays of strings, comments. All else is an error that says what to write instead.
// docs/adr/0007-own-toml.md says why there is no library.
#pragma once

#include <vector>

#include "policy/text/source_text.hpp"

namespace taut {

struct TomlValue {
  enum class Kind : std::uint8_t { string, integer, decimal, boolean };
  Kind kind = Kind::string;
  Word word;  // of a string what stands for, else as written
};

struct TomlEntry {
  Word key;
  std::vector<TomlValue> values;  // one, or those of an array
  bool array = false;
};

struct TomlTable {
  Word name;  // "rule" of [[rule]]
  std::vector<TomlEntry> entries;
};

// Throws Error(invalid_policy) that points at the fault.
std::vector<TomlTable> parse_toml(const SourceText& source);

}  // namespace taut
