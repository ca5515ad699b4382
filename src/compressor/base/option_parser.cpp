#include "compressor/base/option_parser.hpp"

#include <algorithm>

namespace taut {

void Item::reject(const std::string& remedy) const {
  const std::string what = name.empty() ? "bound" : "option '" + std::string(name) + "'";
  throw ItemError(column, false, what + " cannot be '" + std::string(value) + "'; " + remedy);
}

void Item::reject_name(const std::string& remedy) const {
  const std::size_t at = column - (name.empty() ? 0 : name.size() + 1);
  throw ItemError(
      at, true,
      "'" + std::string(name.empty() ? value : name) + "' is not an option; the options are " + remedy);
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Item next_item(std::string_view text, std::size_t& begin) noexcept {
  const std::size_t end = std::min(text.find(',', begin), text.size());
  const std::string_view part = trimmed(text.substr(begin, end - begin));
  const std::size_t equals = part.find('=');
  Item item{{}, part, static_cast<std::size_t>(part.data() - text.data()) + 1};
  if (equals != std::string_view::npos) {
    item.name = trimmed(part.substr(0, equals));
    item.value = trimmed(part.substr(equals + 1));
    item.column = static_cast<std::size_t>(item.value.data() - text.data()) + 1;
  }
  begin = end + 1;
  return item;
}

std::size_t read_size(const Item& item) {
  constexpr struct {
    std::string_view suffix;
    int shift;
  } units[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"B", 0}};
  std::string_view digits = item.value;
  int shift = 0;
  for (const auto& unit : units) {
    if (!digits.ends_with(unit.suffix)) continue;
    digits.remove_suffix(unit.suffix.size());
    shift = unit.shift;
    break;
  }
  std::size_t number = 0;
  if (!read_number(digits, number) || number > (std::size_t{1} << 62) >> shift)
    item.reject("give a size such as 65536, 64KiB or 1MiB");
  return number << shift;
}

std::string text_of_size(std::size_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; unit < 3 && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
  return std::to_string(bytes) + units[unit];
}

}  // namespace taut
