#include "cli/jobs/report_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "cli/jobs/json_reader.hpp"
#include "communication/comm/explain.hpp"
#include "compressor/file/coding.hpp"
#include "compressor/file/failure.hpp"
#include "compressor/file/files.hpp"

namespace taut::cli {
namespace {

constexpr std::uint64_t max_report_bytes = std::uint64_t{256} << 20;

// Collective, type, operator, ranks, least bytes, and the setting that is needed.
using Key = std::tuple<Collective, DType, Reduction, int, std::uint64_t, std::string>;
using Kinds = std::map<Key, SeenCalls>;

// Row of a report: calls of one kind on one communicator.
struct Row {
  const Json* kind;
  Key key;
  std::string communicator;  // "": unknown
  std::string site;
  double seconds;  // in plain MPI

  const std::vector<Json>& times() const { return (*kind)["plain_times"]["nanoseconds"].items; }
  std::size_t every() const {  // the times are those of every so many-th call
    return static_cast<std::size_t>(std::clamp((*kind)["plain_times"]["every"].number, 1.0, 0x1p60));
  }
};

const std::string of_messages = "TAUT_MESSAGES=1";

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

// Returns a row of a report; nothing for calls that no rule serves.
std::optional<Row> row_of(const Json& kind, int ranks, const std::string& needs,
                          const std::string& communicator) {
  const auto collective = collective_of(kind["collective"]);
  const auto type = find_dtype(kind["type"].text);
  if (!collective || !type || ranks < 2) return {};
  const auto least = static_cast<std::uint64_t>(std::clamp(kind["least_bytes"].number, 0.0, 0x1p60));
  const std::string& named = needs.empty() && *collective == Collective::send ? of_messages : needs;
  return Row{&kind,
             {*collective, *type, reduction_of(kind["operator"]), ranks, least, named},
             communicator,
             kind["site"].text,
             kind["nanoseconds"]["plain"].number * 1e-9};
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

// Adds the calls of one row of a report. Calls on communicators of the same size, and of different call
// sites, are counted together.
void add_row(const Row& row, Kinds& kinds) {
  const Json& kind = *row.kind;
  SeenCalls& seen = kinds[row.key];
  std::tie(seen.collective, seen.type, seen.op, seen.ranks, seen.least_bytes, seen.needs) = row.key;
  seen.untimed = !seen.needs.empty();
  seen.opaque |= seen.messages() && kind["plain"].text == taut::name_of(Fallback::type);
  seen.calls += kind["calls"].number;
  seen.message_bytes += kind["message_bytes"].number;
  for (const auto& [reason, calls] : kind["plain_calls"].members) seen.plain_calls += calls.number;
  seen.plain_seconds += row.seconds;
  const Json& samples = kind["compressibility"];
  add_samples(samples, seen);
  seen.packed |= samples["packed"].number > 0;
  seen.pickled |= samples["pickles"].number > 0;
  seen.varied |= samples["constant"].number < samples["samples"].number;
  seen.in_place |= samples["in_place"].number > 0;
}

// Merges the counts of two ranks for the same calls. `plain_seconds` is to show the speed of the link, and
// counts as in least_seconds().
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
  into.pickled |= from.pickled;
  into.opaque |= from.opaque;
  into.varied |= from.varied;
}

// Calls of one row on all ranks that report it: those of one collective at one call site, on one
// communicator.
struct RowOnRanks {
  std::vector<Row*> rows;

  // Returns true if the calls of the ranks have the same numbers, so that call i is the same on all of them.
  bool aligned() const {
    const auto calls = [](const Row* row) { return (*row->kind)["calls"].number; };
    const auto known = [](const Row* row) { return !row->times().empty(); };
    return std::ranges::all_of(rows, known) &&
           std::ranges::all_of(rows, [&](const Row* row) { return calls(row) == calls(rows[0]); });
  }
};

// Returns the time of each call whose time all ranks have kept. Of ranks that complete together, the one with
// the least time waited least for the others. In a collective with a root and in scans, a rank may complete
// early, and the greatest time counts.
std::vector<double> times_of_calls(const RowOnRanks& all, bool may_complete_early) {
  std::size_t every = 1;  // powers of two
  for (const Row* row : all.rows) every = std::max(every, row->every());
  std::vector<double> times;
  for (std::size_t call = 0;; call += every) {
    double time = 0;
    for (const Row* row : all.rows) {
      const std::size_t i = call / row->every();
      if (i >= row->times().size()) return times;
      const double mine = row->times()[i].number * 1e-9;
      time = row == all.rows[0] ? mine : may_complete_early ? std::max(time, mine) : std::min(time, mine);
    }
    if (time > 0) times.push_back(time);
  }
}

// Sets the seconds of each row to those of its calls without the waiting for late ranks: the number of calls
// times the median call, or the lower quartile where the time of a call may include a wait.
void leave_out_waits(RowOnRanks& all) {
  const Collective collective = std::get<Collective>(all.rows[0]->key);
  if (all.rows.size() < 2 || !all.aligned()) return;
  const bool early = may_complete_early(collective);
  std::vector<double> times = times_of_calls(all, early);
  if (times.empty()) return;
  const auto typical = times.begin() + static_cast<std::ptrdiff_t>(times.size() / (early ? 4 : 2));
  std::ranges::nth_element(times, typical);
  for (Row* const row : all.rows) {
    double calls = 0;
    for (const auto& [reason, number] : (*row->kind)["plain_calls"].members) calls += number.number;
    row->seconds = calls * *typical;
  }
}

// Refuses reports of which no advice follows: of another version, or of calls that Taut has compressed.
void check(const std::string& file, const Json& report) {
  if (report["format"].text != "taut-report") fail(file + ": is no report of Taut; TAUT_REPORT writes one");
  if (report["version"].number != 2)
    fail(file + ": is a report of another version of Taut; run the program with this one");
  for (const Json& communicator : report["communicators"].items)
    if (communicator["compressed_calls"].number > 0)
      fail(file +
           ": is the report of a run whose calls were compressed; observe the program without TAUT_RULES, "
           "TAUT_CONFIG and policies: taut run --report FILE -- COMMAND");
}

// Refuses a second report that is not of the same run as the first, or is of the same rank.
void check_same_run(const std::string& file, const Json& report, const std::string& first_file,
                    const Json& first) {
  const bool same =
      report["ranks"].number == first["ranks"].number && report["run"].text == first["run"].text;
  if (!same || report["rank"].number == first["rank"].number)
    fail(file + ": is not of the same run as " + first_file +
         "; remove the files of older runs, or give each run a name of its own");
}

void read_counts(const Json& report, SeenProgram& program) {
  program.ranks = static_cast<int>(std::clamp(report["ranks"].number, 1.0, 1e9));
  program.seconds = std::max(program.seconds, report["seconds"].number);
  program.nonblocking |= report["nonblocking"].number != 0;
  ++program.files;
  const Json& finished = report["finished"];  // which earlier versions wrote at the end alone
  program.finished += finished.is_null() || finished.number != 0 ? 1 : 0;
  for (const auto& [name, calls] : report["unserved_calls"].members)
    program.unserved[name] = std::max(program.unserved[name], calls.number);
}

// Returns the rows of a report. `communicator` of a row: the group of ranks, and the number of the
// communicator among those of the group; the same on all ranks.
std::vector<Row> rows_of(const Json& report) {
  std::vector<Row> rows;
  std::map<std::string, int> of_group;
  for (const Json& communicator : report["communicators"].items) {
    const int ranks = static_cast<int>(std::clamp(communicator["ranks"].number, 0.0, 1e9));
    const std::string& group = communicator["group"].text;
    const std::string name = group.empty() ? "" : group + "." + std::to_string(of_group[group]++);
    for (const Json& kind : communicator["kinds"].items)
      if (auto row = row_of(kind, ranks, communicator["needs"].text, name)) rows.push_back(std::move(*row));
  }
  return rows;
}

struct Reports {
  std::vector<std::string> files;
  std::vector<Json> contents;
};

Reports read_files(const std::vector<std::string>& names) {
  Reports all;
  for (const std::string& name : names)
    for (const std::string& file : files_of(name)) {
      all.contents.push_back(read_json(file, contents(file)));
      all.files.push_back(file);
      check(file, all.contents.back());
      if (all.files.size() > 1) check_same_run(file, all.contents.back(), all.files[0], all.contents[0]);
    }
  return all;
}

}  // namespace

SeenProgram read_reports(const std::vector<std::string>& names) {
  SeenProgram program;
  const Reports reports = read_files(names);
  std::vector<std::vector<Row>> rows;
  for (const Json& report : reports.contents) {
    read_counts(report, program);
    rows.push_back(rows_of(report));
  }
  std::map<std::tuple<Key, std::string, std::string>, RowOnRanks> same;
  for (std::vector<Row>& of_rank : rows)
    for (Row& row : of_rank)
      if (!row.communicator.empty()) same[{row.key, row.communicator, row.site}].rows.push_back(&row);
  for (auto& [key, all] : same) leave_out_waits(all);
  Kinds all;
  for (const std::vector<Row>& of_rank : rows) {
    Kinds kinds;
    for (const Row& row : of_rank) add_row(row, kinds);
    for (const auto& [key, seen] : kinds) {
      const auto [found, added] = all.try_emplace(key, seen);
      if (!added) merge(seen, found->second);
    }
  }
  for (auto& [key, seen] : all) program.kinds.push_back(seen);
  return program;
}

}  // namespace taut::cli
