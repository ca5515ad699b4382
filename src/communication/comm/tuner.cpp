#include "communication/comm/tuner.hpp"

#include <algorithm>
#include <new>

#include "communication/comm/call_site.hpp"

namespace taut {

AutotunerTable::Kind& AutotunerTable::find(const Call& call, std::size_t bytes) noexcept {
  const std::uint32_t key = Call{.collective = call.collective,
                                 .type = reduces(call.collective) ? call.type : DType{},
                                 .op = call.op,
                                 .bytes = bytes}
                                .kind();
  Kind* const home = &kinds_[key * 2654435769U >> 26];  // Fibonacci hashing to 6 bits
  static_assert(most_kinds == 64);
  for (std::size_t i = 0; i < 4; ++i) {
    Kind& kind = kinds_[(static_cast<std::size_t>(home - kinds_.data()) + i) % most_kinds];
    if (kind.key == 0) kind.key = key;
    if (kind.key == key) return kind;
  }
  *home = {.key = key, .autotuner = {}, .overlap_tuner = {}};
  return *home;
}

Tuner::Tuner(Rules rules, int ranks, const std::string& kernels) : rules_(std::move(rules)), ranks_(ranks) {
  for (const Rule& rule : rules_.all()) {
    policies_.emplace_back(rule.policy, kernels);
    if (!rule.policy.off) check(rule.policy.coding, kernels);
  }
}

// Returns the rules whose call site contains the address. Results are cached: finding the name of an address
// takes microseconds, and programs call from few places.
std::uint64_t Tuner::sites(const void* address) noexcept {
  if (!rules_.need_callsites()) return ~std::uint64_t{0};
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

EarlyDecision Tuner::decide(const Call& call, bool overlaps, bool in_periods) {
  if (rules_.off()) return {Fallback::off};
  if (ranks_ < 2) return {Fallback::communicator};
  if (call.bytes_known && call.bytes < rules_.min_bytes()) return {Fallback::small};
  Call placed = call;
  placed.sites = sites(call.site);
  const Match match = rules_.match(placed);
  if (match.off) return {Fallback::off};
  return match.rank_dependent ? EarlyDecision{.overlaps = overlaps}
                              : decide(*match.rule, call, overlaps, in_periods);
}

EarlyDecision Tuner::decide(const Rule& rule, const Call& call, bool overlaps, bool in_periods) {
  PolicyState& state = of(rule);
  const std::size_t bytes = call.bytes_known ? call.bytes : 0;
  if (call.bytes_known) {
    const Fallback why = early_fallback(state.policy, bytes, ranks_);
    if (why != Fallback::none) return {why};
  }
  Autotuner& kind = state.autotuners.of(call, bytes);
  const bool only_if_profitable = state.policy.only_if_profitable();
  EarlyDecision early{.fallback = only_if_profitable ? kind.next() : Fallback::none,
                      .policy_state = &state,
                      .autotuner = overlaps ? nullptr : &kind,
                      .cached_candidate = kind.cached_candidate(),
                      .route = kind.route(),
                      .overlaps = overlaps};
  if (overlaps && in_periods && only_if_profitable && early.fallback == Fallback::none)
    early.position = state.autotuners.of_overlapping(call, bytes).next();
  return early;
}

}  // namespace taut
