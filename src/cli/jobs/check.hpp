// taut run --check: what the checks of a run have found, from the reports of its ranks.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace taut::cli {

// Returns n for the share 1/n, and 1 for "". Throws Failure(usage).
int checked_one_in(const std::string& share);

// ReportFolder: a folder of this run for its reports, in the current directory; removed with its contents.
class ReportFolder {
 public:
  ReportFolder();  // throws Failure
  ReportFolder(const ReportFolder&) = delete;
  ~ReportFolder();
  std::string file() const { return (path_ / "report.json").string(); }

 private:
  std::filesystem::path path_;
};

// Checked calls of one kind at one call site, on all ranks.
struct CheckedKind {
  std::string name, site;      // "allreduce f32 sum 1MiB"; site "": unknown
  double calls = 0, over = 0;  // checked calls, and those that broke the bound
  // The greatest error by its share of the bound, and its place. NaN: infinite, or no bound.
  double error = 0, bound = 0, share = 0, element = 0;
  int rank = 0;
};

struct CheckedRun {
  std::vector<CheckedKind> kinds;  // the greatest share of the bound first
  int ranks = 0, reports = 0, finished = 0;
  double compressed_calls = 0, checked_calls = 0, calls_over = 0;  // of all ranks
  double seconds = 0, check_seconds = 0;  // of the rank that lost the most to its checks

  // Returns true if all ranks have reported, and no call broke its bound.
  bool passed() const noexcept { return finished == ranks && ranks > 0 && calls_over == 0; }
};

// The times at which reports were last written, by file. Only times of one file system are compared: it
// may round them down, or be on a machine whose clock is behind.
using ReportTimes = std::map<std::string, std::filesystem::file_time_type>;

// Returns the times of the reports of that name.
ReportTimes report_times(const std::string& report);

// Reads the reports of that name that were written since the times `before`. Throws Failure.
CheckedRun read_checks(const std::string& report, const ReportTimes& before);

// Returns a table of at most 80 columns, and the verdict.
std::string text_of(const CheckedRun& run);

}  // namespace taut::cli
