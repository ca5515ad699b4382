// Options of the process. No other code reads the environment.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace taut {

inline constexpr int max_threads = 64;

// Values of all options, each with the environment variable that sets it.
struct Options {
  bool enabled = true;                // TAUT
  std::string kernels;                // TAUT_KERNELS
  int threads = 1;                    // TAUT_THREADS
  std::string report;                 // TAUT_REPORT
  std::string trace;                  // TAUT_TRACE
  bool summary = false;               // TAUT_SUMMARY
  int check = 0;                      // TAUT_CHECK; 0: no call is checked, n: one in n
  int ranks_per_node = 0;             // TAUT_RANKS_PER_NODE; 0: as MPI says
  int handshake = 30;                 // TAUT_HANDSHAKE, seconds
  bool nonblocking = false;           // TAUT_NONBLOCKING
  bool messages = false;              // TAUT_MESSAGES
  bool trusted_receives = false;      // TAUT_TRUSTED_RECEIVES
  bool progress = false;              // TAUT_PROGRESS
  std::optional<bool> cuda_aware;     // TAUT_CUDA_AWARE; empty: as MPI says
  bool nccl_in_flight = false;        // TAUT_NCCL_IN_FLIGHT
  int nccl_timeout = 600;             // TAUT_NCCL_TIMEOUT, seconds
  std::string rules;                  // TAUT_RULES
  std::string config;                 // TAUT_CONFIG
  std::string preload;                // TAUT_PRELOAD
  std::vector<std::string> warnings;  // unknown names and values

  // Returns true if calls are counted for a report, a trace or a summary.
  bool observe() const noexcept { return !report.empty() || !trace.empty() || summary; }
};

// An environment variable, and the member of Options that it sets.
struct OptionInfo {
  const char* name;
  std::variant<bool Options::*, std::optional<bool> Options::*, int Options::*, std::string Options::*>
      member;
  const char* type;
  const char* default_value;
  const char* summary;
  int max = 0;  // greatest value of a number; 0: the option is no number
};

// Returns the table behind docs/configuration.md.
std::span<const OptionInfo> known_options() noexcept;

// Returns the options, read from the environment at the first call.
const Options& options();

// Returns the environment as "NAME=value" texts. The program `taut` passes it on. A program that has more
// rights than the user who starts it (set-user-ID, capabilities) gets none: as secure_getenv().
std::span<const char* const> environment() noexcept;

// Reads the options from a list of "NAME=value" texts. Names that do not start with TAUT are ignored.
Options read_options(std::span<const char* const> environment);

}  // namespace taut
