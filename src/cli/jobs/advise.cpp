// taut advise: estimates the gain of rules from the reports of a run.
#include <algorithm>
#include <cstdio>

#include "cli/command.hpp"
#include "cli/input.hpp"
#include "cli/jobs/advice.hpp"
#include "cli/jobs/calculation.hpp"
#include "communication/comm/explain.hpp"
#include "communication/policy/plan/policy.hpp"
#include "compressor/base/json.hpp"

namespace taut::cli {
namespace {

constexpr Option options[] = {
    {"bound", 'b', "BOUND", "any bound that taut run takes, with options (default rel:1e-4)"},
    {"link", 'l', "RATE",
     "of each node, all its adapters together, as 1gbit, 25gbit or 3GB\n(bytes) a second (default: what the "
     "plain calls of the run show)"},
    {"nodes", 'n', "N",
     "as if on N nodes, messages of the same size\n(default: those of the run; 16 with --calc)"},
    {"ranks-per-node", 'L', "L",
     "ranks that share a node and its link (default: as in the run; 1 with --calc)"},
    {"memory", 'm', "RATE", "that the ranks of a node share, as STREAM measures it (default: 300GB)"},
    {"calc", 0, "", "forecasts one call instead, at speeds measured here; the options below are for it"},
    {"call", 0, "NAME", "of the collective (default allreduce)"},
    {"size", 0, "SIZE", "of the whole message, as 64MiB (default 16MiB)"},
    {"ratio", 0, "R", "of values to frames (default: that of the values)"},
    {"threads", 0, "A,B", "threads of a frame (default: 1, 2, 4 ... to the cores of this process)"},
    dtype_option,
    shape_option,
};

constexpr const char* details =
    "Run the program with TAUT_REPORT=report.json; without rules that changes nothing of its results. REPORT "
    "is that\n"
    "name, which stands for the files of all ranks. Forecasts are by bytes over the link, the codec's "
    "measured pace and the\n"
    "agreement; coding and transfer are not taken to overlap. Example:\n"
    "taut advise report.json --bound rel:1e-3 --link 25gbit --nodes 64\n\n"
    "With --calc no report is read: codecs are timed on the values of FILE (as for taut compress; default: "
    "waves with\n"
    "noise), and the call is forecast as the library would code it. Example:\n"
    "taut advise --calc wave.f32 --link 100gbit --nodes 64 --size 64MiB\n\n";

// Parses a bandwidth such as 25gbit or 3GB, and returns bytes a second.
double rate_of(const std::string& option, const std::string& text) {
  constexpr struct {
    std::string_view suffix;
    double bytes;
  } units[] = {{"gbit", 1e9 / 8}, {"mbit", 1e6 / 8}, {"GB", 1e9}, {"MB", 1e6}};
  for (const auto& unit : units)
    if (text.ends_with(unit.suffix))
      return unit.bytes * positive_number(option, text.substr(0, text.size() - unit.suffix.size()));
  reject("--" + option + ": '" + text + "' is no rate; give one such as 1gbit, 25gbit or 3GB");
}

Policy policy_of(const Arguments& arguments) {
  try {
    Policy policy = parse_policy(arguments.value("bound").value_or(taut::text_of(AskedBound().bound)));
    if (!policy.off) return policy;
  } catch (const Error& error) {
    reject(std::string("--bound: ") + error.what());
  }
  reject("--bound: off compresses nothing; give a bound such as rel:1e-4");
}

// Returns the bound and the options as they were given.
std::string text_of(const Policy& policy) {
  const std::size_t comma = policy.text.find(',');
  return taut::text_of(policy.coding.bound) + (comma == std::string::npos ? "" : policy.text.substr(comma));
}

// Returns the whole number that an option asks for; nothing if the option is not given.
std::optional<int> number_of(const Arguments& arguments, const std::string& option, int least, int most) {
  const auto text = arguments.value(option);
  if (!text) return {};
  const double n = positive_number(option, *text);
  if (n < least || n > most || n != static_cast<int>(n))
    reject("--" + option + ": give a whole number from " + std::to_string(least) + " to " +
           std::to_string(most));
  return static_cast<int>(n);
}
std::optional<int> nodes_of(const Arguments& arguments) {
  return number_of(arguments, "nodes", 2, 1'000'000);
}
std::optional<int> ranks_a_node_of(const Arguments& arguments) {
  return number_of(arguments, "ranks-per-node", 1, 1024);
}

NodeMemory memory_of(const Arguments& arguments) {
  NodeMemory memory;
  if (const auto rate = arguments.value("memory")) memory.bandwidth = rate_of("memory", *rate);
  return memory;
}

Circumstances circumstances_of(const Arguments& arguments, const SeenProgram& program) {
  Circumstances asked;
  const Policy policy = policy_of(arguments);
  asked.asked = {policy.coding.bound, policy.on == Policy::On::input, policy.coding.codec != nullptr,
                 policy.history > 0};
  if (const auto link = arguments.value("link")) asked.link = rate_of("link", *link);
  asked.ranks_a_node = ranks_a_node_of(arguments).value_or(program.ranks_a_node);
  if (program.ranks % asked.ranks_a_node != 0 && !arguments.has("nodes"))
    reject("--ranks-per-node: the " + std::to_string(program.ranks) +
           " ranks of the run do not fill such nodes; add --nodes");
  if (const auto nodes = nodes_of(arguments)) asked.ranks = *nodes * asked.ranks_a_node;
  asked.memory = memory_of(arguments);
  return asked;
}

std::string kind_text(const SeenCalls& seen) {
  std::string text = std::string(name_of(seen.collective)).append(" ").append(name_of(seen.type));
  if (seen.op != Reduction{}) text.append(" ").append(name_of(seen.op));
  return text.append(" ").append(size_text(seen.least_bytes));
}

const char* remark(const Outlook& one) noexcept {
  if (one.seen.constant()) return "  all values equal: a real program's data will not compress like this";
  if (one.seen.packed) return one.gains() ? "  packed integers: lossless" : "  packed integers";
  if (one.gains() && (one.seen.in_place || one.seen.collective == Collective::bcast))
    return "  copies stay equal: lossless";
  if (!one.seen.needs.empty() && one.gains())
    return one.seen.messages() ? "  with TAUT_MESSAGES=1" : "  with TAUT_NONBLOCKING=1";
  return one.gains() ? "" : one.loses() ? "  would lose" : "  not worth it";
}

// Returns the call site in words; "" if calls like these have one site only.
std::string site_text(const std::vector<Outlook>& all, const SeenCalls& seen) {
  const bool several = std::ranges::any_of(all, [&](const Outlook& other) {
    return other.seen.site != seen.site && of_one_family(other.seen, seen);
  });
  return several ? "  at " + seen.site : "";
}

void print_table(const std::vector<Outlook>& all) {
  constexpr std::size_t most_rows = 20;
  std::printf("%-30s %8s %9s %8s %10s %10s %7s\n", "kind of call", "ranks", "calls", "ratio", "plain, s",
              "Taut, s", "gain");
  for (const Outlook& one : std::span(all).first(std::min(most_rows, all.size())))
    std::printf("%-30s %8d %9.0f %8s %10s %10s %6sx%s%s\n", kind_text(one.seen).c_str(), one.seen.ranks,
                one.seen.calls, one.known() ? rounded(one.ratio, 3).c_str() : "-",
                rounded(one.plain_seconds, 3).c_str(), rounded(one.coded_seconds, 3).c_str(),
                rounded(one.gain(), 3).c_str(), remark(one), site_text(all, one.seen).c_str());
  if (all.size() > most_rows) std::printf("and %zu kinds more\n", all.size() - most_rows);
}

void print_other_bounds(const SeenProgram& program, Circumstances circumstances) {
  std::string text;
  for (std::size_t i = 0; i < Compressibility::bounds; ++i) {
    const bool exact = i + 1 == Compressibility::bounds;
    circumstances.asked.bound = exact ? Bound() : Bound{Bound::Kind::range, Compressibility::relative[i]};
    const std::vector<Outlook> all = outlooks(program, circumstances);
    if (all.empty()) continue;
    text.append(text.empty() ? "" : ", ").append(taut::text_of(circumstances.asked.bound)).append(" ");
    text.append(rounded(seconds_plain(all) / seconds_with_rules(all), 3)).append("x");
  }
  std::printf("\nall of these calls, by bound: %s\n", text.c_str());
}

const char* explanation_of(const AskedBound& asked) noexcept {
  switch (asked.bound.kind) {
    case Bound::Kind::exact: return ": sums are left to MPI";
    case Bound::Kind::pointwise:
      return " of each value: not sampled, so forecast as without loss, which gains less; sums are left to "
             "MPI";
    case Bound::Kind::rate: return " bits a value, without a bound on the error";
    case Bound::Kind::range:
      return asked.on_input ? " of the range of the values, on the input"
                            : " of the range of the values, on the result";
    default: return asked.on_input ? ", on the input" : ", on the result";
  }
}

void print_link(const SeenProgram& program, const Circumstances& circumstances) {
  const double link = circumstances.link.value_or(link_seen(program, program.ranks_a_node));
  const std::string rate = rounded(link / 1e9, 3) + " GB/s";
  std::printf("%d ranks, %zu of them reported; link %s", program.ranks, program.files,
              circumstances.link ? (rate + " (as given)").c_str()
              : link > 0         ? (rate + " (as plain calls show)").c_str()
                                 : "not known");
  const int ranks_a_node = circumstances.ranks_a_node;
  if (circumstances.ranks) std::printf("; as if on %d nodes", *circumstances.ranks / ranks_a_node);
  if (ranks_a_node > 1) std::printf("; %d ranks a node", ranks_a_node);
  std::printf("\nbound %s%s\n\n", taut::text_of(circumstances.asked.bound).c_str(),
              explanation_of(circumstances.asked));
  if (program.shared_processors())
    std::printf(
        "A rank waited for a processor for %s %% of the run: the ranks, or other programs, shared the "
        "cores.\n"
        "Times of plain calls contain such waits, and may be taken for a slow link. Observe the program "
        "again\n"
        "with a core for each rank before you believe the forecasts.\n\n",
        rounded(100 * program.processor_wait, 2).c_str());
  if (program.finished < program.files)
    std::printf("%zu reports were written while the program ran: the rest of its calls is unknown\n\n",
                program.files - program.finished);
}

void print_unserved(const SeenProgram& program) {
  if (program.unserved.empty()) return;
  std::string names;
  for (const auto& [name, calls] : program.unserved)
    names.append(names.empty() ? "" : ", ").append(name).append(" (").append(rounded(calls, 9)).append(")");
  std::printf("not served by Taut, and left as they are, with calls of the rank that made most: %s\n\n",
              names.c_str());
}

constexpr const char* no_samples_text =
    "Nothing to advise on: no call of 4 KiB or more on two ranks was sampled.";
constexpr const char* no_link_text =
    "Messages or nonblocking calls were sampled, but they are not timed, and no blocking collective call of\n"
    "256 KiB or more shows what the link carries. Give it: --link 1gbit";
constexpr const char* untimed_messages_note =
    "\nMessages (send) are not timed: theirs is the time of their bytes on that link, as if all went\n"
    "to other nodes. In shared memory nothing is gained.";
constexpr const char* untimed_nonblocking_note =
    "\nNonblocking and persistent calls are not timed: theirs is the time of their bytes on that link, as\n"
    "if the program computed nothing meanwhile.";
constexpr const char* pickles_note =
    "\nBytes (u8) of some of these calls are objects that Python has pickled, which hardly compress. Use\n"
    "mpi4py's upper-case calls (Bcast, Gather, Send) for arrays: they pass values, which rules serve.";

bool sampled_untimed(const SeenCalls& seen) noexcept {
  return seen.untimed && !seen.opaque && seen.sampled();
}

Exit print_no_advice(const SeenProgram& program) {
  std::puts(std::ranges::any_of(program.kinds, sampled_untimed) ? no_link_text : no_samples_text);
  if (std::ranges::any_of(program.kinds, &SeenCalls::pickled)) std::puts(pickles_note);
  return Exit::ok;
}

// Prints why lossless coding is proposed for calls of floating-point types: their values may be packed
// integers.
void print_packed(const std::vector<Outlook>& all) {
  std::vector<const SeenCalls*> printed;
  for (const Outlook& one : all) {
    const bool known =
        std::ranges::any_of(printed, [&](const SeenCalls* other) { return alike(*other, one.seen); });
    const bool packed = std::ranges::any_of(
        all, [&](const Outlook& other) { return other.seen.packed && alike(other.seen, one.seen); });
    if (known || !packed || info_of(one.seen.type).family == Family::integer) continue;
    printed.push_back(&one.seen);
    std::printf(
        "\n%s %s: values of some of these calls are integers packed bit by bit (tags, types); a bound would\n"
        "ruin them, so no loss is proposed for any (\"What a bound must not touch\" in the documentation).\n",
        name_of(one.seen.collective), name_of(one.seen.type));
  }
}

// Prints which calls gain by a history.
void print_histories(const std::vector<Outlook>& all) {
  for (const Outlook& one : all) {
    if (!one.gains() || (one.ratio_alone == 0 && one.absolute_gain == 0)) continue;
    std::printf("\n%s resembles earlier calls: ", kind_text(one.seen).c_str());
    if (one.ratio_alone > 0)
      std::printf("history= makes frames %s times smaller\n", rounded(one.history_gain(), 2).c_str());
    else
      std::printf("abs:%s history=auto, a bound that stays, would\nmake frames %s times smaller\n",
                  rounded(one.absolute_bound, 2).c_str(), rounded(one.absolute_gain, 2).c_str());
  }
}

// Prints remarks on kinds of calls that the table cannot show.
void print_remarks(const SeenProgram& program, const std::vector<Outlook>& all) {
  const auto any = [&](auto test) {
    return std::ranges::any_of(all, [&](const Outlook& one) { return test(one.seen); });
  };
  if (any([](const SeenCalls& seen) { return seen.messages(); })) std::puts(untimed_messages_note);
  if (any([](const SeenCalls& seen) { return seen.untimed && !seen.messages(); }))
    std::puts(untimed_nonblocking_note);
  if (std::ranges::any_of(program.kinds, &SeenCalls::pickled)) std::puts(pickles_note);
  print_packed(all);
  print_histories(all);
}

// Times of the observed run, from which the run time under other circumstances is forecast.
struct RunTime {
  double run = 0;          // seconds of the whole run; 0: unknown
  double timed_calls = 0;  // seconds in timed calls of the run, without waits
  bool as_it_ran = true;   // the forecast is for the link and the ranks of the run itself
  bool all_timed = true;   // all calls are timed, and no time contains waits for a processor
};

// Returns the saving as a share of the run, in words; "" if it is unknown: under other circumstances the run
// itself takes another time, and untimed calls take an unknown share of it.
std::string share_text(const std::vector<Outlook>& all, const RunTime& time) {
  const double saved = seconds_plain(all) - seconds_with_rules(all);
  if (!time.as_it_ran || !time.all_timed || !(time.run > 0) || saved > time.run) return "";
  return " (" + rounded(100 * saved / time.run, 2) + " % of the run's " + rounded(time.run, 3) + " s)";
}

// Returns the time that the run would take under these circumstances, in words; "" if it is unknown. It is
// the time of the calls and that of the other work.
std::string run_text(const std::vector<Outlook>& all, const RunTime& time) {
  if (time.as_it_ran || !time.all_timed || !(time.run > 0)) return "";
  const double rest = std::max(time.run - time.timed_calls, 0.0);
  return ".\nOn such a link the run would take " + rounded(rest + seconds_with_rules(all), 3) +
         " s instead of " + rounded(rest + seconds_plain(all), 3) + " s";
}

RunTime run_time_of(const SeenProgram& program, const std::vector<Outlook>& all,
                    const Circumstances& circumstances) {
  RunTime time{.run = program.seconds,
               .as_it_ran = circumstances.as_it_ran(program),
               .all_timed = !program.shared_processors()};
  for (const Outlook& one : all) {
    time.all_timed &= !one.seen.untimed;
    if (!one.seen.untimed && one.seen.plain_calls > 0)
      time.timed_calls += one.seen.calls * one.seen.plain_seconds / one.seen.plain_calls;
  }
  return time;
}

void print_settings(Settings settings, const SeenProgram& program, const std::vector<Outlook>& all,
                    const Circumstances& circumstances) {
  const double plain = seconds_plain(all), with_rules = seconds_with_rules(all);
  const RunTime time = run_time_of(program, all, circumstances);
  std::printf("\n%s s of plain MPI would become %s s, %s times less%s, by these rules%s:\n\n",
              rounded(plain, 3).c_str(), rounded(with_rules, 3).c_str(),
              rounded(plain / with_rules, 3).c_str(), share_text(all, time).c_str(),
              run_text(all, time).c_str());
  if (program.nonblocking) settings.needs.insert("TAUT_NONBLOCKING=1");
  for (const std::string& setting : settings.needs) std::printf("export %s\n", setting.c_str());
  std::printf("export TAUT_RULES=\"%s\"\n", settings.rules.c_str());
}

Exit calculate(const Arguments& arguments) {
  const auto link = arguments.value("link");
  if (!link) reject("--calc: needs the rate of the link; give --link 100gbit, for instance");
  const CalculatedNodes nodes{nodes_of(arguments).value_or(16), ranks_a_node_of(arguments).value_or(1),
                              rate_of("link", *link), memory_of(arguments)};
  return calculate(arguments, policy_of(arguments), nodes);
}

Exit run(const Arguments& arguments) {
  if (arguments.has("calc")) return calculate(arguments);
  for (const std::string_view option : {"call", "size", "ratio", "threads", "dtype", "shape"})
    if (arguments.has(option)) reject("--" + std::string(option) + ": is for --calc only");
  if (arguments.names().empty()) reject("REPORT is missing; --help shows the arguments");
  const SeenProgram program = read_reports(arguments.names());
  const Circumstances circumstances = circumstances_of(arguments, program);
  const std::vector<Outlook> all = outlooks(program, circumstances);
  print_link(program, circumstances);
  print_unserved(program);
  if (all.empty()) return print_no_advice(program);
  print_table(all);
  print_other_bounds(program, circumstances);
  print_remarks(program, all);
  const Settings settings = settings_for(all, text_of(policy_of(arguments)));
  if (settings.rules.empty())
    std::puts("\nNo rule would gain anything here; plain MPI is as fast.");
  else
    print_settings(settings, program, all, circumstances);
  return Exit::ok;
}

}  // namespace

extern constinit const Command advise_command{
    "advise",
    "which rules would gain how much, from the reports of a run",
    "REPORT... | --calc [FILE] [--bound BOUND] [--link RATE] [--nodes N]",
    details,
    options,
    run};

}  // namespace taut::cli
