#include "communication/policy/plan/source_text.hpp"

#include <algorithm>

namespace taut {
namespace {

constexpr std::size_t max_shown = 100;  // greatest number of bytes of a line in a message, around the fault

// Returns the number of characters. UTF-8 continuation bytes do not count.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// Replaces control characters, which a terminal would obey.
std::string printable(std::string_view text) {
  std::string shown(text);
  std::ranges::replace_if(
      shown, [](unsigned char c) { return c < ' ' || c == 0x7F; }, '?');
  return shown;
}

}  // namespace

void SourceText::reject(std::size_t offset, const std::string& reason) const {
  offset = std::min(offset, text.size());
  const std::string_view all = text;
  const std::size_t newline = all.substr(0, offset).rfind('\n');
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  std::string_view line = all.substr(begin, std::min(all.find('\n', offset), all.size()) - begin);
  std::size_t in_line = offset - begin;
  std::string where = ", column " + std::to_string(columns(line.substr(0, in_line)) + 1);
  if (all.find('\n') != std::string_view::npos)
    where = ", line " + std::to_string(1 + std::ranges::count(all.substr(0, begin), '\n')) + where;
  const std::size_t hidden = in_line > max_shown * 3 / 4 ? in_line - max_shown * 3 / 4 : 0;
  line = line.substr(hidden, max_shown);
  in_line -= hidden;
  throw Error(Status::invalid_policy, name + where + ": " + printable(reason) + "\n  " + printable(line) +
                                          "\n  " + std::string(columns(line.substr(0, in_line)), ' ') + "^");
}

}  // namespace taut
