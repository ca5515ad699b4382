#include "policy/options.hpp"

#include <unistd.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "core/parts.hpp"

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
    {"TAUT_HANDSHAKE", "1..3600", "30",
     "seconds that a preloaded rank waits in MPI_Init for ranks that may run without Taut"},
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

// From 1 to `most`; `number` stays as it is for others.
void read_number(std::string_view name, std::string_view value, int most, int& number, Options& options) {
  int read = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
  if (error == std::errc() && end == value.data() + value.size() && read >= 1 && read <= most) {
    number = read;
  } else {
    options.warnings.push_back(std::string(name) + "=" + std::string(value) + " is not understood; use 1 to " +
                               std::to_string(most));
  }
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
  } else if (name.starts_with("TAUT_")) {
    options.warnings.push_back(std::string(name) +
                               " is not an option of this version; see docs/configuration.md");
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

const Options& options() {
  static const Options read = [] {
    std::size_t n = 0;
    while (environ != nullptr && environ[n] != nullptr) ++n;
    return read_options({environ, n});
  }();
  return read;
}

}  // namespace taut
