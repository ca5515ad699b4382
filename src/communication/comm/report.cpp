#include "communication/comm/report.hpp"

#include <algorithm>
#include <cmath>

#include "communication/comm/call_site.hpp"
#include "communication/comm/explain.hpp"
#include "compressor/base/json.hpp"
#include "compressor/frame/sum_pipelines.hpp"

namespace taut {
namespace {

// ---- JSON

// Returns the 16 digits by which reports name a run or a communicator.
std::string text_of_identity(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::string json_of(const PhaseTimes& times) {
  json::Object object;
  for (std::size_t i = 0; i < phases; ++i)
    object.add(name_of(static_cast<Phase>(i)), times[static_cast<Phase>(i)]);
  return object.text();
}

std::string json_of(const SumPipelines& pipelines) {
  json::Object object;
  object.add("constant", pipelines.constant).add("copied", pipelines.copied);
  return object.add("added", pipelines.added).add("general", pipelines.general).text();
}

void add_counts(json::Object& object, const Statistics& sum) {
  json::Object plain;
  for (std::size_t i = 1; i < fallback_reasons; ++i)
    if (sum.plain[i] != 0) plain.add(name_of(static_cast<Fallback>(i)), sum.plain[i]);
  object.add("calls", sum.calls).add("compressed_calls", sum.compressed_calls);
  object.add("failed_calls", sum.failed_calls).add_text("plain_calls", plain.text());
  object.add("packed_calls", sum.packed_calls).add("referring_calls", sum.referring_calls);
  object.add("message_bytes", sum.message_bytes).add("value_bytes", sum.value_bytes);
  object.add("frame_bytes", sum.frame_bytes).add("ratio", sum.ratio());
  object.add("carried_bytes", sum.carried_bytes).add("sent_bytes", sum.sent_bytes);
  object.add("sent_messages", sum.sent_messages).add_text("nanoseconds", json_of(sum.times));
}

std::string json_of(const Decision& decision) {
  json::Object object;
  object.add("codec", decision.codec).add("predictor", std::string_view(decision.predictor));
  object.add("algorithm", decision.algorithm).add("by_nodes", decision.by_nodes);
  object.add("arithmetic", name_of(decision.arithmetic));
  return object.add("segments", decision.segments).add("bound", text_of(decision.bound)).text();
}

// Returns the text in JSON; null if it is not known or has no meaning here.
std::string text_or_null(bool known, std::string_view text) { return known ? json::quoted(text) : "null"; }

// Returns the bound that the samples number `i` had.
std::string text_of_sampled_bound(std::size_t i) {
  const bool exact = i + 1 == Compressibility::bounds;
  return text_of(exact ? Bound() : Bound{Bound::Kind::range, Compressibility::relative[i]});
}

std::string json_of(const Repetition& repetition) {
  std::string bounds;
  for (std::size_t i = 0; i < Compressibility::bounds; ++i) {
    const Repetition::Sum& sum = repetition.sums[i];
    if (sum.value_bytes == 0) continue;
    json::Object one;
    one.add("bound", text_of_sampled_bound(i)).add("value_bytes", sum.value_bytes);
    one.add("alone_bytes", sum.alone_bytes).add("referring_bytes", sum.referring_bytes);
    one.add("nanoseconds", sum.nanoseconds);
    bounds.append(bounds.empty() ? "" : ", ").append(one.text());
  }
  json::Object object;
  object.add("samples", repetition.samples).add("period", repetition.period);
  return object.add_text("bounds", "[" + bounds + "]").text();
}

std::string json_of(const Compressibility& values) {
  json::Object object;
  object.add("samples", values.samples)
      .add("packed", values.packed)
      .add("in_place", values.in_place)
      .add("pickles", values.pickles)
      .add("constant", values.constant)
      .add("least", values.least)
      .add("greatest", values.greatest);
  std::string bounds;
  for (std::size_t i = 0; i < Compressibility::bounds; ++i) {
    const Compressibility::Sum& sum = values.sums[i];
    if (sum.value_bytes == 0) continue;
    json::Object one;
    one.add("bound", text_of_sampled_bound(i));
    one.add("value_bytes", sum.value_bytes).add("frame_bytes", sum.frame_bytes);
    one.add("nanoseconds", sum.nanoseconds);
    bounds.append(bounds.empty() ? "" : ", ").append(one.text());
  }
  return object.add_text("bounds", "[" + bounds + "]").text();
}

std::string json_of(const PlainTimes& times) {
  const auto time = [](const PlainTime& one) { return json::text(one.nanoseconds); };
  const auto gap = [](const PlainTime& one) {
    return one.gap == PlainTime::unknown ? "null" : json::text(one.gap);
  };
  return json::Object()
      .add("every", times.every())
      .add_text("nanoseconds", json::list(times.kept(), time))
      .add_text("gaps", json::list(times.kept(), gap))
      .text();
}

std::string json_of(const ResultChecks& checks) {
  return json::Object()
      .add("calls", checks.calls)
      .add("calls_over_bound", checks.calls_over_bound)
      .add("nanoseconds", checks.nanoseconds)
      .add("error", checks.greatest.error)
      .add("bound", checks.greatest.bound)
      .add("share", checks.greatest.share())
      .add("element", checks.greatest.element)
      .text();
}

std::string json_of(const CallRow& row) {
  const Call call = row.call();
  const std::string site = call_site_name(call.site);
  json::Object object;
  object.add_text("collective", text_or_null(call.collective != Collective{}, name_of(call.collective)));
  object.add_text("type", call.coded() ? json::quoted(name_of(call.type)) : "null");
  object.add_text("operator", call.op == Reduction{} ? "null" : json::quoted(name_of(call.op)));
  object.add("least_bytes", std::uint64_t{call.bytes}).add_text("site", text_or_null(!site.empty(), site));
  add_counts(object, row.sum);
  object.add_text("decision", row.decision.codec == nullptr ? "null" : json_of(row.decision));
  object.add_text("plain", text_or_null(row.fallback != Fallback::none, name_of(row.fallback)));
  object.add_text("expected_ratio",
                  row.expected_ratio == 0 ? "null" : json::text(double{row.expected_ratio}));
  object.add_text("plain_times", row.plain_times.kept().empty() ? "null" : json_of(row.plain_times));
  object.add_text("check", row.checks.calls == 0 ? "null" : json_of(row.checks));
  object.add_text("compressibility", row.values.samples == 0 ? "null" : json_of(row.values));
  object.add_text("history_would_give", row.repetition.samples == 0 ? "null" : json_of(row.repetition));
  return object.text();
}

std::string lines(const auto& items, auto text) {
  std::string result;
  for (const auto& item : items) result += (result.empty() ? "\n" : ",\n") + text(item);
  return "[" + result + "]";
}

std::string json_of(const CommReport& communicator) {
  json::Object object;
  object.add("policy", std::string_view(communicator.policy)).add("name", communicator.name.data());
  object.add("ranks", communicator.ranks).add("communicators", communicator.communicators);
  object.add("freed", communicator.freed);
  object.add_text("group", text_or_null(communicator.group != 0, text_of_identity(communicator.group)));
  const char* const needs = communicator.needs;
  object.add_text("needs", text_or_null(needs != nullptr, needs != nullptr ? needs : ""));
  add_counts(object, communicator.calls.total());
  const auto row_text = [](const CallRow* row) { return json_of(*row); };
  return object.add_text("kinds", lines(in_order(communicator.calls), row_text)).text();
}

std::string json_of(const NcclCalls& calls) {
  json::Object object;
  object.add("served_calls", calls.served_calls).add("served_bytes", calls.served_bytes);
  return object.add("left_calls", calls.left_calls).add("left_bytes", calls.left_bytes).text();
}

// ---- Table

// Returns the cells of a line of at most 80 columns. The last one is the share of the time in which the rank
// encoded, combined and decoded.
std::string cells(const Statistics& sum) {
  const auto coding = sum.times[Phase::encode] + sum.times[Phase::combine] + sum.times[Phase::decode];
  const double share = static_cast<double>(coding) / static_cast<double>(sum.times[Phase::call]);
  char text[160];
  std::snprintf(text, sizeof text, "%7llu %6llu %6s %8s %8s %6s\n",
                static_cast<unsigned long long>(sum.calls),
                static_cast<unsigned long long>(sum.compressed_calls),
                sum.ratio() == 0 ? "-" : rounded(sum.ratio(), 3).c_str(), size_text(sum.sent_bytes).c_str(),
                rounded(seconds(sum.times[Phase::call]), 3).c_str(),
                coding == 0 ? "-" : (std::to_string(std::lround(100 * share)) + " %").c_str());
  return text;
}

// Adds the rows of `calls` to `all`, regardless of their call sites.
void add_sums(const CallTable& calls, CallTable& all) {
  for (const CallRow* row : in_order(calls)) {
    Call call = row->call();
    call.site = nullptr;
    all.row(call.key()).sum += row->sum;
  }
}

// Returns lines on what a history would give, for up to three kinds of calls on communicators without one.
std::string history_lines(std::span<const CommReport* const> communicators, const ProcessRank& process) {
  constexpr int most = 3;
  constexpr const char* option = "history=";
  std::string text;
  int lines = 0;
  for (const CommReport* communicator : communicators) {
    const std::string& policy = communicator->policy == "rules" ? process.rules : communicator->policy;
    if (policy.find(option) != policy.npos) continue;
    for (const CallRow* row : in_order(communicator->calls)) {
      const std::string told = history_text(*row), site = call_site_name(row->call().site);
      if (told.empty() || lines++ >= most) continue;
      text += "taut: " + text_of(row->key) + (site.empty() ? "" : " at " + site) + ": " + told + "\n";
    }
  }
  return text;
}

std::string table_line(std::string kind, const std::string& rest) {
  kind.resize(std::max<std::size_t>(kind.size(), 28), ' ');
  return "taut: " + kind + rest;
}
}  // namespace

std::string file_name(const std::string& pattern, const ProcessRank& process) {
  const std::string rank = std::to_string(process.rank);
  const std::string world = process.spawned ? pattern + ".spawned-" + text_of_identity(process.run) : pattern;
  std::string name = world;
  for (std::size_t at = name.find("%r"); at != name.npos; at = name.find("%r", at)) name.replace(at, 2, rank);
  return name == world && process.ranks > 1 ? name + "." + rank : name;
}

std::string report_json(std::span<const CommReport* const> communicators, const ProcessRank& process,
                        std::span<const UnservedCalls> unserved, std::span<const NcclCalls> nccl,
                        std::uint64_t nccl_nonblocking) {
  json::Object all;
  all.add("format", "taut-report").add("version", 2).add("rank", process.rank).add("ranks", process.ranks);
  all.add_text("run", text_or_null(process.run != 0, text_of_identity(process.run)));
  all.add("node", std::string_view(process.node));
  all.add("program", std::string_view(process.program)).add("nonblocking", process.nonblocking);
  all.add("command", std::string_view(process.command)).add("mpi", std::string_view(process.mpi));
  all.add("rules", std::string_view(process.rules)).add("began", process.began);
  all.add("seconds", process.seconds).add("finished", process.finished);
  if (process.processor_wait >= 0) all.add("processor_wait", process.processor_wait);
  all.add_text("communicators", lines(communicators, [](const CommReport* one) { return json_of(*one); }));
  all.add_text("summed_chunks", json_of(sum_pipelines()));
  json::Object names;
  for (const UnservedCalls& one : unserved) names.add(one.name, one.calls);
  all.add_text("unserved_calls", names.text());
  json::Object functions;
  for (const NcclCalls& one : nccl) functions.add_text(one.name, json_of(one));
  if (!nccl.empty()) all.add_text("nccl_calls", functions.text());
  if (!nccl.empty()) all.add("nccl_nonblocking_communicators", nccl_nonblocking);
  return all.text() + "\n";
}

std::string summary_table(std::span<const CommReport* const> communicators, const ProcessRank& process,
                          std::span<const UnservedCalls> unserved) {
  constexpr std::size_t most = 20;
  CallTable all;
  for (const CommReport* communicator : communicators) add_sums(communicator->calls, all);
  std::string text =
      table_line("rank " + std::to_string(process.rank) + " of " + std::to_string(process.ranks),
                 "  calls  coded  ratio     sent  seconds coding\n");
  std::vector<const CallRow*> rows = in_order(all);
  const std::size_t shown = std::min(rows.size(), most);
  for (const CallRow* row : std::span(rows).first(shown))
    text += table_line(text_of(row->key), cells(row->sum));
  if (shown < rows.size())
    text += table_line("and " + std::to_string(rows.size() - shown) + " kinds more", "\n");
  text += table_line("all", cells(all.total()));
  const std::uint64_t packed = all.total().packed_calls;
  if (packed != 0)
    text += "taut: " + std::to_string(packed) +
            " calls had packed integers in their values; these traveled bit for bit\n";
  if (const std::uint64_t referring = all.total().referring_calls; referring != 0)
    text += "taut: " + std::to_string(referring) + " calls sent what had changed since earlier ones\n";
  text += history_lines(communicators, process);
  std::string names;
  for (const UnservedCalls& one : unserved)
    names.append(names.empty() ? "" : ", ").append(one.name).append(" ").append(std::to_string(one.calls));
  return names.empty() ? text : text + table_line("not served by Taut", names + "\n");
}

}  // namespace taut
