// Parser of rules in the [[rule]] tables of a TOML file.
#include "communication/policy/text/rule_reader.hpp"
#include "communication/policy/text/toml.hpp"

namespace taut {
namespace {

// Converts an entry to the spelling of policies.
RuleEntry entry_of(const TomlEntry& entry) {
  RuleEntry made{entry.key, {}, false};
  for (const TomlValue& value : entry.values) {
    SourceWord word = value.word;
    if (value.kind == TomlValue::Kind::boolean) word.text = word.text == "true" ? "on" : "off";
    if (value.kind == TomlValue::Kind::integer && word.text[0] == '+') word.text.erase(0, 1);
    made.values.push_back(std::move(word));
  }
  made.list = entry.array;
  return made;
}

Rule rule_of(const SourceText& source, const TomlTable& table, const std::string& kernels) {
  if (table.name.text != "rule")
    source.reject(table.name.offset,
                  "'" + table.name.text + "' is no table that is known here; write [[rule]]");
  std::vector<RuleEntry> entries;
  for (const TomlEntry& entry : table.entries) {
    if (entry.array && entry.values.empty())
      source.reject(entry.key.offset,
                    "an empty list holds for no call; leave the key out if it holds for all");
    entries.push_back(entry_of(entry));
  }
  return read_rule(source, table.name.offset, entries, kernels);
}

}  // namespace

std::vector<Rule> parse_rules_toml(const SourceText& source, const std::string& kernels) {
  std::vector<Rule> rules;
  for (const TomlTable& table : parse_toml(source)) {
    if (rules.size() == Rules::max_count)
      source.reject(table.name.offset,
                    "more than " + std::to_string(Rules::max_count) + " rules; join some of them");
    rules.push_back(rule_of(source, table, kernels));
  }
  return rules;
}

}  // namespace taut
