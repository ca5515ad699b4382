// Fuzz target: any text as rules in one line and as a TOML file. The text is accepted, or rejected with an
// explanation that names the place; no other exception is thrown, and accepted rules can be written and read
// again.
//
//   text
#include <string>

#include "communication/policy/plan/rules.hpp"
#include "expect.hpp"
#include "input.hpp"

namespace taut::fuzz {
namespace {

using Parse = std::vector<Rule> (*)(const SourceText&, const std::string&);

// Returns false if the text was rejected.
bool read(Parse parse, const std::string& text, std::vector<Rule>& rules) {
  try {
    rules = parse({"text", text}, "");
    return true;
  } catch (const Error& error) {
    const std::string told = error.what();
    expect(error.status() == Status::invalid_policy, "a text that cannot be read is an invalid policy");
    expect(told.find("column") != std::string::npos && told.ends_with('^'),
           "a rejection points at the fault");
    for (const char c : told)
      expect(c == '\n' || static_cast<unsigned char>(c) >= ' ', "a terminal can show it");
  } catch (...) {
    expect(false, "only Error is thrown");
  }
  return false;
}

void check(const Rule& rule) {
  expect(rule.when.min_bytes <= rule.when.max_bytes, "some message is of the rule's sizes");
  expect(rule.when.min_ranks <= rule.when.max_ranks, "some communicator is of the rule's sizes");
  expect(rule.when.calls != 0 && rule.when.types != 0 && rule.when.ops != 0, "the rule is for some call");
}

// Returns false if a name contains a separator of the one-line form, or ends in the colon that separates
// conditions from the bound.
bool fits_a_line(const Rule& rule) {
  const bool one_word = (rule.when.name + rule.when.callsite).find_first_of(" ,;\t\r\n") == std::string::npos;
  return one_word && !rule.when.name.ends_with(':') && !rule.when.callsite.ends_with(':');
}

void check_form(Parse parse, const std::string& text) {
  std::vector<Rule> rules, again;
  if (!read(parse, text, rules)) return;
  expect(rules.size() <= Rules::max_count, "no more rules than there may be");
  for (const Rule& rule : rules) {
    check(rule);
    if (!fits_a_line(rule)) continue;
    expect(read(parse_rules_line, text_of(rule), again) && again.size() == 1, "what was written is read");
    expect(text_of(again[0]) == text_of(rule), "and means the same");
  }
}

}  // namespace
}  // namespace taut::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taut::fuzz;
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_form(taut::parse_rules_line, text);
  check_form(taut::parse_rules_toml, text);
  return 0;
}
