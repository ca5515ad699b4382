// Command line of taut_bench_collectives.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../command_line.hpp"
#include "collectives.hpp"

namespace bench {

struct Options {
  std::vector<std::string> operations;  // names from collectives.hpp; empty: all
  std::size_t smallest = std::size_t{1} << 20, largest = std::size_t{16} << 20;  // bytes of the whole buffer
  int iterations = 9, warmup = 2;
  double bound = 1e-4;                // absolute bound of the result
  std::vector<std::string> policies;  // further policies, beside the bound and the uncompressed algorithm
  std::string data = "smooth";        // smooth, random, or a raw file
  double roughness = 4.6;             // noise of smooth data, in units of the bound of one value
  bool doubles = false;
  std::string interface;  // interface whose counter of sent bytes is read; empty: none
  std::string link = "shared memory";
};

inline std::string usage() {
  std::string names;
  for (const Collective& one : collectives()) names.append(names.empty() ? "" : ", ").append(one.name);
  return R"(taut_bench_collectives: latency of collectives, plain MPI and Taut in alternation; prints rows of JSON.
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
  --link TEXT       what joins the ranks; a label                               (shared memory)
)";
}

// Throws std::invalid_argument.
inline Options parse(const std::vector<std::string>& words) {
  Options o;
  const auto set_sizes = [&o](const std::string& text) {
    const std::vector<std::string> ends = split(text, ':');
    if (ends.empty() || ends.size() > 2) throw std::invalid_argument("-m wants MIN:MAX");
    o.smallest = byte_size(ends.front());
    o.largest = byte_size(ends.back());
  };
  const auto number = [](auto& to) {
    return [&to](const std::string& v) { to = static_cast<std::decay_t<decltype(to)>>(positive_number(v)); };
  };
  const auto text = [](std::string& to) { return [&to](const std::string& v) { to = v; }; };
  const Setters setters{
      {"--ops", [&o](const std::string& v) { o.operations = split(v, ','); }},
      {"-m", set_sizes},
      {"-i", number(o.iterations)},
      {"-x", number(o.warmup)},
      {"--bound", number(o.bound)},
      {"--policy", [&o](const std::string& v) { o.policies.push_back(v); }},
      {"--data", text(o.data)},
      {"--roughness", number(o.roughness)},
      {"--type", [&o](const std::string& v) { o.doubles = v == "f64"; }},
      {"--interface", text(o.interface)},
      {"--link", text(o.link)},
  };
  if (!take_options(words, setters).empty()) throw std::invalid_argument("options alone are wanted");
  for (const std::string& name : o.operations) find_collective(name);
  return o;
}

}  // namespace bench
