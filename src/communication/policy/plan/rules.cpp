#include "communication/policy/plan/rules.hpp"

#include <algorithm>

namespace taut {
namespace {

std::uint64_t hash_of(std::string_view text) noexcept {  // FNV-1a
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

bool holds_for(const Conditions& when, const CommFacts& comm) noexcept {
  const bool several = when.scope == Conditions::Scope::inter;
  return (when.name.empty() || when.name == comm.name) && (!when.world || comm.world) &&
         when.min_ranks <= comm.ranks && comm.ranks <= when.max_ranks &&
         (when.scope == Conditions::Scope::any || several == comm.several_nodes);
}

bool size_matches(const Conditions& when, std::size_t bytes) noexcept {
  return when.min_bytes <= bytes && bytes <= when.max_bytes;
}

bool any_size(const Conditions& when) noexcept { return when.min_bytes == 0 && when.max_bytes == SIZE_MAX; }

}  // namespace

Rules::Rules(Policy policy) : is_single_policy_(true) {
  Rule rule;
  rule.operators_named = true;
  rule.policy = std::move(policy);
  rules_.push_back(std::move(rule));
  summarize();
  hash_ = hash_of(rules_[0].policy.text);
}

Rules::Rules(std::vector<Rule> rules) noexcept : rules_(std::move(rules)) { summarize(); }

void Rules::summarize() {
  std::string text;
  for (const Rule& rule : rules_) {
    text += text_of(rule) + "\n";
    if (!rule.policy.off && rule.when.calls != Conditions::bit(Collective::send))
      min_bytes_ = std::min(min_bytes_, std::max(rule.when.min_bytes, rule.policy.min_bytes));
  }
  hash_ = hash_of(text);
}

bool Rules::need_callsites() const noexcept {
  return std::ranges::any_of(rules_, [](const Rule& rule) { return !rule.when.callsite.empty(); });
}

Rules Rules::with_min_bytes(std::size_t bytes) const {
  Rules changed = *this;
  for (Rule& rule : changed.rules_)
    if (!rule.policy.min_bytes_given) rule.policy.min_bytes = bytes;
  const std::uint64_t hash = hash_;
  changed.min_bytes_ = SIZE_MAX;
  changed.summarize();
  changed.hash_ = hash;
  return changed;
}

Rules Rules::for_comm(const CommFacts& comm) const {
  std::vector<Rule> held;
  for (const Rule& rule : rules_) {
    if (!holds_for(rule.when, comm)) continue;
    Rule& kept = held.emplace_back(rule);
    kept.when.name.clear();
    kept.when.world = false;
    kept.when.min_ranks = 0;
    kept.when.max_ranks = Conditions{}.max_ranks;
    kept.when.scope = Conditions::Scope::any;
  }
  return Rules(std::move(held));
}

// Returns the first rule that matches. Every rank goes through the rules in the same order. At a condition on
// data in which ranks may differ, some ranks may stop and others continue. The rule for all ranks is known
// when the ranks have agreed on that data.
Match Rules::match(const Call& call) const noexcept {
  Match found;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const Rule& rule = rules_[i];
    const Conditions& when = rule.when;
    const bool typed = when.types != Conditions::any, sized = !any_size(when),
               placed = !when.callsite.empty();
    const bool type_known = reduces(call.collective) || call.type_agreed;
    const bool of_type = (when.types & Conditions::bit(call.type)) != 0;
    const bool at_site = (call.sites >> i & 1) != 0;
    const bool of_call =
        (when.calls & Conditions::bit(call.collective)) != 0 && rule.covers(call.collective, call.op);
    if (!of_call || (type_known && typed && !of_type) ||
        (call.bytes_known && !size_matches(when, call.bytes)) || (placed && call.sites_agreed && !at_site))
      continue;
    const bool rank_dependent =
        (typed && !type_known) || (sized && !call.bytes_known) || (placed && !call.sites_agreed);
    found.off &= rule.policy.off;
    found.rank_dependent |= rank_dependent;
    if (found.rule == nullptr && (!typed || of_type) && (!placed || at_site)) found.rule = &rule;
    if (!rank_dependent) break;
  }
  return found;
}

const Policy* match(const Rules& rules, const Call& call) noexcept {
  Call known = call;
  known.type_agreed = known.sites_agreed = known.bytes_known = true;
  const Rule* const rule = rules.match(known).rule;
  return rule == nullptr || rule->policy.off ? nullptr : &rule->policy;
}

}  // namespace taut
