#include "options.hpp"

#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

namespace bench {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

double number(const std::string& text) {
  std::size_t end = 0;
  double value = 0;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (end == 0 || end != text.size() || !(value > 0))
    throw std::invalid_argument("'" + text + "' is no positive number");
  return value;
}

// 4096, 64K, 16M, 1G: powers of two, as in the OSU benchmarks; 64MB is 64 000 000.
std::size_t bytes(const std::string& text) {
  static const std::map<std::string, double> units{
      {"", 1}, {"K", 1024}, {"M", 1048576}, {"G", 1073741824}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}};
  const std::size_t end = text.find_first_not_of("0123456789.");
  const auto unit = units.find(end == std::string::npos ? "" : text.substr(end));
  if (unit == units.end()) throw std::invalid_argument("'" + text + "' is no size");
  const double size = number(text.substr(0, end)) * unit->second;
  if (size > 8e9) throw std::invalid_argument("'" + text + "' is too large");
  return static_cast<std::size_t>(size);
}

void set_sizes(Options& options, const std::string& text) {
  const std::vector<std::string> ends = split(text, ':');
  if (ends.empty() || ends.size() > 2) throw std::invalid_argument("-m wants MIN:MAX");
  options.smallest = bytes(ends.front());
  options.largest = bytes(ends.back());
}

using Setter = std::function<void(Options&, const std::string&)>;
const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table{
      {"--ops", [](Options& o, const std::string& v) { o.operations = split(v, ','); }},
      {"-m", set_sizes},
      {"-i", [](Options& o, const std::string& v) { o.iterations = static_cast<int>(number(v)); }},
      {"-x", [](Options& o, const std::string& v) { o.warmup = static_cast<int>(number(v)); }},
      {"--bound", [](Options& o, const std::string& v) { o.bound = number(v); }},
      {"--policy", [](Options& o, const std::string& v) { o.policies.push_back(v); }},
      {"--data", [](Options& o, const std::string& v) { o.data = v; }},
      {"--roughness", [](Options& o, const std::string& v) { o.roughness = number(v); }},
      {"--type", [](Options& o, const std::string& v) { o.doubles = v == "f64"; }},
      {"--interface", [](Options& o, const std::string& v) { o.interface = v; }},
      {"--json", [](Options& o, const std::string& v) { o.json = v; }},
      {"--link", [](Options& o, const std::string& v) { o.link = v; }},
  };
  return table;
}

}  // namespace

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto setter = setters().find(name);
    if (name == "--help" || name == "-h") {
      options.help = true;
    } else if (setter == setters().end()) {
      throw std::invalid_argument("unknown option '" + name + "'");
    } else if (i + 1 == argc) {
      throw std::invalid_argument(name + " wants a value");
    } else {
      setter->second(options, argv[++i]);
    }
  }
  return options;
}

const char* usage() {
  return R"(taut_bench_collectives: latency of collectives, plain MPI and Taut in alternation.
  --ops A,B,..      allreduce, bcast, allgather, reduce_scatter_block, scatter  (all)
  -m MIN:MAX        bytes of the whole buffer, doubling: 64K, 16M, 64MB         (1M:16M)
  -i N  -x N        timed calls of each variant; calls to warm up               (9, 2)
  --bound E         absolute bound of the result                                (1e-4)
  --policy P        one more variant, with this policy; may be repeated
  --data D          smooth, random, or a raw file                               (smooth)
  --roughness R     noise of smooth data, in units of the bound of one value    (4.6: ratio near 8)
  --type f32|f64                                                                (f32)
  --interface I     read the counter of bytes sent over this network interface; one rank a host
  --json FILE       write every figure there
  --link TEXT       what joins the ranks; a label                               (shared memory)
)";
}

}  // namespace bench
