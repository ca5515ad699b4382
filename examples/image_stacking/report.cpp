#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace stacking {
namespace {

std::string text(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

std::string quoted(const std::string& plain) {
  std::string result = "\"";
  for (const char c : plain) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

std::string number(double value) { return std::isfinite(value) ? text("%.9g", value) : "null"; }

std::string shape_text(const std::vector<std::size_t>& shape, const char* separator) {
  std::string result;
  for (const std::size_t extent : shape) result += (result.empty() ? "" : separator) + std::to_string(extent);
  return result;
}

const Row& plain_of(const std::vector<Row>& rows) { return rows.front(); }
bool is_plain(const Row& row) { return row.policy.empty(); }
bool is_bounded(const Row& row) { return row.relative_bound > 0; }
double speedup(const Row& row, const std::vector<Row>& rows) {
  return plain_of(rows).median_seconds() / row.median_seconds();
}
double wire_ratio(const Row& row, const std::vector<Row>& rows) {
  return row.wire_bytes > 0 ? plain_of(rows).wire_bytes / row.wire_bytes : 1;
}

std::string verdict(const Row& row) {
  if (!row.identical) return "RANKS DIFFER";
  if (!row.quality.within) return "BOUND VIOLATED";
  return !is_plain(row) && !row.compressed ? "yes (went plain)" : "yes";
}

std::string json_row(const Row& row, const std::vector<Row>& rows) {
  const auto [fastest, slowest] = std::minmax_element(row.seconds.begin(), row.seconds.end());
  std::ostringstream out;
  out << "{\"name\": " << quoted(row.name) << ", \"label\": " << quoted(label(row))
      << ", \"policy\": " << quoted(row.policy)
      << ", \"relative_bound\": " << (is_bounded(row) ? number(row.relative_bound) : "null")
      << ", \"bound\": " << number(row.bound) << ",\n     \"seconds\": " << number(row.median_seconds())
      << ", \"seconds_min\": " << number(*fastest) << ", \"seconds_max\": " << number(*slowest)
      << ", \"speedup\": " << number(speedup(row, rows))
      << ",\n     \"wire_bytes\": " << number(row.wire_bytes)
      << ", \"wire_bytes_are\": " << quoted(row.compressed ? "measured" : "ideal ring")
      << ", \"ratio\": " << number(wire_ratio(row, rows)) << ", \"codec_ratio\": " << number(row.codec_ratio)
      << ", \"compressed\": " << (row.compressed ? "true" : "false")
      << ",\n     \"max_error\": " << number(row.quality.max_error)
      << ", \"psnr\": " << number(row.quality.psnr) << ", \"nrmse\": " << number(row.quality.nrmse)
      << ", \"within_bound\": " << (row.quality.within ? "true" : "false")
      << ", \"identical\": " << (row.identical ? "true" : "false") << "}";
  return out.str();
}

std::string first_line(const char* file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind(key, 0) == 0) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "unknown";
}

// Returns the name of the MPI library:
// "MPICH Version:      5.0.2
// MPICH Release..." -> "MPICH 5.0.2"; "Open MPI v5.0.11, package..." -> "Open MPI v5.0.11"
std::string short_name(const std::string& library_version) {
  std::istringstream words(library_version.substr(0, library_version.find_first_of("\n,")));
  std::string name;
  for (std::string word; words >> word;)
    if (word != "Version:") name += (name.empty() ? "" : " ") + word;
  return name;
}

}  // namespace

Setting describe_machine() {
  Setting setting;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  setting.mpi = short_name({version, static_cast<std::size_t>(length)});
  setting.processor = first_line("/proc/cpuinfo", "model name");
  std::ifstream("/proc/loadavg") >> setting.load;
  return setting;
}

void print_table(const Setting& setting, const std::vector<Row>& rows) {
  std::printf("\nStacked: %s %s, %.1f MB a rank (%s)\n", shape_text(setting.shape, " x ").c_str(),
              setting.dtype.c_str(), static_cast<double>(setting.bytes) * 1e-6, setting.what.c_str());
  std::printf("Between: %d ranks over %s, %s\n", setting.ranks, setting.link.c_str(), setting.mpi.c_str());
  std::printf("Times: medians of %d alternated calls\n\n", setting.repeats);
  std::printf(
      "values: each rank decodes what it receives, adds its own values, and encodes the sum.\n"
      "frames: each rank adds what it receives in encoded form, without decoding it.\n\n");
  std::printf("%-8s %6s %10s %9s %8s %9s %6s %10s %10s %6s %9s  %s\n", "variant", "bound", "absolute", "time",
              "speed-up", "sent/rank", "ratio", "max error", "err/bound", "PSNR", "NRMSE",
              "same bits everywhere");
  for (const Row& row : rows) {
    const bool bounded = is_bounded(row);
    std::printf("%-8s %6s %10s %6.1f ms %7.2fx %6.2f MB%s%6.1f %10.3g %10s %6.1f %9.2e  %s\n",
                row.name.c_str(), bounded ? text("%.0e", row.relative_bound).c_str() : "-",
                bounded ? text("%.4g", row.bound).c_str() : "-", row.median_seconds() * 1e3,
                speedup(row, rows), row.wire_bytes * 1e-6, row.compressed ? " " : "*", wire_ratio(row, rows),
                row.quality.max_error,
                bounded ? text("%.3f", row.quality.max_error / row.bound).c_str() : "-", row.quality.psnr,
                row.quality.nrmse, verdict(row).c_str());
  }
  std::printf(
      "\nvariant: plain = MPI_Allreduce; values, frames = TAUT_Allreduce. bound: of the result, relative to "
      "its "
      "range.\n* = not counted: what an ideal ring sends. ratio: of what an ideal ring sends to sent/rank.\n"
      "max error: against the exact sum of all ranks' images.\n");
  for (const Row& row : rows)
    if (!is_plain(row) && !is_bounded(row)) std::printf("%s: %s\n", row.name.c_str(), row.policy.c_str());
}

void write_json(const std::string& directory, const Setting& setting, const std::vector<Row>& rows,
                const std::vector<Picture>& pictures) {
  std::ofstream out(directory + "/report.json");
  out << "{\"what\": " << quoted(setting.what) << ",\n \"dtype\": " << quoted(setting.dtype)
      << ", \"shape\": [" << shape_text(setting.shape, ", ") << "], \"bytes\": " << setting.bytes
      << ",\n \"ranks\": " << setting.ranks << ", \"link\": " << quoted(setting.link)
      << ", \"mpi\": " << quoted(setting.mpi) << ",\n \"processor\": " << quoted(setting.processor)
      << ", \"load\": " << number(setting.load) << ", \"repeats\": " << setting.repeats
      << ",\n \"range\": " << number(plain_of(rows).quality.range) << ",\n \"rows\": [";
  for (std::size_t i = 0; i < rows.size(); ++i) out << (i ? ",\n    " : "\n    ") << json_row(rows[i], rows);
  out << "],\n \"pictures\": [";
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const Picture& picture = pictures[i];
    out << (i ? ",\n    " : "\n    ") << "{\"name\": " << quoted(picture.name)
        << ", \"file\": " << quoted(picture.file) << ", \"rows\": " << picture.rows
        << ", \"columns\": " << picture.columns << "}";
  }
  out << "]}\n";
  if (!out.flush()) throw std::runtime_error(directory + "/report.json: cannot be written");
}

void write_raw(const std::string& directory, const std::string& file, std::span<const std::byte> bytes) {
  std::ofstream out(directory + "/" + file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error(directory + "/" + file + ": cannot be written");
}

std::string label(const Row& row) {
  return is_bounded(row) ? row.name + text("-%.0e", row.relative_bound) : row.name;
}

}  // namespace stacking
