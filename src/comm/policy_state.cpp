#include "comm/policy_state.hpp"

#include <algorithm>
#include <new>

#include "comm/call_site.hpp"

namespace taut {

PolicyTable::PolicyTable(Rules rules, const std::string& kernels) : rules_(std::move(rules)) {
  for (const Rule& rule : rules_.all()) {
    policies_.emplace_back(rule.policy, kernels);
    if (!rule.policy.off) check(rule.policy.coding, kernels);
  }
}

// Returns the rules whose call site contains the address. Results are cached: finding the name of an address
// takes microseconds, and programs call from few places.
std::uint64_t PolicyTable::sites(const void* address) noexcept {
  if (!rules_.ask_for_sites()) return ~std::uint64_t{0};
  const auto known = std::ranges::find(sites_, address, &std::pair<const void*, std::uint64_t>::first);
  if (known != sites_.end()) return known->second;
  std::uint64_t found = 0;
  try {
    for (std::size_t i = 0; i < rules_.all().size(); ++i)
      if (is_call_site(address, rules_.all()[i].when.callsite)) found |= std::uint64_t{1} << i;
    sites_.emplace_back(address, found);
  } catch (const std::bad_alloc&) {  // without memory, the call site counts as one that no rule names
  }
  return found;
}

}  // namespace taut
