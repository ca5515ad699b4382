#include "scenario.hpp"

#include <functional>
#include <map>
#include <stdexcept>

#include "../command_line.hpp"
#include "../json.hpp"

namespace simulation {
namespace {

taut::Collective collective_of(const std::string& name) {
  for (const taut::Collective one : taut::all_collectives)
    if (name == taut::name_of(one)) return one;
  throw std::invalid_argument("'" + name + "' is no collective");
}

double not_negative(const std::string& text) { return text == "0" ? 0 : bench::positive_number(text); }

using Setter = std::function<void(Scenario&, const std::string&)>;

// Returns a setter of a speed in GB/s.
Setter speed(double CodecCosts::*member) {
  return
      [member](Scenario& s, const std::string& v) { s.call.costs.*member = 1e9 * bench::positive_number(v); };
}

Setter number(double CodecCosts::*member) {
  return [member](Scenario& s, const std::string& v) { s.call.costs.*member = not_negative(v); };
}

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> table{
      {"collective", [](Scenario& s, const std::string& v) { s.call.collective = collective_of(v); }},
      {"ranks", [](Scenario& s, const std::string& v) { s.call.ranks = std::stoi(v); }},
      {"bytes", [](Scenario& s, const std::string& v) { s.call.bytes = bench::byte_size(v); }},
      {"policy", [](Scenario& s, const std::string& v) { s.call.policy = v; }},
      {"plain", [](Scenario& s, const std::string& v) { s.plain = v == "1"; }},
      {"gbit", [](Scenario& s,
                  const std::string& v) { s.link.bytes_a_second = bench::positive_number(v) * 1e9 / 8; }},
      {"latency_us", [](Scenario& s, const std::string& v) { s.link.latency = not_negative(v) * 1e-6; }},
      {"overhead_us", [](Scenario& s, const std::string& v) { s.link.overhead = not_negative(v) * 1e-6; }},
      {"call_us", [](Scenario& s, const std::string& v) { s.call.costs.call = not_negative(v) * 1e-6; }},
      {"adds", [](Scenario& s, const std::string& v) { s.call.costs.adds_frames = v == "1"; }},
      {"bits", number(&CodecCosts::bits)},
      {"bits_a_doubling", number(&CodecCosts::bits_a_doubling)},
      {"encode", speed(&CodecCosts::encode)},
      {"decode", speed(&CodecCosts::decode)},
      {"decode_add", speed(&CodecCosts::decode_add)},
      {"add", speed(&CodecCosts::add)},
      {"accumulate", speed(&CodecCosts::accumulate)},
      {"copy", speed(&CodecCosts::copy)},
  };
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
  return scenario;
}

std::string scenario_words() {
  std::string words;
  for (const auto& [name, setter] : setters()) words += (words.empty() ? "" : " ") + name + "=";
  return words;
}

std::string json_of(const Outcome& outcome) {
  using bench::json::number, bench::json::quoted;
  const PlannedCall& planned = outcome.planned;
  const Spent& spent = outcome.spent;
  return "{\"seconds\": " + number(outcome.seconds) + ", \"algorithm\": " + quoted(planned.algorithm->name) +
         ", \"segments\": " + std::to_string(planned.segments) +
         ", \"arithmetic\": " + quoted(name_of(planned.how)) + ", \"encode\": " + number(spent.encode) +
         ", \"combine\": " + number(spent.combine) + ", \"decode\": " + number(spent.decode) +
         ", \"copy\": " + number(spent.copy) + ", \"sent_bytes\": " + number(outcome.sent_bytes) + "}";
}

}  // namespace simulation
