#include "cli/jobs/check.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "cli/jobs/report_reader.hpp"
#include "communication/comm/explain.hpp"
#include "compressor/base/json.hpp"
#include "compressor/base/option_parser.hpp"
#include "compressor/file/failure.hpp"

namespace taut::cli {
namespace {

constexpr int most_one_in = 65536;
constexpr int columns = 80;

double number_or_nan(const Json& json) noexcept {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.number;
}

// Returns what orders errors: the share of the bound, or infinity where an error has a bound of 0 or is
// infinite.
double weight(const CheckedKind& kind) noexcept {
  return std::isnan(kind.share) ? std::numeric_limits<double>::infinity() : kind.share;
}

std::string name_of_kind(const Json& kind) {
  if (kind["collective"].is_null()) return "all other kinds";
  std::string name = kind["collective"].text;
  for (const char* const word : {"type", "operator"})
    if (!kind[word].is_null()) name += " " + kind[word].text;
  return name + " " + size_text(static_cast<std::uint64_t>(std::max(0.0, kind["least_bytes"].number)));
}

// Adds the checks of one rank's kind of calls. Messages are checked at their sender.
void add(const Json& kind, int rank, CheckedRun& run) {
  if (kind["collective"].text == taut::name_of(Collective::recv)) return;
  run.compressed_calls += kind["compressed_calls"].number;
  const Json& check = kind["check"];
  if (check.is_null()) return;
  CheckedKind one{.name = name_of_kind(kind), .site = kind["site"].text};
  one.error = number_or_nan(check["error"]);
  one.bound = number_or_nan(check["bound"]);
  one.share = number_or_nan(check["share"]);
  one.element = check["element"].number;
  one.rank = rank;
  const auto same = [&](const CheckedKind& k) { return k.name == one.name && k.site == one.site; };
  auto known = std::ranges::find_if(run.kinds, same);
  if (known == run.kinds.end()) known = run.kinds.insert(known, one);
  one.calls = known->calls + check["calls"].number;
  one.over = known->over + check["calls_over_bound"].number;
  if (weight(one) > weight(*known)) *known = one;
  known->calls = one.calls;
  known->over = one.over;
  run.checked_calls += check["calls"].number;
  run.calls_over += check["calls_over_bound"].number;
}

// Adds the report of one rank.
void add(const Json& report, CheckedRun& run) {
  run.ranks = std::max(run.ranks, static_cast<int>(report["ranks"].number));
  ++run.reports;
  run.finished += report["finished"].number != 0;
  double nanoseconds = 0;
  for (const Json& communicator : report["communicators"].items)
    for (const Json& kind : communicator["kinds"].items) {
      add(kind, static_cast<int>(report["rank"].number), run);
      nanoseconds += kind["check"]["nanoseconds"].number;
    }
  if (nanoseconds * 1e-9 < run.check_seconds) return;
  run.check_seconds = nanoseconds * 1e-9;
  run.seconds = report["seconds"].number;
}

std::string line_of(const CheckedKind& kind) {
  const std::string bound = std::isnan(kind.bound) ? "none" : rounded(kind.bound, 3);
  const std::string error = std::isnan(kind.error) ? "infinite" : rounded(kind.error, 3);
  char text[columns + 1];
  std::snprintf(text, sizeof text, "%8s %8s %6s %4d %9.0f %5.0f  %s", error.c_str(), bound.c_str(),
                rounded(kind.share, 3).c_str(), kind.rank, kind.element, kind.calls, kind.name.c_str());
  std::string lines = std::string(text) + "\n";
  constexpr std::size_t most_of_site = columns - 10;
  if (!kind.site.empty()) lines += "      at " + kind.site.substr(0, most_of_site) + "\n";
  return lines;
}

std::string whole(double number) { return json::text(static_cast<std::uint64_t>(number)); }

std::string verdict(const CheckedRun& run) {
  if (run.finished < run.ranks || run.ranks == 0)
    return "no verdict: " + std::to_string(run.finished) + " of " + std::to_string(run.ranks) +
           " ranks wrote their last report\n";
  if (run.calls_over > 0) return whole(run.calls_over) + " checked calls broke their bound\n";
  if (run.checked_calls == 0) return "no call was compressed, so none was checked\n";
  return "every error is within its bound\n";
}

}  // namespace

int checked_one_in(const std::string& share) {
  int n = 1;
  const bool is_one = share.empty() || share == "1";
  const bool readable = is_one || (share.starts_with("1/") && read_number(share.substr(2), n));
  if (!readable || n < 1 || n > most_one_in)
    file::reject("--check: '" + share +
                 "' is no share of the calls; write --check for all, --check=1/16 for one in 16");
  return n;
}

ReportFolder::ReportFolder() : path_(std::filesystem::absolute("taut-check-" + std::to_string(getpid()))) {
  std::error_code error;
  std::filesystem::create_directory(path_, error);
  if (error)
    file::fail(path_.string() + ": cannot be made: " + error.message() +
               "; name a report file with --report");
}

ReportFolder::~ReportFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

ReportTimes report_times(const std::string& report) {
  ReportTimes times;
  for (const std::string& file : report_files(report)) {
    std::error_code error;
    times[file] = std::filesystem::last_write_time(file, error);
  }
  return times;
}

CheckedRun read_checks(const std::string& report, const ReportTimes& before) {
  CheckedRun run;
  for (const auto& [file, time] : report_times(report)) {
    const auto older = before.find(file);
    if (older == before.end() || older->second != time) add(read_report(file), run);
  }
  std::ranges::stable_sort(run.kinds, std::greater<>(), weight);
  return run;
}

std::string text_of(const CheckedRun& run) {
  std::string text = "check: " + whole(run.checked_calls) + " of " + whole(run.compressed_calls) +
                     " compressed calls of " + std::to_string(run.ranks) + " ranks checked, in " +
                     rounded(run.check_seconds, 2) + " of " + rounded(run.seconds, 2) + " s\n";
  if (!run.kinds.empty()) text += "   error    bound  share rank   element calls  kind of calls\n";
  for (const CheckedKind& kind : run.kinds) text += line_of(kind);
  return text + verdict(run);
}

}  // namespace taut::cli
