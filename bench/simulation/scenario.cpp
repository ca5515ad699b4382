#include "scenario.hpp"

#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>

#include "../command_line.hpp"
#include "compressor/base/json.hpp"

namespace simulation {
namespace {

taut::Collective collective_of(const std::string& name) {
  for (const taut::Collective one : taut::all_collectives)
    if (name == taut::name_of(one)) return one;
  throw std::invalid_argument("'" + name + "' is no collective");
}

// Returns the ranks of each host: a number for all hosts, or numbers by host, separated by commas.
std::vector<int> ranks_of_hosts(const std::string& text, int ranks) {
  std::vector<int> of_host;
  for (const std::string& one : bench::split(text, ',')) of_host.push_back(std::stoi(one));
  if (of_host.size() == 1 && of_host[0] > 0 && ranks % of_host[0] == 0)
    of_host.assign(static_cast<std::size_t>(ranks / of_host[0]), of_host[0]);
  if (std::accumulate(of_host.begin(), of_host.end(), 0) != ranks || std::ranges::min(of_host) < 1)
    throw std::invalid_argument("ranks_a_host=" + text +
                                " does not sum up to ranks=" + std::to_string(ranks));
  return of_host;
}

Placement placement_of(const std::string& name) {
  if (name == "block") return Placement::block;
  if (name == "cyclic") return Placement::cyclic;
  throw std::invalid_argument("placement=" + name + " is neither block nor cyclic");
}

double not_negative(const std::string& text) { return text == "0" ? 0 : bench::positive_number(text); }

using Setter = std::function<void(Scenario&, const std::string&)>;

// Words of the costs of a codec: bits of values, and speeds in GB/s.
constexpr std::pair<const char*, double CodecCosts::*> bits[] = {
    {"bits", &CodecCosts::bits},
    {"last_bits", &CodecCosts::last_bits},
    {"bits_a_doubling", &CodecCosts::bits_a_doubling}};
constexpr std::pair<const char*, double CodecCosts::*> speeds[] = {
    {"encode", &CodecCosts::encode},         {"decode", &CodecCosts::decode},
    {"decode_add", &CodecCosts::decode_add}, {"add", &CodecCosts::add},
    {"accumulate", &CodecCosts::accumulate}, {"copy", &CodecCosts::copy},
    {"add_values", &CodecCosts::add_values}};

CodecCosts& fast_costs(Scenario& scenario) {
  std::optional<CodecCosts>& fast = scenario.call.fast;
  if (!fast) fast = CodecCosts{.adds_frames = false};
  return *fast;
}

// Adds setters of the costs that `costs` finds in a scenario, by words with this prefix.
void add_costs(std::map<std::string, Setter>& table, const std::string& prefix,
               const std::function<CodecCosts&(Scenario&)>& costs) {
  for (const auto& [name, member] : bits)
    table[prefix + name] = [costs, member = member](Scenario& s, const std::string& v) {
      costs(s).*member = not_negative(v);
    };
  for (const auto& [name, member] : speeds)
    table[prefix + name] = [costs, member = member](Scenario& s, const std::string& v) {
      costs(s).*member = 1e9 * bench::positive_number(v);
    };
}

std::map<std::string, Setter> all_setters() {
  std::map<std::string, Setter> table{
      {"collective", [](Scenario& s, const std::string& v) { s.call.collective = collective_of(v); }},
      {"ranks", [](Scenario& s, const std::string& v) { s.call.ranks = std::stoi(v); }},
      {"bytes", [](Scenario& s, const std::string& v) { s.call.bytes = bench::byte_size(v); }},
      {"policy", [](Scenario& s, const std::string& v) { s.call.policy = v; }},
      {"packets", [](Scenario& s, const std::string& v) { s.call.packets = v == "1"; }},
      {"eager_kb", [](Scenario& s, const std::string& v) { s.link.eager_bytes = std::stoul(v) << 10; }},
      {"sum", [](Scenario& s, const std::string& v) { s.call.plain_sum = 1e9 * bench::positive_number(v); }},
      {"whole", [](Scenario& s, const std::string& v) { s.call.plain_whole = v == "1"; }},
      {"plain", [](Scenario& s, const std::string& v) { s.plain = v == "1"; }},
      {"tuned", [](Scenario& s, const std::string& v) { s.tuned = v == "1"; }},
      {"modelled",
       [](Scenario& s, const std::string& v) { s.times = v == "1" ? Times::modelled : Times::simulated; }},
      {"settled", [](Scenario& s, const std::string& v) { s.settled = v == "1"; }},
      {"gbit", [](Scenario& s,
                  const std::string& v) { s.link.bytes_a_second = bench::positive_number(v) * 1e9 / 8; }},
      {"latency_us", [](Scenario& s, const std::string& v) { s.link.latency = not_negative(v) * 1e-6; }},
      {"overhead_us", [](Scenario& s, const std::string& v) { s.link.overhead = not_negative(v) * 1e-6; }},
      {"call_us", [](Scenario& s, const std::string& v) { s.call.costs.call = not_negative(v) * 1e-6; }},
      {"card", [](Scenario& s, const std::string& v) { s.card = v; }},
      {"adds", [](Scenario& s, const std::string& v) { s.call.costs.adds_frames = v == "1"; }},
      {"links", [](Scenario& s, const std::string& v) { s.link.links = std::stoi(v); }},
      {"ranks_a_host", [](Scenario& s, const std::string& v) { s.ranks_a_host = v; }},
      {"placement", [](Scenario& s, const std::string& v) { s.placement = placement_of(v); }},
      {"memory",
       [](Scenario& s, const std::string& v) { s.link.hosts.memory = 1e9 * bench::positive_number(v); }},
      {"host_latency_us",
       [](Scenario& s, const std::string& v) { s.link.hosts.latency = not_negative(v) * 1e-6; }},
      {"host_frames_latency_us",
       [](Scenario& s, const std::string& v) { s.link.hosts.frames_latency = not_negative(v) * 1e-6; }},
      {"cache_kb", [](Scenario& s, const std::string& v) { s.link.hosts.cache = 1024 * not_negative(v); }},
      {"host_copy",
       [](Scenario& s, const std::string& v) { s.link.hosts.copy = 1e9 * bench::positive_number(v); }},
  };
  add_costs(table, "", [](Scenario& s) -> CodecCosts& { return s.call.costs; });
  add_costs(table, "fast_", fast_costs);
  return table;
}

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table = all_setters();
  return table;
}

}  // namespace

Scenario parse_scenario(const std::vector<std::string>& words) {
  Scenario scenario;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const auto setter = setters().find(word.substr(0, equals));
    if (equals == std::string::npos || setter == setters().end())
      throw std::invalid_argument("'" + word + "' is no word of a scenario; there are " + scenario_words());
    setter->second(scenario, word.substr(equals + 1));
  }
  if (scenario.call.ranks < 2 || scenario.call.bytes == 0)
    throw std::invalid_argument("a scenario needs ranks=2 or more, and bytes=");
  if (!scenario.ranks_a_host.empty())
    scenario.link.hosts.of_rank =
        placed(ranks_of_hosts(scenario.ranks_a_host, scenario.call.ranks), scenario.placement);
  if (!scenario.card.empty())
    scenario.call.costs.kernels = taut::kernel_times(scenario.card, 32 / scenario.call.costs.bits);
  if (scenario.link.links < 1) throw std::invalid_argument("links= needs a number from 1 on");
  return scenario;
}

std::string scenario_words() {
  std::string words;
  for (const auto& [name, setter] : setters()) words += (words.empty() ? "" : " ") + name + "=";
  return words;
}

std::string json_of(const TunedCalls& calls) {
  taut::json::Object json;
  const auto add = [&json](const char* name, double value) { json.add_text(name, taut::rounded(value, 9)); };
  add("plain", calls.plain);
  add("flat", calls.flat);
  add("by_nodes", calls.nodes);
  json.add("first", calls.first).add("first_plain", calls.first_plain);
  add("first_100", calls.first_100);
  add("after_10", calls.after_10);
  return json.text();
}

std::string json_of(const Outcome& outcome) {
  const PlannedCall& planned = outcome.planned;
  const Spent& spent = outcome.spent;
  taut::json::Object json;
  const auto add = [&json](const char* name, double value) { json.add_text(name, taut::rounded(value, 9)); };
  add("seconds", outcome.seconds);
  json.add("algorithm", planned.algorithm->name)
      .add("levels", name_of(planned.levels))
      .add("segments", planned.segments);
  json.add("arithmetic", name_of(planned.how)).add("fast_codec", planned.fast);
  add("encode", spent.encode);
  add("combine", spent.combine);
  add("decode", spent.decode);
  add("copy", spent.copy);
  add("sent_bytes", outcome.sent_bytes);
  return json.text();
}

}  // namespace simulation
