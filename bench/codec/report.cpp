#include "report.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "../json.hpp"
#include "coder.hpp"
#include "machine.hpp"
#include "operation.hpp"

namespace bench {
namespace {

std::string caches() {
  std::ostringstream out;
  for (const auto& cache : benchmark::CPUInfo::Get().caches)
    out << (out.tellp() > 0 ? ", " : "") << "{\"level\": " << cache.level
        << ", \"type\": " << json::quoted(cache.type) << ", \"bytes\": " << cache.size << "}";
  return out.str();
}

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + json::quoted(name);
  return text;
}

std::string size_name(std::size_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  while (unit < 3 && bytes >= 1024 && bytes % 1024 == 0) bytes /= 1024, ++unit;
  return std::to_string(bytes) + units[unit];
}

std::string json_of(const Row& r) {
  std::ostringstream out;
  out << "{\"codec\": " << json::quoted(r.codec) << ", \"coding\": " << json::quoted(r.coding)
      << ", \"set\": " << json::quoted(r.set) << ", \"kernel\": " << json::quoted(r.kernel)
      << ", \"type\": \"" << name_of(r.type) << '"' << ", \"field\": " << json::quoted(r.field)
      << ", \"bytes\": " << r.bytes << ",\n   \"bound\": " << json::number(r.bound.value)
      << ", \"bound_kind\": \"" << name_of(r.bound.kind) << '"' << ", \"ratio\": " << json::number(r.ratio)
      << ", \"result_ratio\": " << json::number(r.result_ratio)
      << ", \"max_error\": " << json::number(r.max_error)
      << ", \"within_bound\": " << json::boolean(r.within_bound)
      << ",\n   \"gb_per_s\": " << json::number(r.gb_per_s())
      << ", \"memcpy_gb_per_s\": " << json::number(r.copy_gb_per_s())
      << ", \"share_of_memcpy\": " << json::number(r.share()) << ", \"samples\": " << r.samples << "}";
  return out.str();
}

}  // namespace

Table::Table(const std::vector<std::string>& sets) {
  std::printf(
      "# Whole frames, one thread: GB/s of values (of one operand), and the share of memcpy of as many\n");
  std::printf("# bytes, timed in alternation; medians. %s; %s;", processor().c_str(), compiler().c_str());
  for (const std::string& set : sets) std::printf(" %s", set.c_str());
  std::printf("\n");
}

void Table::add(const Row& row) {
  if (!line_.empty()) {
    const Row& other = line_.front();
    const bool same = other.coding == row.coding && other.set == row.set && other.type == row.type &&
                      other.field == row.field && other.bytes == row.bytes;
    if (!same) print();
  }
  line_.push_back(row);
}

void Table::finish() {
  if (!line_.empty()) print();
}

void Table::print() {
  const Row& first = line_.front();
  const std::string group = std::string(name_of(first.type)) + " " + first.field;
  if (group != group_) {
    std::printf("\n# %s\n%-9s %-13s %-7s %6s %7s", group.c_str(), "# Size", "Codec", "Set", "Ratio",
                "memcpy");
    for (const Operation& operation : operations()) std::printf(" %12s", operation.heading);
    std::printf("\n");
    group_ = group;
  }
  std::vector<double> copies;
  for (const Row& row : line_) copies.push_back(row.copy_gb_per_s());
  std::nth_element(copies.begin(), copies.begin() + static_cast<std::ptrdiff_t>(copies.size() / 2),
                   copies.end());
  std::printf("%-9s %-13s %-7s %6.2f %7.2f", size_name(first.bytes).c_str(), first.coding.c_str(),
              first.set.c_str(), first.ratio, copies[copies.size() / 2]);
  for (const Operation& operation : operations()) {
    const auto row =
        std::find_if(line_.begin(), line_.end(), [&](const Row& r) { return r.kernel == operation.name; });
    if (row == line_.end()) {
      std::printf(" %12s", "-");
    } else {
      std::printf(" %6.2f %4.2fx", row->gb_per_s(), row->share());
    }
  }
  const auto worst = std::find_if(line_.begin(), line_.end(), [](const Row& r) { return !r.within_bound; });
  if (worst != line_.end())
    std::printf("  %s: BOUND VIOLATED, error %.3g, bound %.3g", worst->kernel.c_str(), worst->max_error,
                worst->bound.value);
  std::printf("\n");
  std::fflush(stdout);
  line_.clear();
}

void write_json(const Options& options, const std::vector<std::string>& sets, const std::vector<Row>& rows) {
  const std::filesystem::path folder = std::filesystem::path(options.json).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  const benchmark::CPUInfo& cpu = benchmark::CPUInfo::Get();
  std::ofstream out(options.json);
  out << "{\"context\": {\"processor\": " << json::quoted(processor()) << ", \"processors\": " << cpu.num_cpus
      << ",\n  \"caches\": [" << caches() << "]"
      << ",\n  \"load\": " << json::number(cpu.load_avg.empty() ? 0 : cpu.load_avg[0])
      << ", \"date\": " << json::quoted(now()) << ", \"compiler\": " << json::quoted(compiler())
      << ", \"commit\": " << json::quoted(options.commit) << ", \"sets\": [" << list(sets)
      << "]},\n \"results\": [";
  for (std::size_t i = 0; i < rows.size(); ++i) out << (i ? ",\n  " : "\n  ") << json_of(rows[i]);
  out << "]}\n";
  if (!out.flush()) throw std::runtime_error(options.json + ": cannot be written");
}

}  // namespace bench
