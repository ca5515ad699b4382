#include "compressor/base/options.hpp"

#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "compressor/base/option_parser.hpp"

namespace taut {
namespace {

constexpr OptionInfo table[] = {
    {"TAUT", &Options::enabled, "0|1", "1", "0 switches compression off: every call goes to MPI"},
    {"TAUT_KERNELS", &Options::kernels, "name", "",
     "kernel set of the codecs, such as scalar; empty: the best of the processor"},
    {"TAUT_THREADS", &Options::threads, "1..64", "1",
     "threads that decode one frame in codec calls, and encode it unless threads= says", max_threads},
    {"TAUT_REPORT", &Options::report, "file", "",
     "statistics of this rank, written while the program runs and at MPI_Finalize; %r: the rank"},
    {"TAUT_TRACE", &Options::trace, "file", "",
     "the last events of this rank, written at MPI_Finalize; %r: the rank"},
    {"TAUT_SUMMARY", &Options::summary, "0|1", "0",
     "1: rank 0 prints a table of its statistics at MPI_Finalize"},
    {"TAUT_CHECK", &Options::check, "1..65536", "",
     "one of so many served calls is also made plainly, and its error counted in the report", 65536},
    {"TAUT_RANKS_PER_NODE", &Options::ranks_per_node, "1..65536", "",
     "so many ranks after another are taken for those of a node; empty: as MPI says", 65536},
    {"TAUT_HANDSHAKE", &Options::handshake, "1..3600", "30",
     "seconds that a preloaded rank waits in MPI_Init for ranks that may run without Taut", 3600},
    {"TAUT_NONBLOCKING", &Options::nonblocking, "0|1", "0",
     "1: the preloaded library serves nonblocking calls as well; MPI then runs with MPI_THREAD_MULTIPLE"},
    {"TAUT_MESSAGES", &Options::messages, "0|1", "0", "1: the preloaded library serves messages as well"},
    {"TAUT_TRUSTED_RECEIVES", &Options::trusted_receives, "0|1", "0",
     "1: the preloaded library sees all receives of the program, so that no message waits for credit"},
    {"TAUT_PROGRESS", &Options::progress, "0|1", "0",
     "1: a thread advances nonblocking calls of Taut, if the program has MPI_THREAD_MULTIPLE"},
    {"TAUT_CUDA_AWARE", &Options::cuda_aware, "0|1", "",
     "1: MPI reads and writes memory of GPUs, so that frames stay there; 0: frames are in host memory; "
     "empty: "
     "as MPI says"},
    {"TAUT_NCCL_IN_FLIGHT", &Options::nccl_in_flight, "0|1", "0",
     "1: served calls of an unchanged NCCL program return before they are complete; streams wait for them"},
    {"TAUT_NCCL_TIMEOUT", &Options::nccl_timeout, "1..86400", "600",
     "seconds that a served call of an unchanged NCCL program waits for other ranks before it fails", 86400},
    {"TAUT_RULES", &Options::rules, "rules", "", "rules for communicators that have no policy"},
    {"TAUT_CONFIG", &Options::config, "file", "",
     "a TOML file of rules, which come after those of TAUT_RULES"},
    {"TAUT_PRELOAD", &Options::preload, "file", "",
     "the library that `taut run` preloads; empty: the one beside the program"},
};

// Set a member of Options from the value of a variable; a number may be 1 to `max`. Return false and change
// nothing if the value is not understood.
bool read(std::string_view value, int, std::string& text) {
  text = value;
  return true;
}
bool read(std::string_view value, int, bool& on) {
  const bool yes = value == "1" || value == "on", no = value == "0" || value == "off";
  if (yes || no) on = yes;
  return yes || no;
}
bool read(std::string_view value, int max, std::optional<bool>& on) {
  bool read_value = false;
  const bool good = read(value, max, read_value);
  if (good) on = read_value;
  return good;
}
bool read(std::string_view value, int max, int& number) {
  int n = 0;
  const bool good = read_number(value, n) && n >= 1 && n <= max;
  if (good) number = n;
  return good;
}

void warn_of_unknown(std::string_view name, Options& options) {
  std::vector<std::string_view> known;
  for (const OptionInfo& option : table) known.emplace_back(option.name);
  const std::string_view nearest = nearest_name(name, known);
  options.warnings.push_back(
      std::string(name) + " is not an option of this version; " +
      (nearest.empty() ? "see docs/configuration.md" : "did you mean " + std::string(nearest) + "?"));
}

void read_option(std::string_view name, std::string_view value, Options& options) {
  const OptionInfo* const option = std::ranges::find(table, name, &OptionInfo::name);
  if (option == std::end(table)) {
    if (name.starts_with("TAUT_")) warn_of_unknown(name, options);
    return;
  }
  const auto set = [&](auto member) { return read(value, option->max, options.*member); };
  if (std::visit(set, option->member)) return;
  const std::string remedy = option->max == 0 ? "0 or 1" : "1 to " + std::to_string(option->max);
  options.warnings.push_back(std::string(name) + "=" + std::string(value) + " is not understood; use " +
                             remedy);
}

}  // namespace

std::span<const OptionInfo> known_options() noexcept { return table; }

Options read_options(std::span<const char* const> environment) {
  Options options;
  for (const char* const entry : environment) {
    const std::string_view text = entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || !text.starts_with("TAUT")) continue;
    read_option(text.substr(0, equals), text.substr(equals + 1), options);
  }
  return options;
}

std::span<const char* const> environment() noexcept {
  if (getauxval(AT_SECURE) != 0) return {};
  std::size_t n = 0;
  while (environ != nullptr && environ[n] != nullptr) ++n;
  return {environ, n};
}

const Options& options() {
  static const Options read = read_options(environment());
  return read;
}

}  // namespace taut
