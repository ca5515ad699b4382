#include "cli/jobs/advice.hpp"

#include <algorithm>
#include <map>

#include "communication/policy/plan/cost_model.hpp"
#include "communication/policy/plan/plan.hpp"
#include "communication/policy/text/rule_reader.hpp"
#include "compressor/base/json.hpp"

namespace taut::cli {
namespace {

constexpr double least_gain = 1.1;         // a smaller gain would go unnoticed
constexpr double link_bytes = 256 * 1024;  // least size of messages that show the bandwidth of the link

CallEstimate prospect_of(const SeenCalls& seen, const Circumstances& circumstances) noexcept {
  return {seen.collective, circumstances.ranks.value_or(seen.ranks),
          seen.message_bytes / std::max(seen.calls, 1.0)};
}

// Returns true if the calls must be coded without loss. One rule serves all sizes from a threshold on, and
// samples do not cover every message. Packed integers in some of the calls therefore rule out a bound for all
// calls that are alike. So do results in which a rank keeps its exact input: programs may rely on copies that
// are equal.
bool only_exact(const SeenProgram& program, const SeenCalls& seen) noexcept {
  return info_of(seen.type).family == Family::integer || seen.collective == Collective::bcast ||
         std::ranges::any_of(program.kinds, [&](const SeenCalls& other) {
           return (other.packed || other.in_place) && alike(other, seen);
         });
}

using FamilyKey = std::tuple<Collective, DType, Reduction>;

// Returns the least size from which on all observed calls gain; nothing if the largest calls do not gain.
std::optional<std::uint64_t> gaining_from(std::vector<const Outlook*> sizes) {
  std::ranges::sort(sizes, std::ranges::greater(), [](const Outlook* o) { return o->seen.least_bytes; });
  std::optional<std::uint64_t> from;
  for (std::size_t i = 0; i < sizes.size();) {
    const std::uint64_t size = sizes[i]->seen.least_bytes;
    double plain = 0, coded = 0;
    for (; i < sizes.size() && sizes[i]->seen.least_bytes == size; ++i) {
      plain += sizes[i]->plain_seconds;
      coded += sizes[i]->coded_seconds;
    }
    if (plain < least_gain * coded) break;
    from = size;
  }
  return from;
}

}  // namespace

bool alike(const SeenCalls& a, const SeenCalls& b) noexcept {
  return a.collective == b.collective && a.type == b.type && a.op == b.op;
}

bool Outlook::gains() const noexcept { return ratio >= worthwhile_ratio && gain() >= least_gain; }

double link_seen(const SeenProgram& program) noexcept {
  double link = 0;
  for (const SeenCalls& seen : program.kinds) {
    const CallEstimate call = prospect_of(seen, {});
    if (seen.plain_calls > 0 && seen.plain_seconds > 0 && call.bytes >= link_bytes)
      link = std::max(link, link_of(call, seen.plain_seconds / seen.plain_calls));
  }
  return link;
}

std::vector<Outlook> outlooks(const SeenProgram& program, const Circumstances& circumstances) {
  const double link = circumstances.link.value_or(link_seen(program));
  std::vector<Outlook> all;
  for (const SeenCalls& seen : program.kinds) {
    CallEstimate call = prospect_of(seen, circumstances);
    const bool exact = only_exact(program, seen);
    const RatioForecast forecast =
        forecast_ratio(seen, exact ? AskedBound{Bound()} : circumstances.asked, call.ranks);
    call.ratio = forecast.ratio;
    call.seconds_a_byte = forecast.seconds_a_byte;
    const bool timed = seen.plain_calls > 0 && seen.plain_seconds > 0;
    const bool as_it_ran = !circumstances.link && !circumstances.ranks && !seen.untimed;
    if (!seen.sampled() || seen.opaque || link <= 0 || (as_it_ran && !timed)) continue;
    Outlook& outlook = all.emplace_back(Outlook{.seen = seen, .ratio = call.ratio, .exact = exact});
    const double plain = as_it_ran ? seen.plain_seconds / seen.plain_calls : plain_seconds(call, link);
    outlook.plain_seconds = seen.calls * plain;
    outlook.coded_seconds = outlook.known() ? seen.calls * coded_seconds(call, link) : outlook.plain_seconds;
  }
  std::ranges::sort(all, std::ranges::greater(), &Outlook::saved);
  return all;
}

// Returns a policy as a rule in one line writes it.
std::string in_rule(std::string_view policy) {
  std::string text(policy);
  std::ranges::replace(text, ':', '=');
  std::ranges::replace(text, ',', ' ');
  return text;
}

Settings settings_for(const std::vector<Outlook>& all, std::string_view policy) {
  std::map<FamilyKey, std::vector<const Outlook*>> families;
  for (const Outlook& outlook : all)
    families[{outlook.seen.collective, outlook.seen.type, outlook.seen.op}].push_back(&outlook);
  Settings settings;
  std::string& rules = settings.rules;
  for (const auto& [family, sizes] : families) {
    const auto& [collective, type, op] = family;
    const auto from = gaining_from(sizes);
    if (!from || std::ranges::none_of(sizes, &Outlook::gains)) continue;
    rules.append(call_name(collective)).append(" ").append(taut::name_of(type));
    if (op != Reduction{}) rules.append(" ").append(taut::name_of(op));
    rules.append(" >=").append(text_of_size(*from)).append(" : ");
    rules.append(in_rule(sizes[0]->exact ? "lossless" : policy)).append(" ; ");
    for (const Outlook* const one : sizes)
      if (one->gains() && !one->seen.needs.empty()) settings.needs.insert(one->seen.needs);
  }
  if (!rules.empty()) rules += "* : off";
  return settings;
}

}  // namespace taut::cli
