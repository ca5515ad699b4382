#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "../comparison/json.hpp"
#include "../comparison/times.hpp"

namespace wave3d {
namespace {

using comparison::gain;
using comparison::median;
using comparison::quantile;
using comparison::json::number;
using comparison::json::quoted;

// Returns the time of the steps that other work on the machine hardly disturbs.
double undisturbed(const std::vector<double>& values) { return quantile(values, 0.05); }

double squares(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

double squared_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return sum;
}

double peak(std::span<const float> values) {
  float most = 0;
  for (const float value : values) most = std::max(most, std::fabs(value));
  return static_cast<double>(most);
}

double relative(double squared_error, double squared_size) {
  if (squared_error == 0) return 0;
  return std::sqrt(squared_error / squared_size);
}

double ratio(const Outcome& outcome) {
  return outcome.sent_bytes > 0 ? outcome.plain_bytes / outcome.sent_bytes : 1;
}

std::string file_name(const Outcome& outcome) {
  std::string name = outcome.name;
  std::ranges::replace_if(
      name, [](char c) { return c == ':' || c == '/'; }, '-');
  return name;
}

void write_raw(const std::string& file, std::span<const float> values) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
  if (!out.flush()) throw std::runtime_error(file + ": cannot be written");
}

std::string triple(const Triple& t, const char* separator) {
  return std::to_string(t[0]) + separator + std::to_string(t[1]) + separator + std::to_string(t[2]);
}

std::string json_row(const Outcome& outcome, const Run& run) {
  const Outcome& plain = run.outcomes.front();
  const Difference difference = compare(outcome, plain, run.stations);
  const auto steps = static_cast<double>(outcome.step_seconds.size());
  return "{\"name\": " + quoted(outcome.name) + ", \"file\": " + quoted(file_name(outcome)) +
         ", \"policy\": " + quoted(outcome.policy) +
         ", \"way\": " + (outcome.way == Way::messages ? "\"messages\"" : "\"collective\"") +
         ",\n   \"halo_ms\": " + number(median(outcome.halo_seconds) * 1e3) +
         ", \"halo_gain\": " + number(gain(plain.halo_seconds, outcome.halo_seconds)) +
         ", \"halo_ms_5_percent\": " + number(undisturbed(outcome.halo_seconds) * 1e3) +
         ", \"halo_without_core_ms\": " + number(median(outcome.halo_without_core) * 1e3) +
         ", \"step_ms\": " + number(median(outcome.step_seconds) * 1e3) +
         ", \"step_gain\": " + number(gain(plain.step_seconds, outcome.step_seconds)) +
         ", \"step_ms_5_percent\": " + number(undisturbed(outcome.step_seconds) * 1e3) +
         ",\n   \"plain_bytes_a_step\": " + number(outcome.plain_bytes / steps) +
         ", \"sent_bytes_a_step\": " + number(outcome.sent_bytes / steps) +
         ", \"ratio\": " + number(ratio(outcome)) + ", \"coded_share\": " + number(outcome.coded_share) +
         ",\n   \"misfit\": " + number(difference.misfit) +
         ", \"worst_misfit\": " + number(difference.worst_misfit) +
         ", \"energy_drift\": " + number(difference.energy_drift) +
         ", \"same_bits\": " + comparison::json::boolean(difference.same_bits) + "}";
}

}  // namespace

Difference compare(const Outcome& outcome, const Outcome& plain, int stations) {
  Difference difference;
  const auto parts = static_cast<std::size_t>(stations);
  const std::size_t part = plain.seismograms.size() / parts;
  const std::span<const float> all(outcome.seismograms), plain_all(plain.seismograms);
  difference.misfit = relative(squared_distance(all, plain_all), squares(plain_all));
  for (std::size_t s = 0; s < parts; ++s) {
    const auto reference = plain_all.subspan(s * part, part);
    difference.worst_misfit =
        std::max(difference.worst_misfit,
                 relative(squared_distance(all.subspan(s * part, part), reference), squares(reference)));
  }
  const double greatest = *std::ranges::max_element(plain.energies);
  for (std::size_t i = 0; i < plain.energies.size(); ++i)
    difference.energy_drift =
        std::max(difference.energy_drift, std::fabs(outcome.energies[i] - plain.energies[i]) / greatest);
  difference.same_bits = outcome.seismograms == plain.seismograms && outcome.slice == plain.slice;
  return difference;
}

void print_table(const Run& run, const Options& options) {
  const Outcome& plain = run.outcomes.front();
  std::printf("Elastic waves: %s cells, %s ranks, %d steps; %s\n", triple(run.whole, " x ").c_str(),
              triple(run.ranks, " x ").c_str(), options.steps,
              options.link.empty() ? "network as it is" : options.link.c_str());
  std::printf(
      "Greatest velocity at the %d stations: %.3g. Times: medians of the steps, of the slowest rank\n\n",
      run.stations, peak(plain.seismograms));
  std::printf("%-24s %9s %7s %9s %6s %7s %8s %9s %6s %7s %10s %10s %10s\n", "variant", "sent KB", "ratio",
              "halo ms", "gain", "5 %", "no core", "step ms", "gain", "5 %", "misfit", "worst", "energy");
  for (const Outcome& outcome : run.outcomes) {
    const Difference difference = compare(outcome, plain, run.stations);
    std::printf("%-24s %9.1f %7.2f %9.3f %6.2f %7.3f %8.3f %9.3f %6.2f %7.3f %10.2e %10.2e %10.2e\n",
                outcome.name.c_str(), outcome.sent_bytes * 1e-3 / options.steps, ratio(outcome),
                median(outcome.halo_seconds) * 1e3, gain(plain.halo_seconds, outcome.halo_seconds),
                undisturbed(outcome.halo_seconds) * 1e3, median(outcome.halo_without_core) * 1e3,
                median(outcome.step_seconds) * 1e3, gain(plain.step_seconds, outcome.step_seconds),
                undisturbed(outcome.step_seconds) * 1e3, difference.misfit, difference.worst_misfit,
                difference.energy_drift);
  }
  std::printf(
      "\nsent: by the busiest rank in a step. halo: packing, both exchanges, unpacking. gain: plain's time "
      "over\n"
      "the variant's, median over the steps. 5 %%: one step in 20 is faster. no core: the part of "
      "halo ms in\n"
      "which a rank could run but had no core, greatest over the ranks. misfit: of all seismograms to "
      "plain's,\n"
      "relative L2 norm; worst: of the worst station. energy: greatest difference to plain's, over plain's "
      "greatest\n"
      "energy.\n");
  for (const std::string& text : run.refused) std::printf("Left out: %s\n", text.c_str());
}

void write_files(const Run& run, const Options& options) {
  std::filesystem::create_directories(options.out);
  std::ofstream out(options.out + "/report.json");
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  const std::string mpi(version, static_cast<std::size_t>(length));
  out << "{\"cells\": [" << triple(run.whole, ", ") << "], \"ranks\": [" << triple(run.ranks, ", ")
      << "], \"steps\": " << options.steps << ", \"stations\": " << run.stations
      << ",\n \"slice_step\": " << run.slice_step << ", \"link\": " << quoted(options.link)
      << ", \"mpi\": " << quoted(mpi.substr(0, mpi.find('\n')))
      << ", \"peak\": " << number(peak(run.outcomes.front().seismograms)) << ",\n \"rows\": [\n  ";
  for (std::size_t i = 0; i < run.outcomes.size(); ++i)
    out << (i > 0 ? ",\n  " : "") << json_row(run.outcomes[i], run);
  out << "]}\n";
  if (!out.flush()) throw std::runtime_error(options.out + "/report.json: cannot be written");
  for (const Outcome& outcome : run.outcomes) {
    write_raw(options.out + "/" + file_name(outcome) + ".seismograms.f32", outcome.seismograms);
    write_raw(options.out + "/" + file_name(outcome) + ".slice.f32", outcome.slice);
  }
}

bool keeps_promises(const Run& run) {
  const Outcome& plain = run.outcomes.front();
  bool good = true;
  for (const Outcome& outcome : run.outcomes) {
    const Difference difference = compare(outcome, plain, run.stations);
    good = good && std::isfinite(difference.misfit);
    const bool exact = outcome.policy.empty() || outcome.policy.starts_with("lossless");
    if (exact && !difference.same_bits) {
      std::printf("FAILED: %s changes the waves\n", outcome.name.c_str());
      good = false;
    }
  }
  return good && squares(plain.seismograms) > 0;
}

}  // namespace wave3d
