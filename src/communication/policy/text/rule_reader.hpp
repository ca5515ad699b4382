// Reads one rule from its entries, of the one-line form or of a file.
#pragma once

#include <span>

#include "communication/policy/plan/rules.hpp"

namespace taut {

// Entry of a rule: "key = value", or "key = [value, value]". Conditions on the size in the one-line form have
// the keys ">=", ">", "<=" and "<".
struct RuleEntry {
  SourceWord key;
  std::vector<SourceWord> values;
  bool list = false;  // written as a list
};

// Reads a rule that starts at `offset` in the text. Throws Error(invalid_policy).
Rule read_rule(const SourceText& source, std::size_t offset, std::span<const RuleEntry> entries,
               const std::string& kernels);

// Return the bit in Conditions of a call, type or operator by its name in rules; 0 if there is no such name.
std::uint32_t call_bit(std::string_view name);
std::uint32_t type_bit(std::string_view name) noexcept;
std::uint32_t operator_bit(std::string_view name) noexcept;
const char* call_name(Collective collective);  // "Reduce_scatter"

// Returns advice on what to write instead of a name that is no call.
std::string call_remedy(std::string_view name);

}  // namespace taut
