#include "options.hpp"

#include <functional>
#include <map>
#include <stdexcept>

#include "../command_line.hpp"
#include "collectives.hpp"

namespace bench {
namespace {

void set_sizes(Options& options, const std::string& text) {
  const std::vector<std::string> ends = split(text, ':');
  if (ends.empty() || ends.size() > 2) throw std::invalid_argument("-m wants MIN:MAX");
  options.smallest = byte_size(ends.front());
  options.largest = byte_size(ends.back());
}

using Setter = std::function<void(Options&, const std::string&)>;
const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table{
      {"--ops", [](Options& o, const std::string& v) { o.operations = split(v, ','); }},
      {"-m", set_sizes},
      {"-i", [](Options& o, const std::string& v) { o.iterations = static_cast<int>(positive_number(v)); }},
      {"-x", [](Options& o, const std::string& v) { o.warmup = static_cast<int>(positive_number(v)); }},
      {"--bound", [](Options& o, const std::string& v) { o.bound = positive_number(v); }},
      {"--policy", [](Options& o, const std::string& v) { o.policies.push_back(v); }},
      {"--data", [](Options& o, const std::string& v) { o.data = v; }},
      {"--roughness", [](Options& o, const std::string& v) { o.roughness = positive_number(v); }},
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

std::string usage() {
  std::string names;
  for (const Collective& one : collectives()) names.append(names.empty() ? "" : ", ").append(one.name);
  return R"(taut_bench_collectives: latency of collectives, plain MPI and Taut in alternation.
  --ops A,B,..      )" +
         names + R"(  (all)
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
