// taut_simulate: simulates collective calls on many hosts. Reads a scenario a line from standard input, and
// writes its outcome as a line of JSON. The times are simulated: they do not depend on the computer that
// runs it.
#include <cstdio>
#include <exception>
#include <iostream>

#include "../command_line.hpp"
#include "scenario.hpp"

namespace {

std::string outcome_of(const simulation::Scenario& scenario) {
  if (scenario.tuned) return json_of(tuned_calls(scenario.call, scenario.link, scenario.times));
  if (scenario.plain) return json_of(simulate_plain(scenario.call, scenario.link));
  return json_of(scenario.settled ? simulate_settled(scenario.call, scenario.link)
                                  : simulate(scenario.call, scenario.link));
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    try {
      const simulation::Scenario scenario = simulation::parse_scenario(bench::split(line, ' '));
      std::puts(outcome_of(scenario).c_str());
      std::fflush(stdout);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "taut_simulate: %s\n", error.what());
      return 2;
    }
  }
}
