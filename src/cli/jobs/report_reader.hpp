// Reader of reports (docs/observe.md) for `taut advise`: kinds of calls, and of sent messages, over all ranks
// and communicators.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "cli/jobs/json_reader.hpp"
#include "communication/comm/statistics.hpp"

namespace taut::cli {

// One kind of calls of the observed program: calls of a collective, or messages, that a rule can tell from
// others by type, operator, size of the communicator and call site.
struct SeenCalls {
  Collective collective = Collective::allreduce;
  DType type{};
  Reduction op{};  // Reduction{} if there is none
  int ranks = 0;   // size of the communicator
  std::uint64_t least_bytes = 0;
  std::string site;  // call site, as rules name it; "": unknown, or calls of several sites

  // Counts of the rank that made the most calls.
  double calls = 0, message_bytes = 0;
  // Calls that plain MPI served, and their time without waits for late ranks, as far as the reports show it.
  double plain_calls = 0, plain_seconds = 0;
  // Samples of the rank whose values compress least, over all its calls; 0: not sampled.
  std::array<double, Compressibility::bounds> ratios{}, seconds_a_byte{};
  // The same for frames with references to earlier calls. `period`: number of calls from a call back to the
  // most similar earlier one; 0: none was similar.
  std::array<double, Compressibility::bounds> history_ratios{}, history_seconds_a_byte{};
  double period = 0;

  // Range of the finite values in samples; unknown if least > greatest.
  double least = std::numeric_limits<double>::infinity(), greatest = -least;

  bool packed = false;    // true if some rank's samples showed packed integers
  bool in_place = false;  // true if some rank kept its input in a result that other ranks got too
  bool pickled = false;   // true if some rank's samples were objects that Python had pickled
  bool varied = false;    // true if the values of some sample were not all equal
  bool opaque = false;    // messages of type MPI_BYTE, which no rule serves
  bool untimed = false;   // MPI completes these calls, messages among them, at times that Taut does not see
  std::string needs;      // setting that rules for these calls need: "TAUT_MESSAGES=1"; "": none

  bool messages() const noexcept { return collective == Collective::send; }
  bool constant() const noexcept { return sampled() && !varied; }
  bool sampled() const noexcept {
    return std::ranges::any_of(ratios, [](double ratio) { return ratio > 0; });
  }
};

// The observed program, as its reports describe it.
struct SeenProgram {
  int ranks = 1;
  int ranks_a_node = 1;                 // 1 also if the reports do not show that all nodes have equally many
  std::size_t files = 0, finished = 0;  // reports; those of ranks that reached MPI_Finalize
  double seconds = 0;                   // run time of the rank that ran longest; 0: unknown
  double processor_wait = 0;            // greatest share of its time that a rank waited for a processor
  bool nonblocking = false;             // the run had TAUT_NONBLOCKING=1
  std::vector<SeenCalls> kinds;

  // Returns true if the ranks and other programs shared processors. The times of plain calls then contain
  // waits for one.
  bool shared_processors() const noexcept { return processor_wait > 0.5; }

  // Number of calls that Taut does not serve, by name, on the rank with the most.
  std::map<std::string, double> unserved;
};

// Returns the reports of a name: `name` itself if it is a file; else name.0, name.1, ... up to the first that
// is missing, as TAUT_REPORT writes one file for each rank. Empty: there are none.
std::vector<std::string> report_files(const std::string& name);

// Reads a report of this version. Throws Failure.
Json read_report(const std::string& file);

// Reads the report of one rank, or the reports of all ranks: `name` itself, or else name.0, name.1, ... All
// have to be of one run, whose calls were plain. Throws Failure.
SeenProgram read_reports(const std::vector<std::string>& names);

}  // namespace taut::cli
