// taut_bench_fields: measures codecs on one real field, whole and in a part that fits a cache, and prints a
// row of JSON for each. fields.py runs it for each field of a folder. Exit status: 0; 1 if a bound is
// violated; 2 for a wrong command line.
#include <cstdio>
#include <stdexcept>

#include "../command_line.hpp"
#include "coder.hpp"
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
  --rows R             speeds, or pipelines: the ways of the chunks of sums of frames  (speeds)
)";

struct Options {
  std::string file;
  taut::DType type = taut::DType::f32;
  taut::Dims dims;
  std::optional<double> fill;
  std::vector<double> range_bounds{1e-2, 1e-3, 1e-4};
  std::vector<std::string> codecs{"planes", "szx", "mpc"};
  std::vector<double> threads{1, 2};
  std::size_t part = std::size_t{1} << 20;
  double seconds = 0.25;
  std::string rows = "speeds";
};

taut::Dims dims_of(const std::string& text) {
  taut::Dims dims;
  for (const std::string& extent : bench::split(text, 'x')) {
    if (dims.n == taut::max_dims) throw std::invalid_argument("'" + text + "' has more than 4 extents");
    dims.extent[dims.n++] = static_cast<std::uint32_t>(bench::positive_number(extent));
  }
  return dims;
}

Options parse(const std::vector<std::string>& words) {
  Options o;
  const auto set_type = [&](const std::string& text) {
    if (text != "f32" && text != "f64") throw std::invalid_argument("'" + text + "' is none of f32, f64");
    o.type = text == "f64" ? taut::DType::f64 : taut::DType::f32;
  };
  const auto positive = bench::positive_number;
  const bench::Setters setters{
      {"--dtype", set_type},
      {"--dims", [&](const std::string& text) { o.dims = dims_of(text); }},
      {"--fill", [&](const std::string& text) { o.fill = std::stod(text); }},
      {"--range-bounds", [&](const std::string& text) { o.range_bounds = bench::list_of(text, positive); }},
      {"--codecs", [&](const std::string& text) { o.codecs = bench::split(text, ','); }},
      {"--threads", [&](const std::string& text) { o.threads = bench::list_of(text, positive); }},
      {"--part", [&](const std::string& text) { o.part = bench::byte_size(text); }},
      {"--rows", [&](const std::string& text) { o.rows = text; }},
      {"--seconds", [&](const std::string& text) { o.seconds = positive(text); }},
  };
  const std::vector<std::string> files = bench::take_options(words, setters);
  if (files.size() != 1) throw std::invalid_argument("one file is wanted");
  o.file = files[0];
  for (const std::string& codec : o.codecs)
    if (taut::find_codec(codec.c_str()) == nullptr)
      throw std::invalid_argument("'" + codec + "' is no codec of this build");
  return o;
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
        for (const double threads : options.threads)
          all.push_back({codec, bound, of_range, false, static_cast<int>(threads)});
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
  if (options.rows == "pipelines") {
    for (const double of_range : options.range_bounds)
      std::puts(bench::count_pipelines(field, of_range).c_str());
    return 0;
  }
  std::vector<bench::FieldPart> parts;
  const std::size_t part = options.part / size_of(field.type());
  if (part < field.count()) parts.emplace_back(field, "part", part);
  parts.emplace_back(field, "whole", field.count());

  bool kept = true;
  for (const bench::FieldPart& one : parts)
    for (const bench::Trial& trial : trials(options, field)) {
      const bench::TrialResult result = bench::run_trial(trial, one, options.seconds);
      std::puts(result.json.c_str());
      std::fflush(stdout);
      kept = kept && result.within_bound;
    }
  return kept ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse({argv + 1, argv + argc}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "taut_bench_fields: %s\n%s", error.what(), usage);
    return 2;
  }
}
