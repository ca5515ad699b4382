#include "cli/report_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "cli/coding.hpp"
#include "cli/failure.hpp"
#include "cli/files.hpp"
#include "cli/json_reader.hpp"

namespace taut::cli {
namespace {

constexpr std::uint64_t max_report_bytes = std::uint64_t{256} << 20;

using Key = std::tuple<Collective, DType, Reduction, int, std::uint64_t>;  // ..., ranks, least_bytes
using Kinds = std::map<Key, SeenCalls>;

std::string contents(const std::string& name) {
  const InputFile file(name);
  if (file.size() > max_report_bytes) fail(name + ": exceeds 256 MiB, the greatest size of a report");
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

// Returns `name` if it is a file; else name.0, name.1, ... up to the first that is missing: TAUT_REPORT
// writes one file for each rank.
std::vector<std::string> files_of(const std::string& name) {
  if (std::filesystem::exists(name)) return {name};
  std::vector<std::string> files;
  for (int rank = 0; std::filesystem::exists(name + "." + std::to_string(rank)); ++rank)
    files.push_back(name + "." + std::to_string(rank));
  if (files.empty())
    fail(name + ": there is no such report, nor " + name + ".0; run the program with TAUT_REPORT=" + name);
  return files;
}

std::optional<Collective> collective_of(const Json& name) noexcept {
  for (const Collective collective : all_collectives)
    if (name.text == taut::name_of(collective)) return collective;
  if (name.text == taut::name_of(Collective::send)) return Collective::send;
  return std::nullopt;
}

// Returns Reduction{}, which is no operator, for other names.
Reduction reduction_of(const Json& name) noexcept {
  for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max})
    if (name.text == taut::name_of(op)) return op;
  return Reduction{};
}

// Merges the samples of one rank into `seen`: the range of its values, and the ratio and time at each bound.
void add_samples(const Json& samples, SeenCalls& seen) {
  if (!samples["least"].is_null() && !samples["greatest"].is_null()) {
    seen.least = std::min(seen.least, samples["least"].number);
    seen.greatest = std::max(seen.greatest, samples["greatest"].number);
  }
  for (const Json& one : samples["bounds"].items) {
    const double values = one["value_bytes"].number, frames = one["frame_bytes"].number;
    if (!(values > 0 && frames > 0)) continue;
    std::size_t i = Compressibility::bounds - 1;
    for (std::size_t j = 0; j + 1 < Compressibility::bounds; ++j)
      if (one["bound"].text == taut::text_of(Bound{Bound::Kind::range, Compressibility::relative[j]})) i = j;
    seen.ratios[i] = values / frames;
    seen.seconds_a_byte[i] = one["nanoseconds"].number * 1e-9 / values;
  }
}

// Adds the calls of one kind. Calls on communicators of the same size, and of different call sites, are
// counted together.
void add_kind(const Json& kind, int ranks, Kinds& kinds) {
  const auto collective = collective_of(kind["collective"]);
  const auto type = find_dtype(kind["type"].text);
  if (!collective || !type || ranks < 2) return;
  const Reduction op = reduction_of(kind["operator"]);
  const auto least = static_cast<std::uint64_t>(std::clamp(kind["least_bytes"].number, 0.0, 0x1p60));
  SeenCalls& seen = kinds[{*collective, *type, op, ranks, least}];
  seen.collective = *collective;
  seen.type = *type;
  seen.op = op;
  seen.ranks = ranks;
  seen.least_bytes = least;
  seen.calls += kind["calls"].number;
  seen.message_bytes += kind["message_bytes"].number;
  for (const auto& [reason, calls] : kind["plain_calls"].members) seen.plain_calls += calls.number;
  seen.plain_seconds += kind["nanoseconds"]["plain"].number * 1e-9;
  add_samples(kind["compressibility"], seen);
  seen.packed |= kind["compressibility"]["packed"].number > 0;
  seen.in_place |= kind["compressibility"]["in_place"].number > 0;
}

// Merges the counts of two ranks for the same calls. `plain_seconds` is to show the speed of the link. Of
// ranks that complete together, the one with the least time waited least for the others. In a collective with
// a root and in scans, a rank may complete early, and the greatest time counts.
void merge(const SeenCalls& from, SeenCalls& into) {
  if (from.calls > into.calls) {
    into.calls = from.calls;
    into.message_bytes = from.message_bytes;
    into.plain_calls = from.plain_calls;
  }
  const bool longest = may_complete_early(from.collective) || into.plain_seconds == 0;
  if (from.plain_seconds > 0)
    into.plain_seconds = longest ? std::max(into.plain_seconds, from.plain_seconds)
                                 : std::min(into.plain_seconds, from.plain_seconds);
  for (std::size_t i = 0; i < Compressibility::bounds; ++i) {
    const bool less = from.ratios[i] > 0 && (into.ratios[i] == 0 || from.ratios[i] < into.ratios[i]);
    if (less) into.ratios[i] = from.ratios[i];
    into.seconds_a_byte[i] = std::max(into.seconds_a_byte[i], from.seconds_a_byte[i]);
  }
  into.least = std::min(into.least, from.least);
  into.greatest = std::max(into.greatest, from.greatest);
  into.packed |= from.packed;
  into.in_place |= from.in_place;
}

void read_one(const std::string& file, SeenProgram& program, Kinds& all) {
  const Json report = read_json(file, contents(file));
  if (report["format"].text != "taut-report") fail(file + ": is no report of Taut; TAUT_REPORT writes one");
  if (report["version"].number != 2)
    fail(file + ": is a report of another version of Taut; run the program with this one");
  program.ranks = static_cast<int>(std::clamp(report["ranks"].number, 1.0, 1e9));
  program.seconds = std::max(program.seconds, report["seconds"].number);
  ++program.files;
  const Json& finished = report["finished"];  // which earlier versions wrote at the end alone
  program.finished += finished.is_null() || finished.number != 0 ? 1 : 0;
  for (const auto& [name, calls] : report["unserved_calls"].members)
    program.unserved[name] = std::max(program.unserved[name], calls.number);
  Kinds kinds;
  for (const Json& communicator : report["communicators"].items) {
    const double ranks = std::clamp(communicator["ranks"].number, 0.0, 1e9);
    for (const Json& kind : communicator["kinds"].items) add_kind(kind, static_cast<int>(ranks), kinds);
  }
  for (const auto& [key, seen] : kinds) {
    const auto [found, added] = all.try_emplace(key, seen);
    if (!added) merge(seen, found->second);
  }
}

}  // namespace

SeenProgram read_reports(const std::vector<std::string>& names) {
  SeenProgram program;
  Kinds all;
  for (const std::string& name : names)
    for (const std::string& file : files_of(name)) read_one(file, program, all);
  for (auto& [key, seen] : all) program.kinds.push_back(seen);
  return program;
}

}  // namespace taut::cli
