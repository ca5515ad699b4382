#include "report.hpp"

#include <mpi.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compressor/base/json.hpp"

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

std::string data_name(const Options& options) {
  if (options.data == "smooth") {
    std::ostringstream text;
    text << "smooth waves with noise of " << options.roughness << " bounds";
    return text.str();
  }
  return options.data == "random" ? "random" : std::filesystem::path(options.data).filename().string();
}

}  // namespace

void print_settings(const Options& options, int ranks) {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  taut::json::Object settings;
  settings.add("mpi", mpi_name()).add("ranks", ranks).add("link", options.link).add("load", load);
  settings.add("data", data_name(options)).add("type", options.doubles ? "f64" : "f32");
  settings.add("iterations", options.iterations);
  std::puts(settings.text().c_str());
}

void print_row(const Result& r) {
  taut::json::Object row;
  row.add("operation", r.operation).add("bytes", r.bytes).add("variant", r.variant).add("policy", r.policy);
  row.add("bound", r.bound).add("avg_us", r.average()).add("median_us", r.median());
  row.add("min_us", r.least()).add("max_us", r.most()).add("compressed", r.compressed);
  row.add("ratio", r.ratio).add("ideal_bytes", r.ideal_bytes).add("coding_us", r.coding_us);
  row.add("sent_bytes", r.sent_bytes)
      .add_text("wire_bytes", r.wire_bytes < 0 ? "null" : taut::shortest(r.wire_bytes));
  row.add("max_error", r.max_error).add("within_bound", r.within_bound).add("identical", r.identical);
  row.add_text("us", taut::json::list(r.us, [](double us) { return taut::rounded(us, 9); }));
  std::puts(row.text().c_str());
  std::fflush(stdout);
}

}  // namespace bench
