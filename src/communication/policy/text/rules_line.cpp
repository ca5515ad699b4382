// Parser of rules in one line: "CONDITIONS : BOUND OPTIONS ; CONDITIONS : BOUND OPTIONS ; ...".
#include <algorithm>

#include "communication/policy/text/rule_reader.hpp"

namespace taut {
namespace {

constexpr std::string_view blanks = " \t\n\r";

// Parser of all rules of one text. The functions take parts of it, from offset `begin` to offset `end`.
class LineParser {
 public:
  LineParser(const SourceText& source, const std::string& kernels) : source_(source), kernels_(kernels) {}

  std::vector<Rule> parse();

 private:
  std::vector<SourceWord> split(std::size_t begin, std::size_t end, std::string_view separators) const;
  RuleEntry read_list(std::string_view key, const SourceWord& word) const;
  RuleEntry read_condition(const SourceWord& word) const;
  Rule read_one_rule(std::size_t begin, std::size_t end) const;
  std::size_t find_colon(std::size_t begin, std::size_t end) const;

  const SourceText& source_;
  const std::string& kernels_;
};

std::vector<SourceWord> LineParser::split(std::size_t begin, std::size_t end,
                                          std::string_view separators) const {
  const std::string_view all = std::string_view(source_.text).substr(0, end);
  std::vector<SourceWord> found;
  for (std::size_t at = all.find_first_not_of(separators, begin); at < end;) {
    const std::size_t stop = std::min(all.find_first_of(separators, at), end);
    found.push_back({std::string(all.substr(at, stop - at)), at});
    at = all.find_first_not_of(separators, stop);
  }
  return found;
}

// Reads a word as a list of names: "a,b".
RuleEntry LineParser::read_list(std::string_view key, const SourceWord& word) const {
  RuleEntry entry{{std::string(key), word.offset},
                  split(word.offset, word.offset + word.text.size(), ","),
                  /*list=*/true};
  if (entry.values.empty()) source_.reject(word.offset, "a name is missing beside this comma");
  return entry;
}

// Reads a condition: a type, an operator, a size, or KEY=VALUE.
RuleEntry LineParser::read_condition(const SourceWord& word) const {
  const RuleEntry names = read_list("", word);
  if (type_bit(names.values[0].text) != 0) return read_list("dtype", word);
  if (operator_bit(names.values[0].text) != 0) return read_list("op", word);
  for (const std::string_view sign : {">=", "<=", ">", "<"})
    if (word.text.starts_with(sign))
      return {{std::string(sign), word.offset}, {{word.text.substr(sign.size()), word.offset + sign.size()}}};
  const std::size_t equals = word.text.find('=');
  const std::string key = word.text.substr(0, equals);
  if (equals != std::string::npos && (key == "comm" || key == "scope" || key == "callsite"))
    return {{key, word.offset}, {{word.text.substr(equals + 1), word.offset + equals + 1}}};
  source_.reject(word.offset,
                 "'" + word.text +
                     "' is no condition; use a type (f32), an operator (sum), a size (>=1MiB), comm=, "
                     "scope= or callsite=, and a colon before the bound");
}

// Returns the position of the colon between conditions and bound. That colon has a blank or an end beside it;
// a colon as in comm=name:halo has neither.
std::size_t LineParser::find_colon(std::size_t begin, std::size_t end) const {
  const std::string& text = source_.text;
  for (std::size_t at = begin; at < end; ++at) {
    if (text[at] != ':') continue;
    const bool after = at + 1 == end || blanks.find(text[at + 1]) != std::string_view::npos;
    if (after || at == begin || blanks.find(text[at - 1]) != std::string_view::npos) return at;
  }
  source_.reject(begin,
                 "the rule has no ' : ' between its conditions and its bound, as in "
                 "'Allreduce f32 >=1MiB : abs:1e-4'");
}

Rule LineParser::read_one_rule(std::size_t begin, std::size_t end) const {
  begin = source_.text.find_first_not_of(blanks, begin);
  const std::size_t middle = find_colon(begin, end);
  const std::vector<SourceWord> conditions = split(begin, middle, blanks);
  const std::vector<SourceWord> policy = split(middle + 1, end, " \t\n\r,");
  if (conditions.empty()) source_.reject(middle, "the rule names no call; use * for all");
  if (policy.empty()) source_.reject(middle, "the rule has no bound; end it with one, or with off");
  std::vector<RuleEntry> entries{read_list("call", conditions[0])};
  for (const SourceWord& word : std::span(conditions).subspan(1)) entries.push_back(read_condition(word));
  entries.push_back({{"bound", policy[0].offset}, {policy[0]}});
  for (const SourceWord& word : std::span(policy).subspan(1)) {
    const std::size_t equals = word.text.find('=');
    if (equals == std::string::npos)
      source_.reject(word.offset, "'" + word.text + "' is no option; write NAME=VALUE, as in on=input");
    entries.push_back({{word.text.substr(0, equals), word.offset},
                       {{word.text.substr(equals + 1), word.offset + equals + 1}}});
  }
  return read_rule(source_, begin, entries, kernels_);
}

std::vector<Rule> LineParser::parse() {
  std::vector<Rule> rules;
  const std::string& text = source_.text;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    if (text.find_first_not_of(blanks, begin) < end) {
      if (rules.size() == Rules::max_count)
        source_.reject(begin, "more than " + std::to_string(Rules::max_count) + " rules; join some of them");
      rules.push_back(read_one_rule(begin, end));
    }
    begin = end + 1;
  }
  return rules;
}

}  // namespace

std::vector<Rule> parse_rules_line(const SourceText& source, const std::string& kernels) {
  return LineParser(source, kernels).parse();
}

}  // namespace taut
