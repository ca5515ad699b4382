#include "options.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>

#include "../command_line.hpp"

namespace bench {
namespace {

void set_types(Options& options, const std::string& text) {
  options.types.clear();
  for (const std::string& name : split(text, ',')) {
    const auto* const known =
        std::ranges::find(measured_types, name, [](taut::DType type) { return name_of(type); });
    if (known == std::end(measured_types))
      throw std::invalid_argument("'" + name + "' is none of f32, f64, f16, bf16");
    options.types.push_back(*known);
  }
}

void set_sizes(Options& options, const std::string& text) {
  for (const std::string& size : split(text, ',')) {
    options.sizes.push_back(byte_size(size));
    if (options.sizes.back() < 64) throw std::invalid_argument("'" + size + "' is too small");
  }
}

void set_bound(Options& options, const std::string& text, bool of_range) {
  options.bound = positive_number(text);
  options.of_range = of_range;
}

using Setter = std::function<void(Options&, const std::string&)>;
const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table{
      {"--types", set_types},
      {"--dtype", set_types},
      {"--sizes", set_sizes},
      {"--fields", [](Options& o, const std::string& v) { o.fields = split(v, ','); }},
      {"--codecs", [](Options& o, const std::string& v) { o.codecs = split(v, ','); }},
      {"--sets", [](Options& o, const std::string& v) { o.sets = split(v, ','); }},
      {"--operations", [](Options& o, const std::string& v) { o.operations = split(v, ','); }},
      {"--input", [](Options& o, const std::string& v) { o.input = v; }},
      {"--bound", [](Options& o, const std::string& v) { set_bound(o, v, false); }},
      {"--range-bound", [](Options& o, const std::string& v) { set_bound(o, v, true); }},
      {"--seconds", [](Options& o, const std::string& v) { o.seconds = positive_number(v); }},
      {"--json", [](Options& o, const std::string& v) { o.json = v; }},
      {"--commit", [](Options& o, const std::string& v) { o.commit = v; }},
  };
  return table;
}

void check(const Options& options) {
  if (options.input.empty()) return;
  if (!(options.bound > 0)) throw std::invalid_argument("--input wants --bound or --range-bound");
  if (options.types.size() != 1) throw std::invalid_argument("--input wants one --dtype");
}

}  // namespace

Options parse(int& argc, char** argv) {
  Options options;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto setter = setters().find(name);
    if (name == "--help" || name == "-h") {
      options.help = true;
    } else if (name.starts_with("--benchmark_")) {
      argv[kept++] = argv[i];
    } else if (setter == setters().end()) {
      throw std::invalid_argument("unknown option '" + name + "'");
    } else if (i + 1 == argc) {
      throw std::invalid_argument(name + " wants a value");
    } else {
      setter->second(options, argv[++i]);
    }
  }
  argc = kept;
  check(options);
  return options;
}

const char* usage() {
  return R"(taut_bench_codec: speed of the codec, in alternation with memcpy; lists are separated by commas.
  --types L         f32, f64, f16, bf16                                          (all)
  --sizes L         bytes of values: 16K, 1M, 64MB                               (16K,256K,1M,16M; scalar 1M)
  --fields L        smooth, rough, very_smooth, offset, patches, gradient, random, nan   (all)
  --codecs L        planes, szx, mpc, zfp, raw and the peers libzfp, libzstd     (planes; szx, mpc and peers at 1M)
  --sets L          kernel sets: avx512, avx2, neon, scalar; any: what has none  (all there are)
  --operations L    encode, decode, decode_add, frame_add, accumulate, sum_4, sum_8    (all)
  --input FILE      a raw field in place of these; of the type --dtype, with a bound
  --bound E         its absolute bound
  --range-bound R   or its bound in units of the range of its finite values
  --seconds S       for each figure                                              (0.04)
  --json FILE       every figure goes there                                      (bench-out/codec.json)
  --commit TEXT     a label
  --benchmark_...   options of Google Benchmark: --benchmark_filter=avx512/encode/.*/1MiB
)";
}

}  // namespace bench
