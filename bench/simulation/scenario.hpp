// Scenario: one simulated call, as a line of words "name=value" describes it.
#pragma once

#include <string>
#include <vector>

#include "tuned_calls.hpp"

namespace simulation {

struct Scenario {
  CollectiveCall call;
  Link link;
  std::string ranks_a_host;  // as the word says; empty: each rank has a host of its own
  Placement placement = Placement::block;
  std::string card;                // name of the GPUs whose kernels code; empty: processors do
  bool plain = false;              // the uncompressed baseline
  bool tuned = false;              // calls one after the other, as the tuner serves them
  Times times = Times::simulated;  // of tuned calls
  bool settled = false;            // by the fastest of the routes that the engine tries
};

// Throws std::invalid_argument naming the word that cannot be read.
Scenario parse_scenario(const std::vector<std::string>& words);
std::string scenario_words();  // description for a usage text

// Returns the outcome as a line of JSON.
std::string json_of(const Outcome& outcome);
std::string json_of(const TunedCalls& calls);

}  // namespace simulation
