// taut_bench_fields: measures codecs on one real field, whole and in a part that fits a cache. fields.py runs
// it for each field of a folder. Exit status: 0; 1 if a bound is violated; 2 for a wrong command line.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "../command_line.hpp"
#include "coder.hpp"
#include "machine.hpp"
#include "trial.hpp"

namespace {

using Kind = taut::Bound::Kind;

constexpr const char* usage = R"(taut_bench_fields FILE: codecs on one real field
  --dtype T            f32, f64                                          (f32)
  --dims AxBxC         extents, slowest first; at most 4                 (unknown)
  --fill V             the value of missing cells: not in the range, nor in PSNR
  --range-bounds L     absolute bounds in units of the range             (1e-2,1e-3,1e-4)
  --codecs L           planes, szx, mpc, zfp, raw                        (planes,szx,mpc)
  --threads L          that work on a frame; beyond 1 the time is the wall's  (1,2)
  --part BYTES         of the part, beside the whole                     (1M)
  --seconds S          for each row                                      (0.25)
  --json FILE          the rows go there                                 (no)
)";

struct Options {
  std::string file;
  taut::DType type = taut::DType::f32;
  taut::Dims dims;
  std::optional<double> fill;
  std::vector<double> range_bounds{1e-2, 1e-3, 1e-4};
  std::vector<std::string> codecs{"planes", "szx", "mpc"};
  std::vector<int> threads{1, 2};
  std::size_t part = std::size_t{1} << 20;
  double seconds = 0.25;
  std::string json;
};

taut::Dims dims_of(const std::string& text) {
  taut::Dims dims;
  for (const std::string& extent : bench::split(text, 'x')) {
    if (dims.n == taut::max_dims) throw std::invalid_argument("'" + text + "' has more than 4 extents");
    dims.of[dims.n++] = static_cast<std::uint32_t>(bench::positive_number(extent));
  }
  return dims;
}

void set(Options& o, const std::string& name, const std::string& value) {
  if (name == "--dtype" && (value == "f32" || value == "f64")) {
    o.type = value == "f64" ? taut::DType::f64 : taut::DType::f32;
  } else if (name == "--dims") {
    o.dims = dims_of(value);
  } else if (name == "--fill") {
    o.fill = std::stod(value);
  } else if (name == "--range-bounds") {
    o.range_bounds.clear();
    for (const std::string& bound : bench::split(value, ','))
      o.range_bounds.push_back(bench::positive_number(bound));
  } else if (name == "--codecs") {
    o.codecs = bench::split(value, ',');
  } else if (name == "--threads") {
    o.threads.clear();
    for (const std::string& n : bench::split(value, ','))
      o.threads.push_back(static_cast<int>(bench::positive_number(n)));
  } else if (name == "--part") {
    o.part = bench::byte_size(value);
  } else if (name == "--seconds") {
    o.seconds = bench::positive_number(value);
  } else if (name == "--json") {
    o.json = value;
  } else {
    throw std::invalid_argument("unknown option '" + name + "', or no value for it: '" + value + "'");
  }
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      options.file = word;
    } else if (i + 1 == argc) {
      throw std::invalid_argument(word + " wants a value");
    } else {
      set(options, word, argv[++i]);
    }
  }
  if (options.file.empty()) throw std::invalid_argument("no file");
  for (const std::string& codec : options.codecs)
    if (taut::find_codec(codec.c_str()) == nullptr)
      throw std::invalid_argument("'" + codec + "' is no codec of this build");
  return options;
}

// Returns the trials of a codec: all kinds of bound, the absolute kind at each requested bound, and with the
// field's extents where the codec uses them.
std::vector<bench::Trial> trials(const Options& options, const bench::RealField& field) {
  std::vector<bench::Trial> all;
  const double range = field.range().greatest - field.range().least;
  for (const std::string& name : options.codecs) {
    const taut::CodecInfo& codec = *taut::find_codec(name.c_str());
    const bool uses_dims = field.dims().n > 1 && (name == "planes" || name == "mpc" || name == "zfp");
    for (const Kind kind : bench::measured_kinds(codec)) {
      const auto add = [&](taut::Bound bound, double of_range) {
        for (const int threads : options.threads) all.push_back({codec, bound, of_range, false, threads});
        if (uses_dims) all.push_back({codec, bound, of_range, true});
      };
      if (kind == Kind::absolute)
        for (const double of_range : options.range_bounds) add(of_range * range, of_range);
      else
        add(bench::bound_of(kind, 0), 0);
    }
  }
  return all;
}

int run(const Options& options) {
  const bench::RealField field(options.file, options.type, options.dims, options.fill);
  std::vector<bench::FieldPart> parts;
  const std::size_t part = options.part / size_of(field.type());
  if (part < field.count()) parts.emplace_back(field, "part", part);
  parts.emplace_back(field, "whole", field.count());

  std::string rows;
  bool kept = true;
  for (const bench::FieldPart& one : parts)
    for (const bench::Trial& trial : trials(options, field)) {
      const bench::TrialResult result = bench::run_trial(trial, one, options.seconds);
      std::puts(result.line.c_str());
      std::fflush(stdout);
      rows += (rows.empty() ? "\n  " : ",\n  ") + result.json;
      kept = kept && result.within_bound;
    }
  if (!options.json.empty()) {
    taut::json::Object context;
    context.add("processor", bench::processor()).add("compiler", bench::compiler()).add("date", bench::now());
    std::ofstream out(options.json);
    out << "{\"context\": " << context.text() << ",\n \"results\": [" << rows << "]}\n";
    if (!out.flush()) throw std::runtime_error(options.json + ": cannot be written");
  }
  return kept ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "taut_bench_fields: %s\n%s", error.what(), usage);
    return 2;
  }
}
