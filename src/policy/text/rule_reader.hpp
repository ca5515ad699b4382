// A rule from what it says, key by key: what the one-line form and the file form have in common.
#pragma once

#include <span>

#include "policy/plan/rules.hpp"

namespace taut {

// "key = value", or "key = [value, value]". In the one-line form sizes have the keys ">=", ">", "<=", "<".
struct RuleEntry {
  Word key;
  std::vector<Word> values;
  bool list = false;  // written as one
};

// `at`: where the rule starts. Throws Error(invalid_policy).
Rule read_rule(const SourceText& source, std::size_t at, std::span<const RuleEntry> entries,
               const std::string& kernels);

// Values by the names that rules have for them; 0: no such name.
std::uint32_t call_bit(std::string_view name);
std::uint32_t type_bit(std::string_view name) noexcept;
std::uint32_t operator_bit(std::string_view name) noexcept;
const char* call_name(Collective collective);  // "Reduce_scatter"

// What to write instead of a name that no call has.
std::string call_remedy(std::string_view name);

}  // namespace taut
