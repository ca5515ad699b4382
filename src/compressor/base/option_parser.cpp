#include "compressor/base/option_parser.hpp"

#include <algorithm>
#include <vector>

namespace taut {
namespace {

// Returns the edit distance: the number of insertions, deletions and replacements that turn one text into the
// other. Wagner and Fischer, "The string-to-string correction problem", J. ACM 21 (1974).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view mistyped, std::span<const std::string_view> known) {
  if (known.empty()) return {};
  const auto nearest =
      std::ranges::min_element(known, {}, [&](std::string_view name) { return distance(mistyped, name); });
  return 2 * distance(mistyped, *nearest) < mistyped.size() ? *nearest : std::string_view();
}

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

void Item::reject_name(std::span<const std::string_view> known) const {
  const std::string_view meant = nearest_name(name.empty() ? value : name, known);
  std::string all(known[0]);
  for (std::size_t i = 1; i < known.size(); ++i)
    all.append(i + 1 == known.size() ? " and " : ", ").append(known[i]);
  reject_name(meant.empty() ? all : all.append(". Did you mean ").append(meant).append("?"));
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
