// Fourier transforms whose transpositions go by plain MPI and by Taut. fft --help tells more.
// Exit status: 0; 1 if an error exceeds its proven bound; 2 for a wrong command line.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "../comparison/json.hpp"
#include "../comparison/program.hpp"
#include "../comparison/times.hpp"
#include "comparison.hpp"

namespace {

using comparison::gain;
using comparison::median;
using comparison::json::number;
using comparison::json::quoted;
using fft::Row;

void print_table(const std::vector<Row>& rows, const fft::Options& options) {
  std::printf("Transform of %d x %d x %d doubles (%s); %s; medians of %d\n\n", options.shape[0],
              options.shape[1], options.shape[2], options.data.c_str(),
              options.link.empty() ? "network as it is" : options.link.c_str(), options.repeats);
  std::printf("%-24s %8s %6s %12s %6s %9s %6s %10s %10s %10s\n", "variant", "sent MB", "ratio",
              "transpose ms", "gain", "total ms", "gain", "error", "proven", "greatest");
  for (const Row& row : rows)
    std::printf("%-24s %8.2f %6.2f %12.1f %6.2f %9.1f %6.2f %10.2e %10.2e %10.2e%s\n", row.name.c_str(),
                row.sent_bytes * 1e-6, row.plain_bytes / row.sent_bytes, median(row.transpose_seconds) * 1e3,
                gain(rows[0].transpose_seconds, row.transpose_seconds), median(row.total_seconds) * 1e3,
                gain(rows[0].total_seconds, row.total_seconds), row.error, row.proven, row.greatest,
                row.good() ? "" : "  EXCEEDED");
  std::printf(
      "\nsent: by the busiest rank. error: of the transform, relative L2 norm; proven: its bound (-1: "
      "none);\n"
      "greatest: greatest error of a coefficient, over the root mean square of all.\n");
}

void write_json(const std::vector<Row>& rows, const fft::Options& options) {
  std::filesystem::create_directories(options.out);
  std::ofstream out(options.out + "/report.json");
  out << "{\"shape\": [" << options.shape[0] << ", " << options.shape[1] << ", " << options.shape[2]
      << "], \"data\": " << quoted(options.data) << ", \"link\": " << quoted(options.link) << ", \"rows\": [";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    out << (i > 0 ? ",\n  " : "\n  ") << "{\"name\": " << quoted(row.name)
        << ", \"policy\": " << quoted(row.policy) << ", \"sent_bytes\": " << number(row.sent_bytes)
        << ", \"plain_bytes\": " << number(row.plain_bytes)
        << ", \"transpose_ms\": " << number(median(row.transpose_seconds) * 1e3)
        << ", \"total_ms\": " << number(median(row.total_seconds) * 1e3)
        << ", \"error\": " << number(row.error) << ", \"proven\": " << number(row.proven)
        << ", \"greatest\": " << number(row.greatest) << "}";
  }
  out << "]}\n";
  if (!out.flush()) throw std::runtime_error(options.out + "/report.json: cannot be written");
}

int compare(const fft::Options& options, int me) {
  std::vector<std::string> refused;
  const std::vector<Row> rows = fft::compare(options, MPI_COMM_WORLD, refused);
  if (me == 0) {
    print_table(rows, options);
    for (const std::string& text : refused) std::printf("Left out: %s\n", text.c_str());
    write_json(rows, options);
  }
  return std::ranges::all_of(rows, &Row::good) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return comparison::run_program("fft", fft::usage(), argc, argv, fft::parse, compare);
}
