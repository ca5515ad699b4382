// taut run: runs an unmodified program with Taut.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/command.hpp"
#include "cli/jobs/check.hpp"
#include "cli/jobs/environment.hpp"
#include "cli/jobs/installed_mpi.hpp"
#include "cli/jobs/launcher.hpp"
#include "communication/policy/plan/rules.hpp"
#include "compressor/base/options.hpp"

namespace taut::cli {
namespace {

constexpr Option options[] = {
    {"rules", 'r', "RULES", "which calls to compress, and how; TAUT_RULES"},
    {"bound", 'b', "BOUND", "one rule for all calls: abs:1e-4, rel:1e-3, lossless, with options of policies"},
    {"config", 'c', "FILE", "rules in a TOML file; TAUT_CONFIG"},
    {"report", 0, "FILE", "statistics of each rank, for taut advise; TAUT_REPORT"},
    {"trace", 0, "FILE", "the last events of each rank; TAUT_TRACE"},
    {"summary", 0, "", "a table of rank 0 at the end; TAUT_SUMMARY"},
    {"check", 0, "[=1/N]",
     "make one in N served calls plainly as well, and print the greatest errors; TAUT_CHECK"},
    {"messages", 0, "", "serve messages (send, receive) as well; TAUT_MESSAGES"},
    {"nonblocking", 0, "", "serve nonblocking and persistent collective calls as well; TAUT_NONBLOCKING"},
    {"print", 0, "", "print what would be executed, as a line for a shell"},
};

constexpr const char* details =
    "Preloads libtaut_preload.so into the ranks of COMMAND, a launcher (mpiexec or mpirun of MPICH, Intel "
    "MPI and Open\n"
    "MPI, srun, jsrun) with its arguments, or a program. Calls of NCCL are served as well (torchrun). "
    "Without "
    "rules\n"
    "nothing is compressed: with --report that is what to begin with. A TAUT_* variable that is set "
    "already holds "
    "unless an\n"
    "option replaces it. Example:\n"
    "taut run --rules 'Allreduce f32 >=1MiB : abs:1e-4' -- mpiexec -n 4 ./app\n\n"
    "--check makes each compressed call a second time by plain MPI, on private copies, and compares the "
    "results:\n"
    "the program sees those of Taut. At the end a table on stderr names the greatest error of each kind of "
    "call and\n"
    "call site. The exit status is 1 if a value broke its bound. The calls take two to three times as long, "
    "and "
    "memory\n"
    "for a copy of each result; --check=1/16 checks one call in 16. Messages are checked at their sender. "
    "Not "
    "checked:\n"
    "calls of NCCL, calls started on a stream, values in GPU memory. The reports of the ranks are read here: "
    "name a\n"
    "file on a file system that all nodes share with --report, or start in such a folder.\n\n";

std::string rules_of(const Arguments& arguments) {
  const auto rules = arguments.value("rules"), bound = arguments.value("bound");
  if (rules && bound)
    reject("--rules and --bound exclude each other; add '; * : " + *bound + "' to the rules");
  if (bound) return "* : " + *bound;
  return rules.value_or(taut::options().rules);
}

// Returns all variables in force: launchers that pass variables by name have to name them.
Variables variables_of(const Arguments& arguments, const std::string& report) {
  Variables all;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) all.emplace_back(name, value);
  };
  add("TAUT_RULES", rules_of(arguments));
  const auto add_file = [&](const char* name, std::string_view option, const std::string& set_already) {
    const std::string file = arguments.value(option).value_or(set_already);
    add(name, file.empty() ? "" : std::filesystem::absolute(file).string());  // ranks may start elsewhere
  };
  add_file("TAUT_CONFIG", "config", taut::options().config);
  add_file("TAUT_REPORT", "report", report);
  add_file("TAUT_TRACE", "trace", taut::options().trace);
  if (const auto share = arguments.value("check")) add("TAUT_CHECK", std::to_string(checked_one_in(*share)));
  const auto add_switch = [&](const char* name, std::string_view option) {
    add(name, arguments.has(option) ? "1" : variable(name));
  };
  add_switch("TAUT_SUMMARY", "summary");
  add_switch("TAUT_MESSAGES", "messages");
  add_switch("TAUT_NONBLOCKING", "nonblocking");
  for (const OptionInfo& option : known_options()) {
    const std::string name = option.name;
    const bool handed = std::ranges::any_of(all, [&](const auto& one) { return one.first == name; });
    if (!handed && name != "TAUT_PRELOAD") add(option.name, variable(name));
  }
  return all;
}

// Returns true if the word is a program that AddressSanitizer was built into. Such a program ends at once
// where any library is preloaded, unless it is told to start.
bool has_asan(const std::string& word) {
  const auto file = find_program(word);
  std::error_code error;
  if (!file || !std::filesystem::is_regular_file(*file, error)) return false;
  std::string all(std::filesystem::file_size(*file, error), '\0');
  std::ifstream(*file, std::ios::binary).read(all.data(), static_cast<std::streamsize>(all.size()));
  return std::string_view(all).starts_with("\177ELF") && all.find("__asan_init") != std::string::npos;
}

// Tells programs with AddressSanitizer to start with a library before its own.
void let_asan_start(const std::vector<std::string>& command, Variables& variables) {
  if (std::ranges::none_of(command, has_asan)) return;
  const std::string own = variable("ASAN_OPTIONS");
  variables.emplace_back("ASAN_OPTIONS", "verify_asan_link_order=0" + (own.empty() ? "" : ":" + own));
}

std::string value_in(const Variables& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Variables::value_type::first);
  return found == all.end() ? "" : found->second;
}

// Returns the launcher of a program. mpiexec and mpirun name their MPI in --version; otherwise the program is
// assumed to pass all variables on.
Launcher find_launcher(const std::string& program) {
  const auto file = find_program(program);
  if (!file) fail(program + ": there is no such program; check its name and PATH");
  return is_mpiexec(program) ? kind_of_launcher(*file) : launcher_of(program);
}

// Warns of a program of another MPI than the launcher's: the first word behind it that is a program of some
// MPI.
void warn_of_other_mpi(Launcher kind, const std::vector<std::string>& command) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    const auto file = find_program(command[i]);
    if (!file || !mpi_of_program(*file)) continue;
    const std::string told = launcher_mismatch(command[0], kind, command[i]);
    if (!told.empty()) std::fprintf(stderr, "taut run: %s\n", told.c_str());
    return;
  }
}

// Runs the program to its end, and prints what its checks have found. `report`: of the ranks.
Exit execute_checked(const Start& start, const std::string& report) {
  const ReportTimes before = report_times(report);
  const int status = run_to_end(start.command, start.set);
  const CheckedRun checked = read_checks(report, before);
  std::fputs(text_of(checked).c_str(), stderr);
  if (status != 0) return static_cast<Exit>(status);
  return checked.passed() ? Exit::ok : Exit::failed;
}

[[noreturn]] void execute(const Start& start) {
  std::vector<char*> words;
  for (const std::string& word : start.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  for (const auto& [name, value] : start.set) setenv(name.c_str(), value.c_str(), 1);
  std::fflush(nullptr);
  execvp(words[0], words.data());
  fail(start.command[0] + ": cannot be started: " + std::strerror(errno));
}

Exit run(const Arguments& arguments) {
  const std::vector<std::string>& command = arguments.names();
  if (command.empty())
    reject("the command is missing; put it behind --, as in taut run -- mpiexec -n 4 ./app");
  const bool checks = arguments.has("check");
  std::optional<ReportFolder> folder;  // of reports that nobody has asked for
  std::string report = arguments.value("report").value_or(taut::options().report);
  if (checks && report.empty() && !arguments.has("print")) report = folder.emplace().file();
  Variables variables = variables_of(arguments, report);
  read_rules(value_in(variables, "TAUT_RULES"), value_in(variables, "TAUT_CONFIG"), taut::options().kernels);
  for (const std::string& warning : taut::options().warnings)
    std::fprintf(stderr, "taut run: %s\n", warning.c_str());
  const auto library = find_preload();
  if (!library) fail(missing_preload_message());
  let_asan_start(command, variables);
  const Launcher launcher = find_launcher(command[0]);
  warn_of_other_mpi(launcher, command);
  const Start start = started(launcher, command, variables, *library, variable("LD_PRELOAD"));
  if (checks && !arguments.has("print")) return execute_checked(start, report);
  if (!arguments.has("print")) execute(start);
  std::puts(shell_line(start).c_str());
  return Exit::ok;
}

}  // namespace

extern constinit const Command run_command{
    "run",
    "run a program of MPI or NCCL with Taut, unchanged",
    "[--rules RULES | --bound BOUND] [--report FILE] [--check] -- COMMAND...",
    details,
    options,
    run,
    true};

}  // namespace taut::cli
