// Parsers for the arguments of the benchmarks: options, lists, numbers, sizes.
#pragma once

#include <algorithm>
#include <functional>
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

// Returns the items of a list that is separated by commas, each read by `read`.
template <class Read>
auto list_of(const std::string& text, Read read) {
  std::vector<decltype(read(text))> items;
  for (const std::string& item : split(text, ',')) items.push_back(read(item));
  return items;
}

// The setter of each option, by the option's name.
using Setters = std::map<std::string, std::function<void(const std::string&)>>;

// Passes the value behind each option to its setter, and returns the other words. Throws
// std::invalid_argument for an option without a value, and for options that neither have a setter nor begin
// with `others`.
inline std::vector<std::string> take_options(const std::vector<std::string>& words, const Setters& setters,
                                             const std::string& others = "--help") {
  std::vector<std::string> left;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto setter = setters.find(words[i]);
    if (setter == setters.end()) {
      if (words[i].rfind("-", 0) == 0 && words[i].rfind(others, 0) != 0 && words[i] != "--help")
        throw std::invalid_argument("unknown option '" + words[i] + "'");
      left.push_back(words[i]);
    } else if (i + 1 == words.size()) {
      throw std::invalid_argument(words[i] + " wants a value");
    } else {
      setter->second(words[++i]);
    }
  }
  return left;
}

inline bool asks_for_help(const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), "--help") != words.end();
}

}  // namespace bench
