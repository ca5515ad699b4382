#include "cli/arguments.hpp"

#include <algorithm>
#include <cmath>

#include "compressor/base/option_parser.hpp"

namespace taut::cli {
namespace {

const Option* find(std::span<const Option> known, std::string_view word) {
  const auto matches = [&](const Option& option) {
    return word.starts_with("--") ? word.substr(2) == option.name
                                  : option.letter != 0 && word.size() == 2 && word[1] == option.letter;
  };
  const auto found = std::ranges::find_if(known, matches);
  return found == known.end() ? nullptr : &*found;
}

}  // namespace

Arguments::Arguments(std::span<const Option> known, std::span<const char* const> words, bool takes_command) {
  bool options_end = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (options_end || word.size() < 2 || word[0] != '-') {
      names_.emplace_back(word);
      continue;
    }
    if (word == "--") {
      options_end = true;
      continue;
    }
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
    const Option* const option = find(known, word.substr(0, equals));
    if (option == nullptr && takes_command && !names_.empty())
      reject(std::string("'").append(word) + "' is an option of " + names_[0] + "; put -- before " +
             names_[0]);
    if (option == nullptr) reject("unknown option '" + std::string(word) + "'; --help lists them");
    std::string& value = values_[std::string(option->name)].emplace_back();
    if (option->value.empty()) {
      if (equals != std::string_view::npos)
        reject("--" + std::string(option->name) + " takes no value; leave out '" +
               std::string(word.substr(equals)) + "'");
    } else if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (option->may_lack_value()) {
      continue;
    } else if (i + 1 < words.size()) {
      value = words[++i];
    } else {
      reject("--" + std::string(option->name) + " lacks its value " + std::string(option->value));
    }
  }
}

std::optional<std::string> Arguments::value(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::nullopt : std::optional(found->second.back());
}

std::span<const std::string> Arguments::values(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::span<const std::string>() : found->second;
}

const std::string& Arguments::only_name(const char* what) const {
  if (names_.empty()) reject(std::string(what) + " is missing; --help shows the arguments");
  if (names_.size() > 1) reject("'" + names_[1] + "' is one name too many; give one " + what);
  return names_[0];
}

std::string describe(std::span<const Option> options) {
  constexpr std::size_t column = 26;
  std::string text;
  for (const Option& option : options) {
    const std::size_t begin = text.size();
    text += option.letter != 0 ? std::string{' ', ' ', '-', option.letter, ',', ' '} : std::string(6, ' ');
    text.append("--").append(option.name);
    if (!option.value.empty()) text.append(option.may_lack_value() ? "" : " ").append(option.value);
    const std::size_t width = text.size() - begin;
    text.append(width + 2 > column ? "\n" + std::string(column, ' ') : std::string(column - width, ' '));
    for (const char c : option.help) text.append(1, c).append(c == '\n' ? column : 0, ' ');
    text += '\n';
  }
  return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size(); begin += parts.back().size() + 1)
    parts.emplace_back(text.substr(begin, text.find(separator, begin) - begin));
  return parts;
}

double positive_number(std::string_view option, const std::string& text) {
  double number = 0;
  if (!read_number(text, number) || !(number > 0) || !std::isfinite(number))
    reject("--" + std::string(option) + ": '" + text + "' is no number above 0");
  return number;
}

}  // namespace taut::cli
