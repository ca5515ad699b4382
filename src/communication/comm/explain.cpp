#include "communication/comm/explain.hpp"

#include <algorithm>
#include <tuple>

#include "communication/comm/call_site.hpp"
#include "communication/policy/plan/cost_model.hpp"
#include "communication/policy/plan/policy.hpp"
#include "compressor/base/json.hpp"

namespace taut {
namespace {

// Words for each reason of a fallback, in the order of the enumeration.
struct FallbackText {
  const char *name, *clause;
};
constexpr FallbackText texts[fallback_reasons] = {
    {"no", ""},
    {"off", "switched off"},
    {"unsupported",
     "the policy promises nothing for it, or no codec serves it; reductions at a rate need codec=, and "
     "so do lossless sums, unless all values are small integers times a power of two"},
    {"small", "below min_bytes"},
    {"no_gain", "samples compress too little"},
    {"communicator", "a single rank or an intercommunicator"},
    {"type", "its type or operator is not compressed under this policy"},
    {"memory", "a rank lacked memory"},
    {"slower", "plain MPI proved to be faster, or is known to be within a node"},
    {"trial", "tried, to compare"},
    {"sender", "its sender did not compress it"},
    {"credit", "its receiver had not yet received one like it by a call of Taut's"},
    {"device", "values in memory of a GPU, and no kernel serves them"},
    {"packed", "integers packed into the values"},
    {"mismatch", "the ranks' calls differ in count, type or operator"},
    {"arguments", "a rank's buffers overlap, are NULL, read-only or cannot be packed"},
    {"failed", "a codec or the GPU of a rank failed"}};

std::string percent(std::uint64_t part, std::uint64_t whole) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

std::string count_of(std::uint64_t n, const char* noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

// "ratio 8.12, sent 12MiB for 98MiB"
std::string gain(const Statistics& sum) {
  return "ratio " + rounded(sum.ratio(), 3) + ", sent " + size_text(sum.sent_bytes) + " for " +
         size_text(sum.carried_bytes);
}

// "3 plain (samples compress too little: ratio 1.05), 1 plain (...)"
std::string plain_calls(const CallRow& row) {
  std::string text;
  for (std::size_t i = 0; i < fallback_reasons; ++i) {
    if (row.sum.plain[i] == 0) continue;
    const auto why = static_cast<Fallback>(i);
    text += (text.empty() ? "" : ", ") + std::to_string(row.sum.plain[i]) + " plain (" + describe(why);
    if (why == Fallback::no_gain && row.fallback == Fallback::no_gain && row.expected_ratio != 0)
      text += ": ratio " + rounded(static_cast<double>(row.expected_ratio), 3);
    text += ")";
  }
  return text;
}

std::string summary(const Statistics& sum) {
  std::string text =
      count_of(sum.calls, "call") + ", " + std::to_string(sum.compressed_calls) + " compressed";
  if (sum.failed_calls != 0) text += ", " + std::to_string(sum.failed_calls) + " failed";
  if (sum.packed_calls != 0) text += ", " + std::to_string(sum.packed_calls) + " with packed integers";
  if (sum.referring_calls != 0)
    text += ", " + std::to_string(sum.referring_calls) + " referring to earlier ones";
  return text;
}

std::string times_text(const PhaseTimes& times) {
  return times[Phase::call] == 0 ? "" : "; " + text_of(times);
}

}  // namespace

const char* describe(Fallback why) noexcept { return texts[static_cast<std::size_t>(why)].clause; }
const char* name_of(Fallback why) noexcept { return texts[static_cast<std::size_t>(why)].name; }

std::string size_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  double size = static_cast<double>(bytes);
  for (; size >= 1024; size /= 1024) ++unit;
  return rounded(size, size >= 1000 ? 4 : 3) + units[unit];
}

std::string text_of(const CallKey& key) {
  const Call call = Call::of_key(key);
  if (call.collective == Collective{}) return "all other kinds";
  std::string text = name_of(call.collective);
  text += std::string(" ") + (call.coded() ? name_of(call.type) : "other");
  if (call.op != Reduction{}) text += std::string(" ") + name_of(call.op);
  return text + " " + size_text(call.bytes);
}

std::string text_of(const Decision& decision) {
  std::string text = decision.codec;
  if (decision.predictor[0] != 0) text += std::string("/") + decision.predictor;
  return text + ", " + decision.algorithm + (decision.by_nodes ? " of nodes" : "") + " by " +
         name_of(decision.arithmetic) + ", " +
         count_of(static_cast<std::uint64_t>(decision.segments), "segment") + ", " +
         text_of(decision.bound, 4) +
         (decision.bound.kind == Bound::Kind::rate ? " without an error bound" : "");
}

std::string text_of(const PhaseTimes& times) {
  const std::uint64_t all = times[Phase::call];
  std::string text = rounded(seconds(all), 3) + " s";
  const char* separator = ": ";
  for (std::size_t i = 0; i < phases; ++i) {
    const auto phase = static_cast<Phase>(i);
    if (phase == Phase::call || times[phase] == 0) continue;
    text += separator + std::string(name_of(phase)) + " " + percent(times[phase], all);
    separator = ", ";
  }
  return text;
}

std::string history_option(std::uint64_t period) {
  if (period <= Policy::usual_history) return "history=auto";
  return "history=" + std::to_string(std::min<std::uint64_t>(2 * period, Policy::max_history));
}

// Calls that were not compressed are taken to have a usual bound.
std::string history_text(const CallRow& row) {
  constexpr double worth_telling = 1.2;
  if (row.repetition.samples == 0) return "";
  const bool exact = info_of(row.call().type).family == Family::integer;
  const Bound usual = exact ? Bound() : Bound{Bound::Kind::range, 1e-4};
  const Bound bound = row.decision.codec != nullptr ? row.decision.bound : usual;
  const double gain = row.repetition.gain(share_of_range(bound, row.values.least, row.values.greatest));
  if (row.sum.referring_calls != 0 || bound.kind == Bound::Kind::rate || gain < worth_telling) return "";
  return history_option(row.repetition.period) + " would make frames " + rounded(gain, 2) + " times smaller";
}

std::string explain(const CallRow& row) {
  const std::string site = call_site_name(row.call().site), plain = plain_calls(row);
  std::string text = text_of(row.key) + (site.empty() ? "" : " at " + site) + ": " + summary(row.sum);
  if (row.sum.compressed_calls != 0) {
    text += " by " + text_of(row.decision);
    if (row.sum.frame_bytes != 0) text += "; " + gain(row.sum);  // frame_bytes is 0 for received messages
    if (row.fallback != Fallback::no_gain && row.expected_ratio != 0)
      text += ", expected " + rounded(static_cast<double>(row.expected_ratio), 3);
  }
  if (!plain.empty()) text += "; " + plain;
  return text + times_text(row.sum.times);
}

std::vector<const CallRow*> in_order(const CallTable& calls) {
  std::vector<const CallRow*> rows;
  for (const CallRow& row : calls.rows()) rows.push_back(&row);
  if (calls.rest().sum.calls != 0) rows.push_back(&calls.rest());
  std::ranges::stable_sort(rows, std::greater<>(), [](const CallRow* row) {
    return std::tuple(row->sum.times[Phase::call], row->sum.calls);
  });
  return rows;
}

std::string explain(const CallTable& calls, const std::string& policy, int ranks) {
  const Statistics total = calls.total();
  std::string text = "policy " + policy + " on " + count_of(static_cast<std::uint64_t>(ranks), "rank") +
                     ": " + summary(total);
  if (total.compressed_calls != 0) text += "; " + gain(total);
  text += times_text(total.times) + "\n";
  for (const CallRow* row : in_order(calls)) text += explain(*row) + "\n";
  return text;
}

}  // namespace taut
