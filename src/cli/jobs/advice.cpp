#include "cli/jobs/advice.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "communication/comm/explain.hpp"
#include "communication/policy/plan/cost_model.hpp"
#include "communication/policy/plan/plan.hpp"
#include "communication/policy/plan/rules.hpp"
#include "communication/policy/text/rule_reader.hpp"
#include "communication/policy/tuning/trial_forecast.hpp"
#include "compressor/base/json.hpp"

namespace taut::cli {

// ---- Ratio

namespace {

constexpr std::size_t lossy = Compressibility::bounds - 1;  // number of sampled bounds that are not exact

bool sums(const SeenCalls& seen) noexcept { return reduces(seen.collective) && seen.op == Reduction::sum; }

double bits_a_number(const SeenCalls& seen) noexcept {
  return 8.0 * info_of(info_of(seen.type).component).bytes;
}

// Returns the ratio under a bound below the sampled ones: a bit more for each halving.
double ratio_below(std::span<const double> ratios, double fraction, double bits) noexcept {
  const double coded = bits / ratios.back() + std::log2(Compressibility::relative[lossy - 1] / fraction);
  return bits / std::min(coded, bits);
}

// Returns the time of encoding at the two sampled bounds beside a share of the range, the longer one.
double encoding_seconds(std::span<const double> seconds, double share) noexcept {
  std::size_t i = 0;
  while (i + 1 < seconds.size() && share < Compressibility::relative[i]) ++i;
  return i == 0 ? seconds[0] : std::max(seconds[i - 1], seconds[i]);
}

RatioForecast without_loss(const SeenCalls& seen) noexcept {
  if (sums(seen)) return {};
  return {seen.ratios[lossy], seen.seconds_a_byte[lossy]};
}

}  // namespace

RatioForecast forecast_ratio(const SeenCalls& seen, const AskedBound& asked, int ranks) noexcept {
  const Bound bound = asked.bound;
  const std::span seconds(seen.seconds_a_byte.data(), lossy);
  if (bound.exact() || bound.kind == Bound::Kind::pointwise) return without_loss(seen);
  if (bound.kind == Bound::Kind::rate) {
    if (reduces(seen.collective) && !asked.names_codec) return {};
    const double slowest = *std::max_element(seconds.begin(), seconds.end());
    return {std::max(bits_a_number(seen) / bound.value, 1.0), slowest};
  }
  const std::span ratios(seen.ratios.data(), lossy);
  const double share =
      share_of_range(bound, seen.least, seen.greatest) / (sums(seen) && !asked.on_input ? ranks : 1);
  if (share <= 0 || std::ranges::find(ratios, 0.0) != ratios.end()) return {};
  const double known = interpolated_ratio(Compressibility::relative, ratios, share);
  return {known > 0 ? known : ratio_below(ratios, share, bits_a_number(seen)),
          encoding_seconds(seconds, share)};
}

// ---- Gain

namespace {

constexpr double least_gain = 1.1;         // a smaller gain would go unnoticed
constexpr double link_bytes = 256 * 1024;  // least size of messages that show the bandwidth of the link

// Time of the first coded call beyond that of others: a private communicator, codecs, memory.
constexpr double seconds_of_start = 2.5e-3;

// Returns what the cost model needs to know of the calls in these circumstances. The ranks of smaller
// communicators than the program's may be anywhere: they count as one on each node, as long as no other
// number of nodes is asked for.
CallEstimate estimate_of(const SeenProgram& program, const SeenCalls& seen,
                         const Circumstances& circumstances) noexcept {
  CallEstimate call{seen.collective, circumstances.ranks.value_or(seen.ranks),
                    seen.message_bytes / std::max(seen.calls, 1.0)};
  const bool everywhere = circumstances.ranks || seen.ranks == program.ranks;
  const int nodes = call.ranks / circumstances.ranks_a_node;
  if (everywhere && nodes > 1 && nodes < call.ranks && call.ranks % nodes == 0) call.nodes = nodes;
  return call;
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

// Returns the bandwidth that calls of one kind show; 0: none.
double link_seen(const SeenProgram& program, const SeenCalls& seen, int ranks_a_node) noexcept {
  Circumstances as_it_ran;
  as_it_ran.ranks_a_node = ranks_a_node;
  const CallEstimate call = estimate_of(program, seen, as_it_ran);
  const bool shows = seen.plain_calls > 0 && seen.plain_seconds > 0 && call.bytes >= link_bytes;
  return shows ? link_speed_of(call, seen.plain_seconds / seen.plain_calls) : 0;
}

using FamilyKey = std::tuple<Collective, DType, Reduction>;
using Group = std::vector<const Outlook*>;

// Returns the least size from which on all observed calls gain; nothing if the largest calls do not gain.
std::optional<std::uint64_t> gaining_from(Group sizes) {
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

// Returns a policy as a rule in one line writes it.
std::string in_rule(std::string_view policy) {
  std::string text(policy);
  std::ranges::replace(text, ',', ' ');
  return text;
}

// Rule for calls that are alike, or differ in their sites only.
struct Proposal {
  std::optional<std::uint64_t> from;  // least size; nothing: no rule
  bool exact;
  std::string history;  // options; of the calls that need most

  static Proposal of(const Group& calls) {
    const bool gain = std::ranges::any_of(calls, &Outlook::gains);
    const auto needs = [](const Outlook* o) { return std::pair(o->history.size(), o->history); };
    return {gain ? gaining_from(calls) : std::nullopt, calls[0]->exact,
            (*std::ranges::max_element(calls, {}, needs))->history};
  }
  std::string text(const SeenCalls& seen, const std::string& site, std::string_view policy) const {
    std::string rule = std::string(call_name(seen.collective)).append(" ").append(taut::name_of(seen.type));
    if (seen.op != Reduction{}) rule.append(" ").append(taut::name_of(seen.op));
    rule.append(" >=").append(text_of_size(*from));
    if (!site.empty()) rule.append(" callsite=").append(site);
    rule.append(" : ").append(in_rule(exact ? "lossless" : policy));
    return rule.append(history.empty() ? "" : " ").append(history).append(" ; ");
  }
};

// Returns true if a rule for all call sites would not serve each as its own rule does, but for the least
// size.
bool differ(const std::map<std::string, Group>& sites) {
  const bool gains = Proposal::of(sites.begin()->second).from.has_value();
  return std::ranges::any_of(sites, [&](const auto& site) {
    return Proposal::of(site.second).from.has_value() != gains || site.second[0]->has_unlike_sites;
  });
}

// Returns the rules of one family: one for all its calls, or one for each call site that gains.
std::vector<std::string> rules_of(const Group& family, std::string_view policy) {
  std::map<std::string, Group> sites;
  for (const Outlook* one : family) sites[one->seen.site].push_back(one);
  if (!differ(sites)) sites = {{"", family}};
  std::vector<std::string> rules;
  for (const auto& [site, calls] : sites)
    if (const Proposal rule = Proposal::of(calls); rule.from)
      rules.push_back(rule.text(calls[0]->seen, site, policy));
  return rules;
}

// Returns the seconds of calls of a kind that are coded but for the trials of plain MPI. Of messages, the
// first one of each key is plain (credit); a kind has one key at least.
double seconds_with_trials(const SeenCalls& seen, const CallEstimate& call, double plain, double link,
                           const NodeMemory& memory) {
  const double coded = coded_seconds(call, link, memory);
  if (seen.messages()) return seen.calls * coded + std::min(seen.calls, 1.0) * std::max(plain - coded, 0.0);
  const double tried = seen.untimed ? plain / duplex_link_share(call.ranks) : plain;
  const double trials = plain_trials({.calls = seen.calls,
                                      .plain_seconds = tried,
                                      .coded_seconds = coded,
                                      .predicted_seconds = plain_seconds(call, link, memory),
                                      .overlap = seen.untimed});
  return (seen.calls - trials) * coded + trials * tried;
}

// Returns the options of a policy for the history of such calls. A call leaves a state with the values of
// both sides.
std::string history_options(const SeenCalls& seen) {
  const auto period = static_cast<std::uint64_t>(seen.period);
  const double bytes = seen.message_bytes / std::max(seen.calls, 1.0) * 2;
  const double needed = (seen.period + 1) * bytes,
               default_bytes = static_cast<double>(Policy().history_bytes);
  std::string options = history_option(period);
  if (needed > default_bytes)
    options += " history_bytes=" + text_of_size(std::bit_ceil(static_cast<std::size_t>(needed)));
  return options;
}

// Lets frames refer to earlier calls where that saves enough time. Sums under a bound that depends on the
// range are left out: their step may change with the range, and a sum needs one step for all calls. Messages
// are left out: they refer to nothing before the receiver has granted credit, and the drop-in fills them up
// to a least length.
void try_history(const SeenCalls& seen, const AskedBound& asked, CallEstimate call, double plain, double link,
                 const NodeMemory& memory, Outlook& outlook) {
  if (seen.period == 0 || !outlook.known() || seen.messages()) return;
  SeenCalls with_history = seen;
  with_history.ratios = seen.history_ratios;
  with_history.seconds_a_byte = seen.history_seconds_a_byte;
  const RatioForecast forecast = forecast_ratio(with_history, asked, call.ranks);
  if (sums(seen) && is_relative(asked.bound)) {
    const double range = std::max(seen.greatest - seen.least, 0.0);
    outlook.absolute_gain = forecast.ratio < least_gain * outlook.ratio ? 0 : forecast.ratio / outlook.ratio;
    outlook.absolute_bound = share_of_range(asked.bound, seen.least, seen.greatest) * range;
    return;
  }
  call.ratio = forecast.ratio;
  call.coding_seconds_per_byte = forecast.seconds_a_byte;
  const double seconds = seconds_with_trials(seen, call, plain, link, memory);
  if (outlook.coded_seconds < least_gain * seconds) return;
  outlook.ratio_alone = std::exchange(outlook.ratio, forecast.ratio);
  outlook.coded_seconds = seconds;
  if (!asked.has_history || outlook.exact) outlook.history = history_options(seen);
}

// Returns the bandwidth for frames: that of the link, of which plain calls may reach a share only.
double rate_of_frames(const SeenProgram& program, int ranks_a_node) noexcept {
  double rate = 0;
  for (const SeenCalls& seen : program.kinds)
    rate = std::max(rate, link_seen(program, seen, ranks_a_node) /
                              (may_complete_early(seen.collective) ? 1 : duplex_link_share(seen.ranks)));
  return rate;
}

}  // namespace

bool of_one_family(const SeenCalls& a, const SeenCalls& b) noexcept {
  return a.collective == b.collective && a.type == b.type && a.op == b.op;
}

bool alike(const SeenCalls& a, const SeenCalls& b) noexcept {
  return of_one_family(a, b) && a.site == b.site;
}

bool Outlook::gains() const noexcept { return ratio >= worthwhile_ratio && gain() >= least_gain; }

double link_seen(const SeenProgram& program, int ranks_a_node) noexcept {
  double link = 0;
  for (const SeenCalls& seen : program.kinds) link = std::max(link, link_seen(program, seen, ranks_a_node));
  return link;
}

std::vector<Outlook> outlooks(const SeenProgram& program, const Circumstances& circumstances) {
  const double link = circumstances.link.value_or(link_seen(program, program.ranks_a_node));
  const double for_frames = circumstances.link.value_or(rate_of_frames(program, program.ranks_a_node));
  std::vector<Outlook> all;
  for (const SeenCalls& seen : program.kinds) {
    CallEstimate call = estimate_of(program, seen, circumstances);
    const bool exact = only_exact(program, seen);
    const AskedBound asked = exact ? AskedBound{Bound()} : circumstances.asked;
    const RatioForecast forecast = forecast_ratio(seen, asked, call.ranks);
    call.ratio = forecast.ratio;
    call.coding_seconds_per_byte = forecast.seconds_a_byte;
    const bool timed = seen.plain_calls > 0 && seen.plain_seconds > 0;
    const bool as_it_ran = circumstances.as_it_ran(program) && !seen.untimed;
    if (!seen.sampled() || seen.opaque || link <= 0 || (as_it_ran && !timed)) continue;
    Outlook& outlook = all.emplace_back(Outlook{.seen = seen, .ratio = call.ratio, .exact = exact});
    const double plain =
        as_it_ran ? seen.plain_seconds / seen.plain_calls : plain_seconds(call, link, circumstances.memory);
    outlook.has_unlike_sites = std::ranges::any_of(program.kinds, [&](const SeenCalls& other) {
      return of_one_family(other, seen) && only_exact(program, other) != exact;
    });
    outlook.plain_seconds = seen.calls * plain;
    outlook.coded_seconds = outlook.known()
                                ? seconds_with_trials(seen, call, plain, for_frames, circumstances.memory)
                                : outlook.plain_seconds;
    try_history(seen, asked, call, plain, for_frames, circumstances.memory, outlook);
  }
  std::ranges::sort(all, std::ranges::greater(), &Outlook::saved);
  return all;
}

double seconds_plain(const std::vector<Outlook>& all) noexcept {
  double sum = 0;
  for (const Outlook& one : all) sum += one.plain_seconds;
  return sum;
}

double seconds_with_rules(const std::vector<Outlook>& all) noexcept {
  double sum = std::ranges::any_of(all, &Outlook::gains) ? seconds_of_start : 0;
  for (const Outlook& one : all) sum += one.gains() ? one.coded_seconds : one.plain_seconds;
  return sum;
}

Settings settings_for(const std::vector<Outlook>& all, std::string_view policy) {
  std::map<FamilyKey, Group> families;
  for (const Outlook& outlook : all)
    families[{outlook.seen.collective, outlook.seen.type, outlook.seen.op}].push_back(&outlook);
  Settings settings;
  std::size_t number = 1;  // of rules, with the last one
  for (const auto& [family, calls] : families)
    for (const std::string& rule : rules_of(calls, policy))
      if (number++ < Rules::max_count) settings.rules += rule;
  for (const Outlook& one : all)
    if (one.gains() && !one.seen.needs.empty()) settings.needs.insert(one.seen.needs);
  if (!settings.rules.empty()) settings.rules += "* : off";
  return settings;
}

}  // namespace taut::cli
