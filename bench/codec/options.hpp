// Command line of taut_bench_codec.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "../command_line.hpp"
#include "field.hpp"

namespace bench {

struct Options {
  std::vector<taut::DType> types{std::begin(measured_types), std::end(measured_types)};
  std::vector<std::size_t> sizes;       // bytes of values; empty: the default sizes
  std::vector<std::string> fields;      // field classes; empty: all
  std::vector<std::string> codecs;      // empty: the default ones
  std::vector<std::string> sets;        // kernel sets; empty: all
  std::vector<std::string> operations;  // empty: all
  std::string input;                    // file to read in place of the generated classes
  double bound = 0;                     // bound of the file: absolute, or
  bool of_range = false;                // true: in units of the range
  double seconds = 0.04;                // duration of one figure
};

inline constexpr const char* usage =
    R"(taut_bench_codec: speed of the codec, in alternation with memcpy; prints a
row of JSON for each figure. Lists are separated by commas.
  --types L         f32, f64, f16, bf16                                          (all)
  --sizes L         bytes of values: 16K, 1M, 64MB                               (16K,256K,1M,16M; scalar 1M)
  --fields L        smooth, rough, very_smooth, offset, patches, gradient, random, nan   (all)
  --codecs L        planes, szx, mpc, zfp, raw                                   (planes; szx and mpc at 1M)
  --sets L          kernel sets: avx512, avx2, neon, scalar; any: what has none  (all there are)
  --operations L    encode, decode, decode_add, frame_add, accumulate, sum_4, sum_8    (all)
  --input FILE      a raw field in place of these; of the type --dtype, with a bound
  --bound E         its absolute bound
  --range-bound R   or its bound in units of the range of its finite values
  --seconds S       for each figure                                              (0.04)
  --benchmark_...   options of Google Benchmark: --benchmark_filter=avx512/encode/.*/1MiB
)";

inline taut::DType measured_type(const std::string& name) {
  for (const taut::DType type : measured_types)
    if (name == name_of(type)) return type;
  throw std::invalid_argument("'" + name + "' is none of f32, f64, f16, bf16");
}

// Reads the words into `options`, and returns those for Google Benchmark. Throws std::invalid_argument.
inline std::vector<std::string> parse(Options& options, const std::vector<std::string>& words) {
  const auto names = [](std::vector<std::string>& to) {
    return [&to](const std::string& text) { to = split(text, ','); };
  };
  const auto types = [&](const std::string& text) { options.types = list_of(text, measured_type); };
  const Setters setters{
      {"--types", types},
      {"--dtype", types},
      {"--sizes", [&](const std::string& text) { options.sizes = list_of(text, byte_size); }},
      {"--fields", names(options.fields)},
      {"--codecs", names(options.codecs)},
      {"--sets", names(options.sets)},
      {"--operations", names(options.operations)},
      {"--input", [&](const std::string& text) { options.input = text; }},
      {"--bound", [&](const std::string& text) { options.bound = positive_number(text); }},
      {"--range-bound",
       [&](const std::string& text) { options.of_range = (options.bound = positive_number(text)) > 0; }},
      {"--seconds", [&](const std::string& text) { options.seconds = positive_number(text); }},
  };
  std::vector<std::string> others = take_options(words, setters, "--benchmark_");
  if (std::ranges::any_of(options.sizes, [](std::size_t size) { return size < 64; }))
    throw std::invalid_argument("--sizes begin at 64 bytes");
  if (!options.input.empty() && !(options.bound > 0))
    throw std::invalid_argument("--input wants --bound or --range-bound");
  if (!options.input.empty() && options.types.size() != 1)
    throw std::invalid_argument("--input wants one --dtype");
  return others;
}

}  // namespace bench
