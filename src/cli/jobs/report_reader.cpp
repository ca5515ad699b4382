#include "cli/jobs/report_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "cli/jobs/json_reader.hpp"
#include "communication/comm/explain.hpp"
#include "compressor/file/coding.hpp"
#include "compressor/file/failure.hpp"
#include "compressor/file/files.hpp"

namespace taut::cli {
namespace {

constexpr std::uint64_t max_report_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t short_bytes = 64 << 10;  // smaller messages take negligible time on a link

// Collective, type, operator, ranks, least bytes, and the setting that is needed.
using Key = std::tuple<Collective, DType, Reduction, int, std::uint64_t, std::string>;
using Kinds = std::map<std::pair<Key, std::string>, SeenCalls>;  // by key and call site

// Row of a report: calls of one kind on one communicator.
struct Row {
  const Json* kind;
  Key key;
  std::string communicator;  // "": unknown
  std::string site;
  double seconds;   // time in plain MPI
  double lead = 0;  // seconds for which a rank waited here for longer calls before, which other ranks were in

  const std::vector<Json>& times() const { return (*kind)["plain_times"]["nanoseconds"].items; }
  const std::vector<Json>& gaps() const { return (*kind)["plain_times"]["gaps"].items; }
  std::size_t interval() const {  // times[i] is that of call i * interval()
    return static_cast<std::size_t>(std::clamp((*kind)["plain_times"]["every"].number, 1.0, 0x1p60));
  }
};

const std::string of_messages = "TAUT_MESSAGES=1";

std::string contents(const std::string& name) {
  const file::InputFile file(name);
  if (file.size() > max_report_bytes) file::fail(name + ": exceeds 256 MiB, the greatest size of a report");
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

std::vector<std::string> files_of(const std::string& name) {
  std::vector<std::string> files = report_files(name);
  if (files.empty())
    file::fail(name + ": there is no such report, nor " + name +
               ".0; run the program with TAUT_REPORT=" + name);
  return files;
}

std::optional<Collective> collective_of(const Json& name) noexcept {
  for (const Collective collective : all_collectives)
    if (name.text == taut::name_of(collective)) return collective;
  if (name.text == taut::name_of(Collective::send)) return Collective::send;
  return std::nullopt;
}

// Returns the operator of a name; Reduction{}, which is no operator, for other names.
Reduction reduction_of(const Json& name) noexcept {
  for (const Reduction op : {Reduction::sum, Reduction::min, Reduction::max})
    if (name.text == taut::name_of(op)) return op;
  return Reduction{};
}

// Returns a row of a report; nothing for calls that no rule serves.
std::optional<Row> row_of(const Json& kind, int ranks, const std::string& needs,
                          const std::string& communicator) {
  const auto collective = collective_of(kind["collective"]);
  const auto type = file::find_dtype(kind["type"].text);
  if (!collective || !type || ranks < 2) return {};
  const auto least = static_cast<std::uint64_t>(std::clamp(kind["least_bytes"].number, 0.0, 0x1p60));
  const std::string& named = needs.empty() && *collective == Collective::send ? of_messages : needs;
  return Row{&kind,
             {*collective, *type, reduction_of(kind["operator"]), ranks, least, named},
             communicator,
             kind["site"].text,
             kind["nanoseconds"]["plain"].number * 1e-9};
}

// Returns the index in Compressibility::relative of the bound of a sample; the last index: without loss.
std::size_t bound_of(const Json& sample) {
  for (std::size_t i = 0; i + 1 < Compressibility::bounds; ++i)
    if (sample["bound"].text == taut::text_of(Bound{Bound::Kind::range, Compressibility::relative[i]}))
      return i;
  return Compressibility::bounds - 1;
}

// Adds the ratio and the time of `bytes` bytes of calls to the means over `before` bytes.
void average(double before, double bytes, double ratio, double seconds, double& mean, double& mean_seconds) {
  if (mean == 0) before = 0;
  const double all = before + bytes, coded = before > 0 ? before / mean : 0;
  mean = all / (coded + bytes / ratio);
  mean_seconds += (1 - before / all) * (seconds - mean_seconds);
}

// Returns the sample of a history under a bound; null if there is none.
const Json* history_under(const Json& history, std::size_t bound) {
  for (const Json& one : history["bounds"].items)
    if (bound_of(one) == bound && one["alone_bytes"].number > 0 && one["referring_bytes"].number > 0)
      return &one;
  return nullptr;
}

// Adds the samples of calls with `bytes` bytes to `seen`, calls of the same rank: the range of the values,
// and the ratio and time at each bound, without and with a history, averaged over the bytes.
void add_samples(const Json& kind, double bytes, SeenCalls& seen) {
  const Json &samples = kind["compressibility"], &history = kind["history_would_give"];
  if (!samples["least"].is_null() && !samples["greatest"].is_null()) {
    seen.least = std::min(seen.least, samples["least"].number);
    seen.greatest = std::max(seen.greatest, samples["greatest"].number);
  }
  const double before = seen.message_bytes;
  bytes = std::max(bytes, 1.0);
  for (const Json& one : samples["bounds"].items) {
    const double values = one["value_bytes"].number, frames = one["frame_bytes"].number;
    if (!(values > 0 && frames > 0)) continue;
    const std::size_t i = bound_of(one);
    const double ratio = values / frames, seconds = one["nanoseconds"].number * 1e-9 / values;
    average(before, bytes, ratio, seconds, seen.ratios[i], seen.seconds_a_byte[i]);
    double gain = 1, referring = seconds;
    if (const Json* const sample = history_under(history, i)) {
      gain = std::max((*sample)["alone_bytes"].number / (*sample)["referring_bytes"].number, 1.0);
      if ((*sample)["value_bytes"].number > 0)
        referring =
            std::max(seconds, (*sample)["nanoseconds"].number * 1e-9 / (*sample)["value_bytes"].number);
    }
    average(before, bytes, gain * ratio, referring, seen.history_ratios[i], seen.history_seconds_a_byte[i]);
  }
  seen.period = std::max(seen.period, history["period"].number);
}

// Adds the calls of one row of a report. Calls on communicators of the same size are counted together.
void add_row(const Row& row, Kinds& kinds) {
  const Json& kind = *row.kind;
  SeenCalls& seen = kinds[{row.key, row.site}];
  seen.site = row.site;
  std::tie(seen.collective, seen.type, seen.op, seen.ranks, seen.least_bytes, seen.needs) = row.key;
  seen.untimed = !seen.needs.empty();
  seen.opaque |= seen.messages() && kind["plain"].text == taut::name_of(Fallback::type);
  const Json& samples = kind["compressibility"];
  const double bytes = kind["message_bytes"].number;
  add_samples(kind, bytes, seen);
  seen.calls += kind["calls"].number;
  seen.message_bytes += bytes;
  for (const auto& [reason, calls] : kind["plain_calls"].members) seen.plain_calls += calls.number;
  seen.plain_seconds += row.seconds;
  seen.packed |= samples["packed"].number > 0;
  seen.pickled |= samples["pickles"].number > 0;
  seen.varied |= samples["constant"].number < samples["samples"].number;
  seen.in_place |= samples["in_place"].number > 0;
}

// Merges the counts of two ranks for the same calls. `plain_seconds` shows the speed of the link, so that the
// least time counts unless ranks may complete early.
void merge(const SeenCalls& from, SeenCalls& into) {
  if (from.calls > into.calls) {
    into.calls = from.calls;
    into.message_bytes = from.message_bytes;
    into.plain_calls = from.plain_calls;
  }
  const bool takes_longest = may_complete_early(from.collective) || into.plain_seconds == 0;
  if (from.plain_seconds > 0)
    into.plain_seconds = takes_longest ? std::max(into.plain_seconds, from.plain_seconds)
                                       : std::min(into.plain_seconds, from.plain_seconds);
  const auto take_less = [](double value, double& least) {
    if (value > 0 && (least == 0 || value < least)) least = value;
  };
  for (std::size_t i = 0; i < Compressibility::bounds; ++i) {
    take_less(from.ratios[i], into.ratios[i]);
    take_less(from.history_ratios[i], into.history_ratios[i]);
    into.seconds_a_byte[i] = std::max(into.seconds_a_byte[i], from.seconds_a_byte[i]);
    into.history_seconds_a_byte[i] = std::max(into.history_seconds_a_byte[i], from.history_seconds_a_byte[i]);
  }
  into.period = std::max(into.period, from.period);
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

  // Returns true if all ranks made as many calls, so that call i is the same on all of them.
  bool aligned() const {
    const auto calls = [](const Row* row) { return (*row->kind)["calls"].number; };
    const auto known = [](const Row* row) { return !row->times().empty(); };
    return std::ranges::all_of(rows, known) &&
           std::ranges::all_of(rows, [&](const Row* row) { return calls(row) == calls(rows[0]); });
  }
  bool is_short() const noexcept { return std::get<std::uint64_t>(rows[0]->key) < short_bytes; }
};

// One call on all ranks.
class CallOnRanks {
 public:
  explicit CallOnRanks(bool may_complete_early) : may_complete_early_(may_complete_early) {}

  void add(double seconds, std::optional<double> gap) {
    ++ranks_;
    least_ = std::min(least_, seconds);
    most_ = std::max(most_, seconds);
    gaps_known_ &= gap.has_value();
    cycles_ += seconds + gap.value_or(0);
    longest_gap_ = std::max(longest_gap_, gap.value_or(0));
  }

  // Returns the time of the call without the wait for late ranks: the mean time since the end of the call
  // before, less the longest gap, in which the latest rank computed. If gaps are unknown, it is the time of
  // the rank that waited least. In collectives with a root and in scans a rank may complete early, and the
  // greatest time counts. A rank's lead may hide up to half of a call.
  double seconds() const {
    if (may_complete_early_) return most_;
    if (least_ == 0) return 0;  // not timed on some rank
    return gaps_known_ ? std::clamp(cycles_ / ranks_ - longest_gap_, least_ / 2, most_) : least_;
  }

  double least() const noexcept { return least_; }  // time of the rank that waited least

 private:
  bool may_complete_early_, gaps_known_ = true;
  double ranks_ = 0, cycles_ = 0, longest_gap_ = 0;
  double least_ = std::numeric_limits<double>::infinity(), most_ = 0;
};

// Returns the calls whose times all ranks have kept.
std::vector<CallOnRanks> calls_of(const RowOnRanks& all, bool may_complete_early) {
  std::size_t interval = 1;  // the largest, as all are powers of two
  for (const Row* row : all.rows) interval = std::max(interval, row->interval());
  std::vector<CallOnRanks> calls;
  for (std::size_t number = 0;; number += interval) {
    CallOnRanks call(may_complete_early);
    for (const Row* row : all.rows) {
      const std::size_t i = number / row->interval();
      if (i >= row->times().size()) return calls;
      const bool known = i < row->gaps().size() && !row->gaps()[i].is_null();
      call.add(row->times()[i].number * 1e-9,
               known ? std::optional(row->gaps()[i].number * 1e-9) : std::nullopt);
    }
    if (call.seconds() > 0) calls.push_back(call);
  }
}

double lower_quartile(std::vector<double> times) {
  const auto quartile = times.begin() + std::ssize(times) / 4;
  std::ranges::nth_element(times, quartile);
  return *quartile;
}

// Returns the mean of the middle half of the times.
double typical(std::vector<double> times) {
  std::ranges::sort(times);
  const std::size_t quarter = times.size() / 4;
  double sum = 0;
  for (std::size_t i = quarter; i < times.size() - quarter; ++i) sum += times[i];
  return sum / static_cast<double>(times.size() - 2 * quarter);
}

// Sets the seconds of each row to the number of calls times the typical time of a call without waits for late
// ranks; times the lower quartile if the time of a call may include a wait.
void subtract_waits(RowOnRanks& all) {
  const Collective collective = std::get<Collective>(all.rows[0]->key);
  if (all.rows.size() < 2 || !all.aligned()) return;
  const bool early = may_complete_early(collective);
  std::vector<CallOnRanks> calls = calls_of(all, early);
  if (calls.empty()) return;
  const auto typical_of = [&](auto seconds) {
    std::vector<double> times;
    std::ranges::transform(calls, std::back_inserter(times), std::mem_fn(seconds));
    return early ? lower_quartile(std::move(times)) : typical(std::move(times));
  };
  const double seconds = typical_of(&CallOnRanks::seconds);
  const double lead = early || !all.is_short() ? 0 : seconds - typical_of(&CallOnRanks::least);
  for (Row* const row : all.rows) {
    double count = 0;
    for (const auto& [reason, calls_of_reason] : (*row->kind)["plain_calls"].members)
      count += calls_of_reason.number;
    row->lead = count * std::max(lead, 0.0);
    row->seconds = count * seconds - row->lead;
  }
}

using RowsOnRanks = std::map<std::tuple<Key, std::string, std::string>, RowOnRanks>;  // by communicator, site

// Moves the leads that short calls saw to the long calls of the same communicator, in proportion to their
// times.
void move_leads(const RowsOnRanks& all) {
  std::map<std::string, double> leads, seconds;  // by communicator
  const auto is_long = [](const RowOnRanks& rows) {
    return !rows.is_short() && !may_complete_early(std::get<Collective>(rows.rows[0]->key));
  };
  for (const auto& [key, rows] : all) {
    leads[std::get<1>(key)] += rows.rows[0]->lead;
    if (is_long(rows)) seconds[std::get<1>(key)] += rows.rows[0]->seconds;
  }
  for (const auto& [key, rows] : all)
    if (is_long(rows) && seconds[std::get<1>(key)] > 0)
      for (Row* const row : rows.rows)
        row->seconds *= 1 + leads[std::get<1>(key)] / seconds[std::get<1>(key)];
}

// Refuses reports of calls that Taut has compressed, from which no advice follows.
void check(const std::string& file, const Json& report) {
  for (const Json& communicator : report["communicators"].items)
    if (communicator["compressed_calls"].number > 0)
      file::fail(
          file +
          ": is the report of a run whose calls were compressed; observe the program without TAUT_RULES, "
          "TAUT_CONFIG and policies: taut run --report FILE -- COMMAND");
}

// Refuses a second report that is not of the same run as the first, or is of the same rank.
void check_same_run(const std::string& file, const Json& report, const std::string& first_file,
                    const Json& first) {
  const bool same =
      report["ranks"].number == first["ranks"].number && report["run"].text == first["run"].text;
  if (!same || report["rank"].number == first["rank"].number)
    file::fail(file + ": is not of the same run as " + first_file +
               "; remove the files of older runs, or give each run a name of its own");
}

void read_counts(const Json& report, SeenProgram& program) {
  program.ranks = static_cast<int>(std::clamp(report["ranks"].number, 1.0, 1e9));
  program.seconds = std::max(program.seconds, report["seconds"].number);
  if (report["seconds"].number > 0)
    program.processor_wait =
        std::max(program.processor_wait, report["processor_wait"].number / report["seconds"].number);
  program.nonblocking |= report["nonblocking"].number != 0;
  ++program.files;
  const Json& finished =
      report["finished"];  // missing in reports of earlier versions, which were always complete
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
      all.contents.push_back(read_report(file));
      all.files.push_back(file);
      check(file, all.contents.back());
      if (all.files.size() > 1) check_same_run(file, all.contents.back(), all.files[0], all.contents[0]);
    }
  return all;
}

// Calls that one rule without a call site serves: collective, type and operator.
using Family = std::tuple<Collective, DType, Reduction>;

Family family_of(const Row& row) {
  return {std::get<Collective>(row.key), std::get<DType>(row.key), std::get<Reduction>(row.key)};
}

// Returns true if a rule can name the call site. Rules for messages cannot.
bool can_be_named(const Row& row) {
  constexpr const char* usual = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+:/@-";
  return !row.site.empty() && row.site.find_first_not_of(usual) == std::string::npos &&
         std::get<Collective>(row.key) != Collective::send;
}

// Clears the call sites of a family unless all of its calls have a site that a rule can name and that is the
// same on all ranks of the communicator.
void clear_sites(std::vector<std::vector<Row>>& rows) {
  std::map<std::tuple<Key, std::string, std::string>, std::set<std::size_t>> ranks_at;
  std::map<std::tuple<Key, std::string>, std::set<std::size_t>> ranks_of;
  for (std::size_t rank = 0; rank < rows.size(); ++rank)
    for (const Row& row : rows[rank]) {
      ranks_at[{row.key, row.communicator, row.site}].insert(rank);
      ranks_of[{row.key, row.communicator}].insert(rank);
    }
  std::set<Family> cleared;
  for (const std::vector<Row>& of_rank : rows)
    for (const Row& row : of_rank) {
      const bool on_all =
          ranks_at[{row.key, row.communicator, row.site}] == ranks_of[{row.key, row.communicator}];
      if (!can_be_named(row) || !on_all) cleared.insert(family_of(row));
    }
  for (std::vector<Row>& of_rank : rows)
    for (Row& row : of_rank)
      if (cleared.contains(family_of(row))) row.site.clear();
}

// Returns the number of ranks that each node has; 1 if a report is missing or has no node, or nodes differ.
int ranks_of_a_node(const std::vector<Json>& reports) {
  std::map<std::string, std::size_t> ranks_on;
  for (const Json& report : reports) ++ranks_on[report["node"].text];
  const std::size_t first = ranks_on.begin()->second;
  const bool equal = std::ranges::all_of(ranks_on, [&](const auto& node) { return node.second == first; });
  const bool complete = reports[0]["ranks"].number == static_cast<double>(reports.size());
  return equal && complete && ranks_on.size() > 1 && !ranks_on.contains("") ? static_cast<int>(first) : 1;
}

}  // namespace

std::vector<std::string> report_files(const std::string& name) {
  if (std::filesystem::exists(name)) return {name};
  std::vector<std::string> files;
  for (int rank = 0; std::filesystem::exists(name + "." + std::to_string(rank)); ++rank)
    files.push_back(name + "." + std::to_string(rank));
  return files;
}

Json read_report(const std::string& file) {
  Json report = read_json(file, contents(file));
  if (report["format"].text != "taut-report")
    file::fail(file + ": is no report of Taut; TAUT_REPORT writes one");
  if (report["version"].number != 2)
    file::fail(file + ": is a report of another version of Taut; run the program with this one");
  return report;
}

SeenProgram read_reports(const std::vector<std::string>& names) {
  SeenProgram program;
  const Reports reports = read_files(names);
  if (!reports.contents.empty()) program.ranks_a_node = ranks_of_a_node(reports.contents);
  std::vector<std::vector<Row>> rows;
  for (const Json& report : reports.contents) {
    read_counts(report, program);
    rows.push_back(rows_of(report));
  }
  RowsOnRanks same;
  for (std::vector<Row>& of_rank : rows)
    for (Row& row : of_rank)
      if (!row.communicator.empty()) same[{row.key, row.communicator, row.site}].rows.push_back(&row);
  for (auto& [key, all] : same) subtract_waits(all);
  move_leads(same);
  clear_sites(rows);
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
