// Parsers for the arguments of the benchmarks: lists, numbers, sizes.
#pragma once

#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

inline double positive_number(const std::string& text) {
  std::size_t end = 0;
  double value = 0;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (end == 0 || end != text.size() || !(value > 0))
    throw std::invalid_argument("'" + text + "' is no positive number");
  return value;
}

// Parses 4096, 64K, 16M, 1G: powers of two, as in the OSU benchmarks; 64MB is 64 000 000.
inline std::size_t byte_size(const std::string& text) {
  static const std::map<std::string, double> units{
      {"", 1}, {"K", 1024}, {"M", 1048576}, {"G", 1073741824}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}};
  const std::size_t end = text.find_first_not_of("0123456789.");
  const auto unit = units.find(end == std::string::npos ? "" : text.substr(end));
  if (unit == units.end()) throw std::invalid_argument("'" + text + "' is no size");
  const double size = positive_number(text.substr(0, end)) * unit->second;
  if (size > 8e9) throw std::invalid_argument("'" + text + "' is too large");
  return static_cast<std::size_t>(size);
}

}  // namespace bench
