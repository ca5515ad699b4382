#include "communication/api/state/finalize_reports.hpp"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <new>

#include "communication/api/state/rule_binding.hpp"
#include "communication/comm/output_file.hpp"
#include "communication/comm/process_report.hpp"
#include "compressor/base/guarded.hpp"
#include "compressor/base/options.hpp"

namespace taut::api {
namespace {

std::atomic<std::uint64_t> run_identity{0};

std::atomic<std::vector<UnservedCalls> (*)()> unserved_counts{nullptr};

std::vector<UnservedCalls> unserved_calls() {
  const auto counts = unserved_counts.load();
  return counts != nullptr ? counts() : std::vector<UnservedCalls>();
}

void write_all(std::span<const CommReport* const> communicators, const ProcessRank& process) {
  write_output(output_names().report, process, [&](const std::string& name) {
    return write_text(name, report_json(communicators, process, unserved_calls()));
  });
  write_output(output_names().trace, process, [&](const std::string& name) {
    return write_file(name, [&](std::FILE* file) {
      return recorder() != nullptr && write_trace(file, *recorder(), process.rank);
    });
  });
  if (!options().summary || process.rank != 0) return;
  std::fputs(summary_table(communicators, process, unserved_calls()).c_str(), stderr);
  print_wrong_launcher();
}

// Calls `write` with the reports of freed communicators, of the open ones and of messages.
template <class Write>
void with_all(std::span<const CommReport* const> open_communicators, int ranks, Write write) {
  std::vector<const CommReport*> communicators;
  std::unique_lock<std::mutex> counting;
  const std::unique_lock<std::mutex> keeping = add_kept(communicators);
  communicators.insert(communicators.end(), open_communicators.begin(), open_communicators.end());
  if (ProgramReport* const program = program_report(); program != nullptr) {
    counting = std::unique_lock(program->mutex);
    program->messages.ranks = ranks;
    if (!program->messages.calls.rows().empty()) communicators.push_back(&program->messages);
    for (const auto& [size, observed] : program->nonblocking) communicators.push_back(&observed);
  }
  write(communicators);
}

// Remembers the first answer: MPI names no parent once the program has left it.
bool was_spawned() noexcept {
  static const bool answer = [] {
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    return parent != MPI_COMM_NULL;
  }();
  return answer;
}

// Returns the words of this process's command line.
std::string own_command() {
  std::ifstream file("/proc/self/cmdline");
  std::string command(std::istreambuf_iterator<char>(file), {});
  while (!command.empty() && command.back() == '\0') command.pop_back();
  std::ranges::replace(command, '\0', ' ');
  return command;
}

// Returns the first line of what MPI says of itself.
std::string name_of_mpi() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = {};
  int length = 0;
  PMPI_Get_library_version(text, &length);
  return std::string(text, std::strcspn(text, "\n"));
}

std::string name_of_node(int rank) {
  if (const int of_node = options().ranks_per_node; of_node > 0) return std::to_string(rank / of_node);
  char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
  int length = 0;
  PMPI_Get_processor_name(name, &length);
  return name;
}

std::string rules_in_force() {
  std::string text;
  for (const Rule& rule : process_rules().rules.all()) text += (text.empty() ? "" : " ; ") + text_of(rule);
  return text;
}

std::string absolute(const std::string& name) {
  return name.empty() ? name : std::filesystem::absolute(name).string();
}

}  // namespace

Recorder* recorder() noexcept {
  static Recorder* const one = options().trace.empty() ? nullptr : new (std::nothrow) Recorder;
  return one;
}

void tell_unserved(std::vector<UnservedCalls> (*counts)()) noexcept { unserved_counts = counts; }

ProgramReport* program_report() noexcept {
  static auto* const all = new (std::nothrow) ProgramReport;
  return all;
}

void set_run(std::uint64_t identity) noexcept { run_identity = identity; }

const OutputNames& output_names() {
  static const auto* const names = new OutputNames{absolute(options().report), absolute(options().trace)};
  return *names;
}

ProcessRank this_process(bool finished) noexcept {
  ProcessRank process{.seconds = run_time(), .finished = finished, .run = run_identity};
  process.processor_wait = processor_wait();
  process.nonblocking = options().nonblocking;
  guarded([&] {  // texts that are missing for lack of memory stay empty
    process.program = program_invocation_short_name;
    process.command = own_command();
    process.mpi = name_of_mpi();
    process.rules = rules_in_force();
  });
  process.began = static_cast<double>(std::time(nullptr)) - process.seconds;
  process.spawned = was_spawned();
  PMPI_Comm_rank(MPI_COMM_WORLD, &process.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &process.ranks);
  guarded([&] { process.node = name_of_node(process.rank); });
  return process;
}

void write_reports(std::span<const CommReport* const> open_communicators,
                   const ProcessRank& process) noexcept {
  if (!options().observe()) return;
  try {
    with_all(open_communicators, process.ranks, [&](const auto& all) { write_all(all, process); });
  } catch (...) {
    complain("what TAUT_REPORT, TAUT_TRACE or TAUT_SUMMARY ask for", "out of memory");
  }
}

std::string report_text(std::span<const CommReport* const> open_communicators, ProcessRank process) {
  std::string text;
  process.seconds = run_time();
  with_all(open_communicators, process.ranks,
           [&](const auto& all) { text = report_json(all, process, unserved_calls()); });
  return text;
}

}  // namespace taut::api
