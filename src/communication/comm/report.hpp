// Reports: statistics as JSON (docs/observe.md), and as a table.
#pragma once

#include <string>

#include "communication/comm/statistics.hpp"

namespace taut {

// Rank of this process among all processes of the program.
struct ProcessRank {
  static constexpr double unknown_wait = -1;

  int rank = 0, ranks = 1;
  double seconds = 0;                    // run time, as far as this library knows
  double processor_wait = unknown_wait;  // seconds in which the main thread could run and had no processor
  bool finished = false;                 // MPI_Finalize has been called
  bool spawned = false;                  // the program was started by MPI_Comm_spawn
  bool nonblocking = false;              // TAUT_NONBLOCKING is set
  std::uint64_t run = 0;                 // identity of the run, the same on all its ranks; 0: unknown
  std::string node = {};                 // name of the host; "rank / L" under TAUT_RANKS_PER_NODE=L
  std::string program = {};
  std::string command = {};  // with its arguments
  std::string mpi = {};      // name and version of the MPI
  std::string rules = {};    // in force on communicators without a policy
  double began = 0;          // seconds since 1970; 0: unknown
};

// Report on the calls of a communicator.
struct CommReport {
  using Name = std::array<char, 64>;  // longer names are truncated

  std::string policy = {};  // empty: sum over communicators without an entry of their own
  Name name = {};           // name in MPI
  int ranks = 0;
  std::uint64_t communicators = 1;
  bool freed = false;
  std::uint64_t group = 0;      // hash of the ranks in MPI_COMM_WORLD; 0: unknown
  const char* needs = nullptr;  // setting without which rules leave these calls to MPI; null: none
  CallTable calls = {};
};

// Calls of a function of MPI that Taut does not serve.
struct UnservedCalls {
  const char* name;
  std::uint64_t calls;
};

// Calls of a function of NCCL under the drop-in, and bytes of their whole messages.
struct NcclCalls {
  const char* name;
  std::uint64_t served_calls, served_bytes;  // compressed by Taut
  std::uint64_t left_calls, left_bytes;      // left to NCCL
};

// Returns `pattern` with the rank for each %r. A pattern without %r gets ".RANK" appended if there are
// several ranks. Before that, ".spawned-RUN" is appended in a program that was started by MPI_Comm_spawn,
// so that it does not replace the files of its parent.
std::string file_name(const std::string& pattern, const ProcessRank& process);

// `nccl_nonblocking`: communicators of NCCL that were created with blocking = 0, whose calls are left to
// NCCL.
std::string report_json(std::span<const CommReport* const> communicators, const ProcessRank& process,
                        std::span<const UnservedCalls> unserved = {}, std::span<const NcclCalls> nccl = {},
                        std::uint64_t nccl_nonblocking = 0);

// Returns a table with a line for each kind of call, over all communicators; at most 20. A last line counts
// calls that are not served.
std::string summary_table(std::span<const CommReport* const> communicators, const ProcessRank& process,
                          std::span<const UnservedCalls> unserved = {});

}  // namespace taut
