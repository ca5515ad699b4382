// Formats values as JSON.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

namespace comparison::json {

inline std::string quoted(const std::string& plain) {
  std::string result = "\"";
  for (const char c : plain) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

inline std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return std::isfinite(value) ? text : "null";
}

inline const char* boolean(bool value) { return value ? "true" : "false"; }

}  // namespace comparison::json
