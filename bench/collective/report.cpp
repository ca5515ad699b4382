#include "report.hpp"

#include <mpi.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "../json.hpp"

namespace bench {
namespace {

// Returns the name of the MPI library:
// "MPICH Version:      5.0.2
// ..." -> "MPICH 5.0.2"; "Open MPI v5.0.11, package..." -> "Open MPI v5.0.11"
std::string mpi_name() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  const std::string text(version, static_cast<std::size_t>(length));
  std::istringstream words(text.substr(0, text.find_first_of("\n,")));
  std::string name;
  for (std::string word; words >> word;)
    if (word != "Version:") name += (name.empty() ? "" : " ") + word;
  return name;
}

double load() {
  double value = 0;
  std::ifstream("/proc/loadavg") >> value;
  return value;
}

std::string data_name(const Options& options) {
  if (options.data == "smooth") {
    std::ostringstream text;
    text << "smooth waves with noise of " << options.roughness << " bounds";
    return text.str();
  }
  return options.data == "random" ? "random" : std::filesystem::path(options.data).filename().string();
}

std::string megabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", bytes * 1e-6);
  return bytes < 0 ? "-" : text;
}

std::string json_of(const Result& r) {
  std::ostringstream out;
  out << "{\"operation\": " << json::quoted(r.operation) << ", \"bytes\": " << r.bytes
      << ", \"variant\": " << json::quoted(r.variant) << ", \"policy\": " << json::quoted(r.policy)
      << ", \"bound\": " << json::number(r.bound) << ",\n   \"avg_us\": " << json::number(r.average())
      << ", \"median_us\": " << json::number(r.median()) << ", \"min_us\": " << json::number(r.least())
      << ", \"max_us\": " << json::number(r.most()) << ",\n   \"compressed\": " << json::boolean(r.compressed)
      << ", \"ratio\": " << json::number(r.ratio) << ", \"ideal_bytes\": " << json::number(r.ideal_bytes)
      << ", \"coding_us\": " << json::number(r.coding_us)
      << ", \"sent_bytes\": " << json::number(r.sent_bytes)
      << ", \"wire_bytes\": " << (r.wire_bytes < 0 ? "null" : json::number(r.wire_bytes))
      << ",\n   \"max_error\": " << json::number(r.max_error)
      << ", \"within_bound\": " << json::boolean(r.within_bound)
      << ", \"identical\": " << json::boolean(r.identical) << ",\n   \"us\": [";
  for (std::size_t i = 0; i < r.us.size(); ++i) out << (i ? ", " : "") << json::number(r.us[i]);
  out << "]}";
  return out.str();
}

}  // namespace

void print_heading(const Options& options, int ranks) {
  std::printf("# Taut collective latency test: plain MPI and Taut in alternation, %d calls each\n",
              options.iterations);
  std::printf("# %s, %d ranks over %s; load %.2f\n", mpi_name().c_str(), ranks, options.link.c_str(), load());
  std::printf("# Datatype: %s; data: %s\n", options.doubles ? "MPI_DOUBLE" : "MPI_FLOAT",
              data_name(options).c_str());
  std::printf(
      "# Size: bytes of the whole buffer. Latency: of the slowest rank. Sent, Wire: MB a call of the busiest "
      "rank,\n"
      "# counted by Taut (plain: the least possible) and by the network interface. Coding: of the busiest "
      "rank.\n");
}

void print_operation(const Collective& collective) {
  std::printf("\n# %s\n%-10s %-9s %12s %12s %12s %12s %8s %11s %7s %9s %9s %10s %9s %s\n", collective.name,
              "# Size", "Variant", "Avg(us)", "Min(us)", "Max(us)", "Median(us)", "Speedup", "Coding(us)",
              "Ratio", "Sent(MB)", "Wire(MB)", "MaxError", "Bound", "Check");
}

void print_results(const std::vector<Result>& results) {
  for (const Result& r : results) {
    const bool plain = r.policy.empty();
    const char* check = !r.identical ? "RANKS DIFFER" : !r.within_bound ? "BOUND VIOLATED" : "ok";
    const double sent = plain || !r.compressed ? r.ideal_bytes : r.sent_bytes;
    std::printf("%-10zu %-9s %12.1f %12.1f %12.1f %12.1f %7.2fx %11.1f %7.2f %9s %9s %10.3g %9.2g %s%s\n",
                r.bytes, r.variant.c_str(), r.average(), r.least(), r.most(), r.median(),
                results.front().median() / r.median(), r.coding_us, r.ratio, megabytes(sent).c_str(),
                megabytes(r.wire_bytes).c_str(), r.max_error, r.bound, check,
                !plain && !r.compressed ? " (went plain)" : "");
  }
  std::fflush(stdout);
}

void write_json(const Options& options, int ranks, const std::vector<Result>& results) {
  const std::filesystem::path folder = std::filesystem::path(options.json).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  std::ofstream out(options.json);
  out << "{\"mpi\": " << json::quoted(mpi_name()) << ", \"ranks\": " << ranks
      << ", \"link\": " << json::quoted(options.link) << ", \"load\": " << json::number(load())
      << ",\n \"data\": " << json::quoted(data_name(options))
      << ", \"type\": " << (options.doubles ? "\"f64\"" : "\"f32\"")
      << ", \"iterations\": " << options.iterations << ",\n \"results\": [";
  for (std::size_t i = 0; i < results.size(); ++i) out << (i ? ",\n  " : "\n  ") << json_of(results[i]);
  out << "]}\n";
  if (!out.flush()) throw std::runtime_error(options.json + ": cannot be written");
}

}  // namespace bench
