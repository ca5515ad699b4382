#include "policy/text/options.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

#include "core/parallel_chunks.hpp"

namespace taut {
namespace {

constexpr OptionInfo table[] = {
    {"TAUT", "0|1", "1", "0 switches compression off: every call goes to MPI"},
    {"TAUT_KERNELS", "name", "",
     "kernel set of the codecs: scalar, avx2, avx512; empty: the best of the processor"},
    {"TAUT_THREADS", "1..64", "1",
     "threads that decode one frame in codec calls, and encode it unless threads= says"},
    {"TAUT_REPORT", "file", "", "statistics of this rank, written at MPI_Finalize; %r: the rank"},
    {"TAUT_TRACE", "file", "", "the last events of this rank, written at MPI_Finalize; %r: the rank"},
    {"TAUT_SUMMARY", "0|1", "0", "1: rank 0 prints a table of its statistics at MPI_Finalize"},
    {"TAUT_RANKS_PER_NODE", "1..65536", "",
     "so many ranks after another are taken for those of a node; empty: as MPI says"},
    {"TAUT_HANDSHAKE", "1..3600", "30",
     "seconds that a preloaded rank waits in MPI_Init for ranks that may run without Taut"},
    {"TAUT_NONBLOCKING", "0|1", "0",
     "1: the preloaded library serves nonblocking calls as well; MPI then runs with MPI_THREAD_MULTIPLE"},
    {"TAUT_MESSAGES", "0|1", "0", "1: the preloaded library serves messages as well"},
    {"TAUT_PROGRESS", "0|1", "0",
     "1: a thread advances nonblocking calls of Taut, if the program has MPI_THREAD_MULTIPLE"},
    {"TAUT_RULES", "rules", "", "rules for communicators that have no policy"},
    {"TAUT_CONFIG", "file", "", "a TOML file of rules, which come after those of TAUT_RULES"},
    {"TAUT_PRELOAD", "file", "", "the library that `taut run` preloads; empty: the one beside the program"},
};

void read_switch(std::string_view name, std::string_view value, bool& on, Options& options) {
  if (value == "0" || value == "off") {
    on = false;
  } else if (value == "1" || value == "on") {
    on = true;
  } else {
    options.warnings.push_back(std::string(name) + "=" + std::string(value) +
                               " is not understood; use 0 or 1");
  }
}

// Reads a number from 1 to `most`. Any other text leaves `number` as it is, with a warning.
void read_number(std::string_view name, std::string_view value, int most, int& number, Options& options) {
  int read = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
  if (error == std::errc() && end == value.data() + value.size() && read >= 1 && read <= most) {
    number = read;
  } else {
    options.warnings.push_back(std::string(name) + "=" + std::string(value) +
                               " is not understood; use 1 to " + std::to_string(most));
  }
}

// Returns the edit distance: the number of insertions, deletions and replacements that turn one text into the
// other. Wagner and Fischer, "The string-to-string correction problem", J. ACM 21 (1974).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

void warn_of_unknown(std::string_view name, Options& options) {
  const OptionInfo* const nearest = std::ranges::min_element(
      table, {}, [&](const OptionInfo& option) { return distance(name, option.name); });
  std::string text = std::string(name) + " is not an option of this version; ";
  text += 2 * distance(name, nearest->name) < name.size()
              ? std::string("did you mean ").append(nearest->name) + "?"
              : "see docs/configuration.md";
  options.warnings.push_back(std::move(text));
}

void read_option(std::string_view name, std::string_view value, Options& options) {
  if (name == "TAUT") {
    read_switch(name, value, options.enabled, options);
  } else if (name == "TAUT_SUMMARY") {
    read_switch(name, value, options.summary, options);
  } else if (name == "TAUT_REPORT") {
    options.report = value;
  } else if (name == "TAUT_TRACE") {
    options.trace = value;
  } else if (name == "TAUT_KERNELS") {
    options.kernels = value;
  } else if (name == "TAUT_THREADS") {
    read_number(name, value, most_threads, options.threads, options);
  } else if (name == "TAUT_HANDSHAKE") {
    read_number(name, value, 3600, options.handshake, options);
  } else if (name == "TAUT_NONBLOCKING") {
    read_switch(name, value, options.nonblocking, options);
  } else if (name == "TAUT_MESSAGES") {
    read_switch(name, value, options.messages, options);
  } else if (name == "TAUT_PROGRESS") {
    read_switch(name, value, options.progress, options);
  } else if (name == "TAUT_RANKS_PER_NODE") {
    read_number(name, value, 65536, options.ranks_per_node, options);
  } else if (name == "TAUT_RULES") {
    options.rules = value;
  } else if (name == "TAUT_CONFIG") {
    options.config = value;
  } else if (name == "TAUT_PRELOAD") {
    options.preload = value;
  } else if (name.starts_with("TAUT_")) {
    warn_of_unknown(name, options);
  }
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
  std::size_t n = 0;
  while (environ != nullptr && environ[n] != nullptr) ++n;
  return {environ, n};
}

const Options& options() {
  static const Options read = read_options(environment());
  return read;
}

}  // namespace taut
